//! What an extraction would do: a pure function of entries, settings and the time.

mod again;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use self::again::Standing;
use super::entry::{Entry, Key, Role, Trigger, Value};
use super::rules::{Goes, Rules, Stays, positions};
use base::clock::Time;
use sessions::settings::ExtractSettings;
use sessions::span::Span;

/// A value to extract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its row, from 0.
    pub row: u64,
    /// Its entry.
    pub entry: String,
    /// Its key.
    pub key: Key,
    /// Its JSON in the row.
    pub span: Span,
    /// Characters of its text.
    pub chars: u32,
    /// Its type.
    pub trigger: Trigger,
    /// Its tool, if it has one.
    pub tool: Option<Arc<str>>,
    /// Whether a whole block is extracted.
    pub whole: bool,
    /// Whether the model receives it: in the context, and not a copy.
    pub sent: bool,
    /// Why it is extracted.
    pub why: Goes,
}

/// What is extracted, and what is not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order of the rows.
    pub items: Vec<Item>,
    /// How many values stay, by reason.
    pub stay: BTreeMap<Stays, u64>,
    /// How many entries there are.
    pub entries: u64,
    /// How many of them are messages of the conversation.
    pub messages: u64,
    /// Rows left alone because something is wrong with them, by reason.
    pub left: BTreeMap<Stays, Vec<u64>>,
}

impl Plan {
    /// Bytes that leave the file, and how many of them the model receives.
    pub fn bytes(&self) -> (u64, u64) {
        let of = |sent: bool| {
            let items = self.items.iter().filter(|item| !sent || item.sent);
            items.map(|item| (item.span.end - item.span.start) as u64).sum()
        };
        (of(false), of(true))
    }
}

/// Values, by row and key, for which no placeholder saves enough.
pub type NoGain = HashSet<(u64, Key)>;

/// Plans an extraction. `placeholder` asks the ledger whether the value at (entry, key) is one.
pub fn plan(
    entries: &[Entry],
    settings: &ExtractSettings,
    now: Time,
    placeholder: &dyn Fn(&Entry, &str) -> bool,
    no_gain: &NoGain,
) -> Plan {
    let rules = Rules::new(settings, now);
    let mut plan = Plan { entries: entries.len() as u64, ..Plan::default() };
    let mut standing = Standing::default();
    // From the end: later occurrences are then known when an earlier one is reached.
    for (entry, at) in entries.iter().zip(positions(entries)).rev() {
        plan.messages += u64::from(entry.role != Role::None && !entry.continues);
        plan.wrong(entry);
        for value in entry.values.iter().rev() {
            // A text block replaces a block that was extracted as a whole.
            let block = value.key.strip_suffix(".text");
            let live = placeholder(entry, &value.key)
                || block.is_some_and(|block| placeholder(entry, block));
            if live {
                *plan.stay.entry(Stays::Placeholder).or_default() += 1;
                continue;
            }
            let early = settings.fixed.dedupe.then(|| standing.later(value)).flatten();
            let gains = || no_gain.is_empty() || !no_gain.contains(&(entry.row, value.key.clone()));
            let goes = rules.extracted(entry, value, at, early);
            match goes.and_then(|why| gains().then_some(why).ok_or(Stays::NoGain)) {
                Ok(why) => plan.items.push(Item::of(entry, value, why)),
                Err(why) => {
                    *plan.stay.entry(why).or_default() += 1;
                    // Readers skip a row that is not JSON: nothing in it counts as a later
                    // occurrence.
                    if why != Stays::Broken {
                        standing.stays(entry, value);
                    }
                }
            }
        }
        standing.next(entry);
    }
    plan.items.reverse();
    plan.left.values_mut().for_each(|rows| rows.reverse());
    plan
}

impl Plan {
    /// Records rows that are not JSON, and so not entries.
    pub fn broken(&mut self, rows: &[u64]) {
        if !rows.is_empty() {
            let all = self.left.entry(Stays::Broken).or_default();
            all.extend(rows);
            all.sort_unstable();
        }
    }

    /// Records what is wrong with an entry.
    fn wrong(&mut self, entry: &Entry) {
        for (why, holds) in [
            (Stays::Broken, entry.broken),
            (Stays::Unclear, entry.unclear && !entry.broken),
            (Stays::Twice, entry.doubled > 0),
            (Stays::Shared, entry.shared > 0),
        ] {
            if holds {
                self.left.entry(why).or_default().push(entry.row);
            }
        }
        for (why, values) in [(Stays::Twice, entry.doubled), (Stays::Shared, entry.shared)] {
            if values > 0 {
                *self.stay.entry(why).or_default() += u64::from(values);
            }
        }
    }
}

impl Item {
    fn of(entry: &Entry, value: &Value, why: Goes) -> Self {
        Self {
            row: entry.row,
            entry: entry.id.clone(),
            key: value.key.clone(),
            span: value.span,
            chars: value.chars,
            trigger: value.trigger,
            tool: value.tool.as_ref().or(entry.tool.as_ref()).map(Arc::clone),
            whole: value.whole,
            sent: entry.in_context && !value.copy,
            why,
        }
    }
}

#[cfg(test)]
mod tests;
