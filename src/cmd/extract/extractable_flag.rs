//! Whether an entry may be extracted (`_extractable`). An entry's row has the flag. If the row
//! cannot be written (a running session, or Claude Code's), the ledger has it and overrides the
//! row.

use anyhow::Context as _;
use serde_json::Value;

use extract::entry::{Entry, Extractable};
use store::extracted::Ledger;

/// Parses `true`, `false`, a number of messages, or `none`.
///
/// # Errors
/// Any other text.
pub fn parse(value: &str) -> anyhow::Result<Option<Extractable>> {
    Ok(match value {
        "true" => Some(Extractable::Always),
        "false" => Some(Extractable::Never),
        "none" | "null" => None,
        number => Some(Extractable::After(parse_messages(number).with_context(|| {
            format!(
                "`{value}` is neither true, false, none nor a number of messages from 0 to {}",
                u32::MAX
            )
        })?)),
    })
}

/// Parses a number of messages; programs may write 10 as 10.0.
pub fn parse_messages(number: &str) -> Option<u32> {
    let (whole, rest) = number.split_once('.').unwrap_or((number, "0"));
    let zeros = !rest.is_empty() && rest.bytes().all(|digit| digit == b'0');
    whole.parse().ok().filter(|_| zeros)
}

/// The flag as rows, ledger and answers contain it; null if it is not set.
pub fn to_json(value: Option<Extractable>) -> Value {
    match value {
        None => Value::Null,
        Some(Extractable::Always) => true.into(),
        Some(Extractable::Never) => false.into(),
        Some(Extractable::After(messages)) => messages.into(),
    }
}

/// Overrides the entry's flag with the ledger's. Values that rows cannot have are ignored.
pub fn apply_ledger(ledger: &Ledger, entry: &mut Entry) {
    let Some(value) = ledger.extractable_flag(&entry.id) else { return };
    let said = match value {
        Value::Null => None,
        Value::Bool(true) => Some(Extractable::Always),
        Value::Bool(false) => Some(Extractable::Never),
        other => match other.as_u64().and_then(|n| u32::try_from(n).ok()) {
            Some(messages) => Some(Extractable::After(messages)),
            None => return,
        },
    };
    (entry.extractable, entry.unclear) = (said, false);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use base::clock::Time;
    use extract::entry::Entries;
    use store::extracted::{Record, Set};

    #[test]
    fn what_can_be_said_of_an_entry() {
        assert_eq!(parse("true").unwrap(), Some(Extractable::Always));
        assert_eq!(parse("false").unwrap(), Some(Extractable::Never));
        assert_eq!(parse("12").unwrap(), Some(Extractable::After(12)));
        assert_eq!(parse("12.0").unwrap(), Some(Extractable::After(12)));
        assert_eq!(parse("none").unwrap(), None);
        for wrong in ["", "-1", "yes", "1.5", "1.", ".0", "1.0.0", "4294967296.0"] {
            assert!(parse(wrong).unwrap_err().to_string().contains("neither true"), "{wrong}");
        }
    }

    fn set(value: Value, in_row: bool) -> Record {
        let (at, file) = (Time::MIN_UTC, Path::new("/s.jsonl").into());
        Record::Set(Box::new(Set { entry: "a".into(), value, at, file, in_row }))
    }

    #[test]
    fn what_was_said_last_holds_and_a_row_that_says_it_itself_ends_it() {
        let of = |row: &str, records: Vec<Record>| {
            let mut entries = Entries::default();
            entries.row(0, row.as_bytes());
            let mut entry = entries.finish().pop().unwrap();
            apply_ledger(&Ledger::of(records), &mut entry);
            entry.extractable
        };
        let plain = r#"{"type":"user","id":"a"}"#;
        let never = r#"{"type":"user","id":"a","_extractable":false}"#;
        assert_eq!(of(plain, vec![]), None);
        assert_eq!(of(never, vec![]), Some(Extractable::Never));
        assert_eq!(of(plain, vec![set(json!(true), false)]), Some(Extractable::Always));
        let both = vec![set(json!(true), false), set(json!(7), false)];
        assert_eq!(of(never, both), Some(Extractable::After(7)));
        assert_eq!(of(never, vec![set(Value::Null, false)]), None);
        assert_eq!(
            of(never, vec![set(json!(true), false), set(json!(false), true)]),
            of(never, vec![])
        );
        assert_eq!(of(never, vec![set(json!("x"), false)]), Some(Extractable::Never));
        for value in [None, Some(Extractable::Always), Some(Extractable::After(3))] {
            assert_eq!(of(plain, vec![set(to_json(value), false)]), value);
        }
    }
}
