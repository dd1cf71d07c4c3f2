//! Chooses the values to restore: an entry by its id or id prefix, keys by a part of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::mem;

use anyhow::bail;

use crate::cmd::err;
use crate::cmd::extract::placeholder_lookup::Live;
use crate::cmd::extract::read::Read;
use crate::cmd::extract::source::Source;
use base::shown::local_minute;
use extract::placeholder::Names;

/// The entry name that means all entries.
pub const ALL: &str = "all";

/// The most entries that an error lists.
const LISTED: usize = 10;

pub struct Choice {
    /// The values; those of an entry are adjacent.
    pub live: Vec<Live>,
    /// Values that cannot be restored; for `all`, they do not block the others.
    pub left: Vec<Left>,
    all: bool,
}

/// A value that cannot be restored.
#[derive(Debug)]
pub struct Left {
    pub entry: String,
    pub key: String,
    pub why: anyhow::Error,
}

impl Choice {
    /// Maps each value with `can`.
    ///
    /// # Errors
    /// The first failure; for `all`, only if every value fails.
    pub fn keep(
        &mut self,
        mut can: impl FnMut(Live) -> anyhow::Result<Live>,
    ) -> anyhow::Result<()> {
        for live in mem::take(&mut self.live) {
            let (entry, key) = (live.entry.clone(), live.key.clone());
            match can(live) {
                Ok(live) => self.live.push(live),
                Err(why) if self.all => {
                    self.left.push(Left { entry: entry.to_string(), key: key.to_string(), why });
                }
                Err(why) => return Err(why),
            }
        }
        if !self.live.is_empty() || self.left.is_empty() {
            return Ok(());
        }
        let all = self.left.len();
        let first = self.left.swap_remove(0).why;
        Err(if all > 1 { first.context(format!("none of {all} values")) } else { first })
    }
}

/// Finds the requested values.
///
/// # Errors
/// An unknown entry, one without extracted values, or a key that matches none of them.
pub fn choose(
    source: &Source,
    read: &Read,
    entry: &str,
    keys: &[String],
) -> anyhow::Result<Choice> {
    let of_entries: Vec<&Live> = match entry {
        ALL if read.live.is_empty() => {
            bail!("nothing of {} is extracted{}", source.place().display(), unknown(source, read))
        }
        ALL => {
            if let Some(said) = read.unknown(source) {
                err(said);
            }
            read.live.iter().collect()
        }
        entry => {
            let id = find_entry_id(source, read, entry)?;
            read.live.iter().filter(|live| *live.entry == *id).collect()
        }
    };
    if keys.iter().any(String::is_empty) {
        bail!(
            "a --key is empty; name a key of {} as `extract context` lists it, or a part of one between dots",
            source.place().display()
        );
    }
    // An exact key excludes partial matches in its entry.
    let exact: HashSet<(&str, &str)> =
        of_entries.iter().map(|live| (&*live.entry, &*live.key)).collect();
    let meant_by = |asked: &str, live: &Live| {
        *live.key == *asked
            || key_matches(asked, &live.key) && !exact.contains(&(&*live.entry, asked))
    };
    let mut chosen: Vec<Live> = Vec::new();
    for live in &of_entries {
        if keys.is_empty() || keys.iter().any(|asked| meant_by(asked, live)) {
            chosen.push((*live).clone());
        }
    }
    for asked in keys {
        if !of_entries.iter().any(|live| key_matches(asked, &live.key)) {
            let there: BTreeSet<&str> = of_entries.iter().map(|live| &*live.key).collect();
            let there: Vec<&str> = there.into_iter().collect();
            let of = if entry == ALL { String::new() } else { format!(" of {entry}") };
            bail!(
                "no extracted value{of} from {} has the key `{asked}`; name one of these, or a part of one: {}",
                source.place().display(),
                there.join(", ")
            );
        }
    }
    let doubtful = chosen.iter().filter(|live| !live.rivals.is_empty()).count();
    if source.meant.is_some() && doubtful == 0 {
        err("--from is ignored: every restored value has exactly one matching content");
    }
    if source.meant.is_some() && doubtful > 1 {
        bail!(
            "--from chooses the content of one value, but several values in {} match several contents; name one entry, and its key with --key",
            source.place().display()
        );
    }
    let mut choice = Choice { live: chosen, left: Vec::new(), all: entry == ALL };
    choice.keep(|live| choose_content(source, live))?;
    // Report an invalid `--from` before anything is done.
    if source.meant.is_some()
        && let Some(left) = choice.left.pop()
    {
        return Err(left.why);
    }
    // An id may occur in several rows.
    let mut first = HashMap::new();
    for live in &of_entries {
        first.entry(&*live.entry).or_insert(live.row);
    }
    choice.live.sort_by_key(|live| (first.get(&*live.entry).copied(), live.row));
    Ok(choice)
}

/// The value with its content chosen, by the ledger or by the user.
fn choose_content(source: &Source, live: Live) -> anyhow::Result<Live> {
    if live.rivals.is_empty() {
        return Ok(live);
    }
    if let Some(live) = source.meant.and_then(|rival| live.as_of(rival)) {
        return Ok(live);
    }
    let mut list = String::new();
    for (number, rival) in (1..=live.rivals.len()).filter_map(|n| Some((n, live.as_of(n)?))) {
        let file = &live.rivals[number - 1].file;
        let (bytes, at) = (rival.bytes, local_minute(Some(rival.at)));
        // Writing to a string cannot fail.
        let _ = write!(
            list,
            "\n  --from {number}: {bytes} bytes, extracted {at} from {}",
            file.display()
        );
    }
    bail!(
        "the placeholder at {} of {} in {} matches several contents; choose one with `brain-guard extract restore … --from N`:{}",
        live.key,
        live.entry,
        source.place().display(),
        list
    )
}

/// Whether `asked` is the key, or consecutive dot-separated parts of it (`content`, `details`).
fn key_matches(asked: &str, key: &str) -> bool {
    format!(".{key}.").contains(&format!(".{asked}."))
}

/// Finds the id of the requested entry.
fn find_entry_id<'a>(source: &Source, read: &'a Read, entry: &str) -> anyhow::Result<&'a str> {
    let ids: BTreeSet<&str> = read.live.iter().map(|live| &*live.entry).collect();
    let names: Names = read.ledger.entries().collect();
    if let Some(id) = ids.get(entry).or_else(|| ids.get(names.owner(entry)?)) {
        return Ok(id);
    }
    let begin: Vec<&str> =
        ids.iter().copied().filter(|id| !entry.is_empty() && id.starts_with(entry)).collect();
    match begin.as_slice() {
        [id] => return Ok(id),
        [] => {}
        several => bail!(
            "several extracted entries of {} begin with `{entry}`; write more of it: {}",
            source.place().display(),
            listed(several)
        ),
    }
    let ids: Vec<&str> = ids.into_iter().collect();
    let there = match ids.as_slice() {
        [] => "nothing of this session is extracted".to_owned(),
        ids => format!("extracted are {} (all: every one)", listed(ids)),
    };
    let place = source.place();
    let place = place.display();
    if entry.is_empty() {
        bail!("the entry's name is empty; name an entry of {place}: {there}");
    }
    let ever: Vec<&str> = read.ledger.last_extracts(entry).iter().map(|of| &*of.key).collect();
    let known = read.entries.iter().any(|known| known.id == entry);
    let there = there + &unknown(source, read);
    match (ever.as_slice(), known) {
        ([_, ..], true) => bail!(
            "the placeholders of {entry} ({}) are not in {place}: they were restored, are on another branch, or something else was written there; {there}",
            ever.join(", ")
        ),
        ([_, ..], false) => bail!("{entry} is no longer in {place}; {there}"),
        ([], true) => bail!("nothing of {entry} in {place} is extracted; {there}"),
        ([], false) => bail!("there is no entry {entry} in {place}; {there}"),
    }
}

/// A note about unknown placeholders, to append to an error.
fn unknown(source: &Source, read: &Read) -> String {
    read.unknown(source).map_or_else(String::new, |said| format!("; {said}"))
}

/// Some of these ids, and how many more there are.
pub fn listed(ids: &[&str]) -> String {
    let shown = ids.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    match ids.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_meant_by_a_part_of_it() {
        let key = "message.content.0.text";
        for asked in ["message.content.0.text", "message.content", "content", "text", "content.0"] {
            assert!(key_matches(asked, key), "{asked}");
        }
        for asked in ["ontent", "output", "content.1", "content.0.te", "message.con"] {
            assert!(!key_matches(asked, key), "{asked}");
        }
    }
}
