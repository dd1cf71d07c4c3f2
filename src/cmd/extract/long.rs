//! Entries that hold long values still: those of which an agent may say that they are to stay,
//! before they go.

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

/// Entries that are listed: the list is in the agent's context from then on.
const LISTED: usize = 20;

/// An entry that holds long values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Long {
    /// Its id.
    pub entry_id: String,
    /// The tool, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Bytes of the values' JSON.
    pub bytes: u64,
    /// How the first of them begins.
    pub begins: String,
}

/// The last entries in the context of which something would go, were they old enough.
///
/// # Errors
/// A session that can't be read.
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

/// Whether a value is of those that go with their age.
fn goes(read: &Read, triggers: &Triggers, entry: &Entry, value: &Value) -> bool {
    let live = read.is_placeholder(entry.row, &value.key);
    !value.copy && !live && triggers.of(entry, value).is_ok()
}
