//! The keys that settings have, so that an unknown one is named without being tried.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::settings::diagnostic::Why;

/// Every key, its parts joined by dots; `*` stands for a name of the user's own.
/// The test of the schema writes it.
const ALL: &str = include_str!("keys.txt");

/// The keys below one; none where a value stands.
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

    /// Whether a value stands here, and no group of keys.
    pub(super) fn is_value(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys below `key`; `None` where it is unknown.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.0.get(key).or_else(|| self.0.get("*"))
    }

    /// Why `key` is none of these.
    pub(super) fn unknown(&self, key: &str) -> Why {
        Why::unknown(key, self.0.keys().copied())
    }

    /// Why there is no such path; `None` where there is.
    pub(super) fn unknown_part(&self, path: &[String]) -> Option<Why> {
        let (first, rest) = path.split_first().filter(|_| !self.is_value())?;
        match self.get(first) {
            Some(below) => below.unknown_part(rest),
            None => Some(self.unknown(first)),
        }
    }
}
