//! What a bare number means in a session: a round that an index table in it names, else one of its
//! own.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::bail;

use crate::cmd::surgery::source::Store;
use store::index::{Export, Numbers};
use surgery::table::short;

/// The round that a number refers to.
#[derive(Debug, PartialEq, Eq)]
pub enum RoundTarget {
    /// A round of the session itself, which has this name.
    Own(String),
    /// A round that a table names.
    Named(Numbers),
}

/// What `seq` refers to in the session `name`.
///
/// # Errors
/// Several sessions of that name, or several rounds of that number; database errors.
pub fn of(store: &Store, name: &str, seq: u32) -> anyhow::Result<RoundTarget> {
    if name.contains('/') || Path::new(name).extension().is_some() {
        let place = fs::canonicalize(name).ok();
        let exports = store.index.exports()?;
        let is = |export: &&Export| place.is_some() && fs::canonicalize(&export.path).ok() == place;
        let meant = exports.iter().find(is).map(|export| within(export, seq, false)).transpose()?;
        return Ok(match meant {
            Some(named @ RoundTarget::Named(_)) => named,
            // It is found by its file, wherever that is.
            Some(RoundTarget::Own(_)) | None => RoundTarget::Own(name.to_owned()),
        });
    }
    let mut exports = store.index.exports()?;
    exports.retain(|export| export.id.starts_with(name));
    let kept = store.root.find(name)?;
    let mut ids: BTreeSet<&str> = kept.iter().map(|folder| folder.session.as_str()).collect();
    ids.extend(exports.iter().map(|export| export.id.as_str()));
    if ids.len() > 1 && !ids.contains(name) {
        let ids: Vec<&str> = ids.into_iter().collect();
        bail!("several sessions begin with {name}; write more of it:\n  {}", ids.join("\n  "));
    }
    let is = |export: &&Export| export.id == name || ids.len() == 1;
    match exports.iter().find(is) {
        Some(export) => within(export, seq, kept.is_empty()),
        None => Ok(RoundTarget::Own(name.to_owned())),
    }
}

/// What `seq` refers to in a session that surgery made.
fn within(export: &Export, seq: u32, unknown: bool) -> anyhow::Result<RoundTarget> {
    let tables = &export.detail.tables;
    let mut named: Vec<&Numbers> = tables.iter().filter(|table| table.names(seq)).collect();
    named.dedup_by(|a, b| a.session == b.session && a.blocks == b.blocks);
    let several = |ids: &mut dyn Iterator<Item = &str>| {
        let all: Vec<String> = ids.map(|id| format!("{}:{seq}", short(id))).collect();
        all.join(" or ")
    };
    match named.as_slice() {
        [one] => Ok(RoundTarget::Named((*one).clone())),
        [] if tables.is_empty() && export.detail.sources.len() > 1 => bail!(
            "{} was made from several sessions; ask for {}",
            short(&export.id),
            several(&mut export.detail.sources.iter().map(|(_, id)| id.as_str()))
        ),
        // An export with a path of its own can only be found by that path.
        [] if unknown && Path::new(&export.path).is_file() => {
            Ok(RoundTarget::Own(export.path.clone()))
        }
        [] => Ok(RoundTarget::Own(export.id.clone())),
        _ => bail!(
            "tables in {} name a round {seq} of several sessions; ask for {}",
            short(&export.id),
            several(&mut named.iter().map(|table| table.session.as_str()))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::clock::Time;
    use store::index::Detail;

    fn meant(tables: &[(&str, u32, u32)], seq: u32) -> Result<RoundTarget, String> {
        let numbers = |(session, from, to): &(&str, u32, u32)| Numbers {
            agent: "claude".to_owned(),
            session: (*session).to_owned(),
            blocks: None,
            rounds: vec![(*from, *to)],
        };
        let export = Export {
            id: "0123456789".to_owned(),
            made: Time::default(),
            operation: String::new(),
            path: String::new(),
            bytes: 0,
            removed: None,
            detail: Detail {
                sources: vec![("claude".to_owned(), "source".to_owned())],
                tables: tables.iter().map(numbers).collect(),
                ..Detail::default()
            },
        };
        within(&export, seq, false).map_err(|why| why.to_string())
    }

    #[test]
    fn a_number_is_of_the_table_that_has_it_else_the_sessions_own() {
        let tables = [("alpha", 1, 4), ("beta", 3, 8)];
        let of = |seq| match meant(&tables, seq) {
            Ok(RoundTarget::Named(numbers)) => numbers.session,
            Ok(RoundTarget::Own(name)) => name,
            Err(why) => why,
        };
        assert_eq!([of(1), of(8), of(9)], ["alpha", "beta", "0123456789"]);
        assert!(of(3).ends_with("ask for alpha:3 or beta:3"), "{}", of(3));
        assert_eq!(meant(&[], 3), Ok(RoundTarget::Own("0123456789".to_owned())));
    }
}
