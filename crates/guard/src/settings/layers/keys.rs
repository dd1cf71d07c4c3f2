//! All keys of the settings, to find unknown ones without trying each value.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::settings::diagnostic::Why;

/// Every key, its parts joined by dots. `*` stands for a name that the user chooses. The test of
/// the schema writes the file.
const ALL: &str = include_str!("keys.txt");

/// The keys below a key; empty for one that holds a value.
#[derive(Default)]
pub(super) struct Keys(BTreeMap<&'static str, Keys>);

impl Keys {
    /// The keys of a settings file.
    pub(super) fn all() -> &'static Self {
        static KEYS: LazyLock<Keys> = LazyLock::new(|| {
            let mut all = Keys::default();
            for key in ALL.lines() {
                key.split('.').fold(&mut all, |keys, part| keys.0.entry(part).or_default());
            }
            all
        });
        &KEYS
    }

    /// Whether this is a value and not a group of keys.
    pub(super) fn is_value(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys below `key`; `None` where it is unknown.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.0.get(key).or_else(|| self.0.get("*"))
    }

    /// The error for an unknown `key`.
    pub(super) fn unknown(&self, key: &str) -> Why {
        Why::unknown(key, self.0.keys().copied())
    }

    /// The error for the first unknown part of `path`.
    pub(super) fn unknown_part(&self, path: &[String]) -> Option<Why> {
        let (first, rest) = path.split_first().filter(|_| !self.is_value())?;
        match self.get(first) {
            Some(below) => below.unknown_part(rest),
            None => Some(self.unknown(first)),
        }
    }
}
