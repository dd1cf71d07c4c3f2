//! Sessions in a database of `OpenClaw`, as the model gets them where our plugin runs: the rows are as
//! `OpenClaw` wrote them, and the ledger says what is masked.

use std::io;
use std::path::PathBuf;

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
    /// As its records name it.
    place: PathBuf,
    extracted: Extracted,
    /// Whether an entry is masked though it must not be now, because that may change again.
    ever: bool,
}

impl Masked {
    /// As the model gets it now.
    pub fn now(database: Database, place: PathBuf, extracted: Extracted) -> Self {
        Self { database, place, extracted, ever: false }
    }

    /// With all that may be masked.
    pub fn ever(self) -> Self {
        Self { ever: true, ..self }
    }

    /// The row with placeholders; `None` if it has none. An entry that must not be extracted is
    /// whole.
    fn row(&self, ledger: &Ledger, names: &mut Names, line: &[u8]) -> Option<Vec<u8>> {
        let id = span::find(line, "id").and_then(span::plain)?;
        let extracts = ledger.last_extracts(id);
        let is_kept = || match ledger.extractable_flag(id) {
            Some(flag) => *flag == Value::Bool(false),
            None => span::find(line, "_extractable") == Some(b"false"),
        };
        if extracts.is_empty() || !self.ever && is_kept() {
            return None;
        }
        let mut places: Vec<(Span, Vec<u8>)> = Vec::new();
        // What was extracted from a file that OpenClaw imported is in the rows already.
        for extract in extracts.into_iter().filter(|extract| *extract.file == *self.place) {
            let Some(span) = edit::locate(line, &extract.key) else { continue };
            let json = span.slice(line);
            let about = About { entry: names.of(id), tool: extract.tool.as_deref(), json };
            let put = placeholder::json(&about, false);
            // Else the content is another one by now.
            let is_ours = |put: &Vec<u8>| extract.placeholder == Some(Record::digest(put));
            places.extend(put.filter(is_ours).map(|put| (span, put)));
        }
        places.sort_by_key(|(span, _)| span.start);
        (!places.is_empty()).then(|| edit::replaced(line, &places))
    }
}

impl SessionFile for Masked {
    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp> {
        let ledger = self.extracted.ledger()?;
        let mut names: Names = ledger.entries().collect();
        self.database.rows(&mut |row, line| {
            let masked = self.row(&ledger, &mut names, line);
            each(row, masked.as_deref().unwrap_or(line))
        })
    }

    fn edit(&self, stamp: Stamp, change: Change<'_>) -> Result<Edited, Refused> {
        self.database.edit(stamp, change)
    }
}
