//! Serializes restored texts. Each is read when it is written, because together they may exceed the
//! memory.

use serde::ser::{Error as _, SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use super::{Chosen, NotRestored, answer, text};
use crate::cmd::extract::placeholder_lookup::Live;
use crate::cmd::extract::source::Source;

/// The restored entries: one object, or a list for `all`.
pub struct Told<'a> {
    pub source: &'a Source,
    pub chosen: &'a Chosen,
    /// Whether all were requested.
    pub many: bool,
}

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = self.chosen.entries().map(|live| Entry { told: self, live });
        match (entries.next(), entries.next()) {
            (Some(only), None) if !self.many => only.serialize(serializer),
            (one, two) => {
                let mut list = serializer.serialize_seq(None)?;
                for entry in one.into_iter().chain(two).chain(entries) {
                    list.serialize_element(&entry)?;
                }
                for left in &self.chosen.left {
                    list.serialize_element(&NotRestored::of(left))?;
                }
                list.end()
            }
        }
    }
}

/// The answer for an entry, with its texts.
struct Entry<'a> {
    told: &'a Told<'a>,
    live: &'a [Live],
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let answer = serde_json::to_value(answer(&self.told.chosen.read, self.live));
        let answer = answer.map_err(S::Error::custom)?;
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in answer.as_object().into_iter().flatten() {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("texts", &Texts(self))?;
        map.end()
    }
}

/// The texts of an entry by key; if an id occurs in several rows, the last row wins.
struct Texts<'a>(&'a Entry<'a>);

impl Serialize for Texts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Entry { told, live } = self.0;
        let last = |(at, of): &(usize, &Live)| live[at + 1..].iter().all(|l| l.key != of.key);
        let texts = live.iter().enumerate().filter(last);
        serializer.collect_map(texts.map(|(_, live)| (&live.key, Text { told, live })))
    }
}

struct Text<'a> {
    told: &'a Told<'a>,
    live: &'a Live,
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = text(self.told.source, self.live, self.told.chosen.lines);
        serializer.serialize_str(&text.map_err(|why| S::Error::custom(format!("{why:#}")))?)
    }
}
