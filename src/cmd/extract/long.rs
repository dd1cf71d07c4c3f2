//! Finds entries that still hold long values, so that an agent can protect them before they are
//! extracted.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde::Serialize;

use super::preview;
use super::read::Read;
use super::source::Source;
use extract::entry::{Entry, Value};
use extract::rules::Triggers;
use sessions::settings::ExtractSettings;
use sessions::span::Span;

/// The most entries to list: the list itself stays in the agent's context.
const LISTED: usize = 20;

/// An entry with long values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Long {
    pub entry_id: String,
    /// The tool, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Total length of the values' JSON.
    pub bytes: u64,
    /// The start of the first value.
    pub begins: String,
}

/// The last entries in the context that would be extracted if they were old enough.
///
/// # Errors
/// A session that cannot be read.
pub fn last(source: &Source, read: &Read, settings: &ExtractSettings) -> anyhow::Result<Vec<Long>> {
    let triggers = Triggers::new(settings);
    let mut found: BTreeMap<u64, (Span, Long)> = BTreeMap::new();
    for entry in read.entries.iter().rev().filter(|entry| entry.in_context) {
        let values: Vec<&Value> =
            entry.values.iter().filter(|value| goes(read, &triggers, entry, value)).collect();
        let Some(first) = values.first() else { continue };
        let long = Long {
            entry_id: entry.id.clone(),
            tool: first.tool.as_ref().or(entry.tool.as_ref()).map(ToString::to_string),
            bytes: values.iter().map(|value| (value.span.end - value.span.start) as u64).sum(),
            begins: String::new(),
        };
        found.insert(entry.row, (first.span, long));
        if found.len() == LISTED {
            break;
        }
    }
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let begins = &mut |row: u64, line: &[u8]| {
        if let Some((span, long)) = found.get_mut(&row)
            && let Some(json) = line.get(span.start..span.end)
        {
            long.begins = preview::begin(&preview::text(json));
        }
        Ok(())
    };
    let again = source.file.rows(begins);
    again.with_context(|| format!("{} can't be read", source.path.display()))?;
    Ok(found.into_values().map(|(_, long)| long).collect())
}

/// Whether a value would be extracted once it is old enough.
fn goes(read: &Read, triggers: &Triggers, entry: &Entry, value: &Value) -> bool {
    let live = read.is_placeholder(entry.row, &value.key);
    !value.copy && !live && triggers.check(value).is_ok()
}
