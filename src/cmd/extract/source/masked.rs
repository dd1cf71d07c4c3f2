//! Sessions in a database of `OpenClaw`, as the model gets them where our plugin runs: the rows are as
//! `OpenClaw` wrote them, and the ledger says what is masked.

use std::io;

use extract::edit;
use extract::placeholder::{self, About, Names};
use serde_json::Value;
use sessions::files::{Change, Edited, Refused, SessionFile, Stamp};
use sessions::span::{self, Span};
use store::extracted::{Extracted, Ledger, Record};
use store::openclaw::Database;

/// A session whose rows stay as they are.
pub struct Masked {
    database: Database,
    extracted: Extracted,
}

impl Masked {
    /// The session, as this record of it says.
    pub fn new(database: Database, extracted: Extracted) -> Self {
        Self { database, extracted }
    }
}

/// The row with placeholders; `None` if it has none. An entry that must not be extracted is whole.
fn masked(ledger: &Ledger, names: &mut Names, line: &[u8]) -> Option<Vec<u8>> {
    let id = span::find(line, "id").and_then(span::plain)?;
    let extracts = ledger.last_extracts(id);
    if extracts.is_empty() || ledger.extractable_flag(id) == Some(&Value::Bool(false)) {
        return None;
    }
    let mut places: Vec<(Span, Vec<u8>)> = Vec::new();
    for extract in extracts {
        let Some(span) = edit::locate(line, &extract.key) else { continue };
        let about =
            About { entry: names.of(id), tool: extract.tool.as_deref(), json: span.slice(line) };
        let put = placeholder::json(&about, false);
        // Else the content is another one by now.
        let is_ours = |put: &Vec<u8>| extract.placeholder == Some(Record::digest(put));
        places.extend(put.filter(is_ours).map(|put| (span, put)));
    }
    places.sort_by_key(|(span, _)| span.start);
    (!places.is_empty()).then(|| edit::replaced(line, &places))
}

impl SessionFile for Masked {
    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp> {
        let ledger = self.extracted.ledger()?;
        let mut names: Names = ledger.entries().collect();
        self.database.rows(&mut |row, line| {
            let masked = masked(&ledger, &mut names, line);
            each(row, masked.as_deref().unwrap_or(line))
        })
    }

    fn edit(&self, stamp: Stamp, change: Change<'_>) -> Result<Edited, Refused> {
        self.database.edit(stamp, change)
    }
}
