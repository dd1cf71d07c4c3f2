//! Which values a restore means: an entry by its id or how that begins, keys by a part of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::mem;

use anyhow::bail;

use crate::cmd::err;
use crate::cmd::extract::placeholder_lookup::Live;
use crate::cmd::extract::read::Read;
use crate::cmd::extract::source::Source;
use base::shown::minute;

/// In an entry's place: every one.
pub const ALL: &str = "all";

/// Entries that an error lists.
const LISTED: usize = 10;

/// What is restored.
pub struct Choice {
    /// The values, those of an entry together.
    pub live: Vec<Live>,
    /// What is not: where all were asked for, one keeps no other from coming back.
    pub left: Vec<Left>,
    all: bool,
}

/// A value that can't come back.
#[derive(Debug)]
pub struct Left {
    /// Its entry.
    pub entry: String,
    /// Its key.
    pub key: String,
    /// Why.
    pub why: anyhow::Error,
}

impl Choice {
    /// Of the values, those that `can` hands on.
    ///
    /// # Errors
    /// The first it fails for; where all were asked for, only if it does for each.
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

/// The values that are meant.
///
/// # Errors
/// An entry that is not there, or of which nothing is extracted; a key that none of its values
/// has.
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
            let id = unique(source, read, entry)?;
            read.live.iter().filter(|live| *live.entry == *id).collect()
        }
    };
    if keys.iter().any(String::is_empty) {
        bail!(
            "a key that is asked for is empty; name one of {} as `extract context` lists them, or a part of one between dots",
            source.place().display()
        );
    }
    // What an entry has of exactly that key is meant alone.
    let exact: HashSet<(&str, &str)> =
        of_entries.iter().map(|live| (&*live.entry, &*live.key)).collect();
    let meant_by = |asked: &str, live: &Live| {
        *live.key == *asked || is(asked, &live.key) && !exact.contains(&(&*live.entry, asked))
    };
    let mut chosen: Vec<Live> = Vec::new();
    for live in &of_entries {
        if keys.is_empty() || keys.iter().any(|asked| meant_by(asked, live)) {
            chosen.push((*live).clone());
        }
    }
    for asked in keys {
        if !of_entries.iter().any(|live| is(asked, &live.key)) {
            let there: BTreeSet<&str> = of_entries.iter().map(|live| &*live.key).collect();
            let there: Vec<&str> = there.into_iter().collect();
            let of = if entry == ALL { String::new() } else { format!(" of {entry}") };
            bail!(
                "nothing that is extracted{of} from {} has the key `{asked}`; name one of these, or a part of one: {}",
                source.place().display(),
                there.join(", ")
            );
        }
    }
    let doubtful = chosen.iter().filter(|live| !live.rivals.is_empty()).count();
    if source.meant.is_some() && doubtful == 0 {
        err("--from is passed over: of all that is restored it is known which content is meant");
    }
    if source.meant.is_some() && doubtful > 1 {
        bail!(
            "--from says of one value which content is meant, and of several in {} that can't be told; name one's entry, and its key with --key",
            source.place().display()
        );
    }
    let mut choice = Choice { live: chosen, left: Vec::new(), all: entry == ALL };
    choice.keep(|live| meant(source, live))?;
    // That there is no such one is the user's to know before anything is done.
    if source.meant.is_some()
        && let Some(left) = choice.left.pop()
    {
        return Err(left.why);
    }
    // An id may stand in several rows.
    let mut first = HashMap::new();
    for live in &of_entries {
        first.entry(&*live.entry).or_insert(live.row);
    }
    choice.live.sort_by_key(|live| (first.get(&*live.entry).copied(), live.row));
    Ok(choice)
}

/// A value whose content is known, or that the user has said.
fn meant(source: &Source, live: Live) -> anyhow::Result<Live> {
    if live.rivals.is_empty() {
        return Ok(live);
    }
    if let Some(live) = source.meant.and_then(|rival| live.as_of(rival)) {
        return Ok(live);
    }
    let mut list = String::new();
    for (number, rival) in (1..=live.rivals.len()).filter_map(|n| Some((n, live.as_of(n)?))) {
        let file = &live.rivals[number - 1].file;
        let (bytes, at) = (rival.bytes, minute(Some(rival.at)));
        // Writing into a text can't fail.
        let _ = write!(
            list,
            "\n  --from {number}: {bytes} bytes, extracted {at} from {}",
            file.display()
        );
    }
    bail!(
        "what stands at {} of {} in {} may be of several contents; `brain-guard extract restore` says which with{}",
        live.key,
        live.entry,
        source.place().display(),
        list
    )
}

/// Whether a key is meant: the whole of it, or parts of it between dots that follow each other
/// (`content`, `details`).
fn is(asked: &str, key: &str) -> bool {
    format!(".{key}.").contains(&format!(".{asked}."))
}

/// The id of the entry that is meant.
fn unique<'a>(source: &Source, read: &'a Read, entry: &str) -> anyhow::Result<&'a str> {
    let ids: BTreeSet<&str> = read.live.iter().map(|live| &*live.entry).collect();
    if let Some(id) = ids.get(entry) {
        return Ok(id);
    }
    let begin: Vec<&str> =
        ids.iter().copied().filter(|id| !entry.is_empty() && id.starts_with(entry)).collect();
    match begin.as_slice() {
        [id] => return Ok(id),
        [] => {}
        several => bail!(
            "several entries that are extracted from {} begin with `{entry}`; write more of it: {}",
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
    let ever: Vec<&str> = read.ledger.of_entry(entry).iter().map(|of| &*of.key).collect();
    let known = read.entries.iter().any(|known| known.id == entry);
    let there = there + &unknown(source, read);
    match (ever.as_slice(), known) {
        ([_, ..], true) => bail!(
            "the placeholders of {entry} ({}) are no longer in {place}: they were restored, or something else was written there; {there}",
            ever.join(", ")
        ),
        ([_, ..], false) => bail!("{entry} is no longer in {place}; {there}"),
        ([], true) => bail!("nothing of {entry} in {place} is extracted; {there}"),
        ([], false) => bail!("there is no entry {entry} in {place}; {there}"),
    }
}

/// What may be extracted by another ledger, as the end of an error.
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
            assert!(is(asked, key), "{asked}");
        }
        for asked in ["ontent", "output", "content.1", "content.0.te", "message.con"] {
            assert!(!is(asked, key), "{asked}");
        }
    }
}
