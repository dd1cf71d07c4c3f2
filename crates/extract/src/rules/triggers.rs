//! Which rule applies to a value: one of `trigger_rules`, or what the settings say for all types.

use globset::{Glob, GlobMatcher};

use super::Stays;
use crate::entry::{Entry, Role, Trigger, Value};
use sessions::flat::parse_author;
use sessions::settings::{ExtractSettings, TriggerRule, triggers};

/// What applies to the values that it matches.
#[derive(Debug, Clone)]
pub struct Rule {
    kinds: Vec<Trigger>,
    /// Whose messages it matches; `None`: anybody's.
    roles: Option<Vec<Role>>,
    /// Which tools it matches; `None`: any.
    tool: Option<GlobMatcher>,
    min_length: u32,
    /// Messages that stay.
    pub keep_recent: u32,
    keep_chars: u32,
}

/// The rules, in order: the first one that matches a value applies.
#[derive(Debug, Clone)]
pub struct Triggers {
    rules: Vec<Rule>,
    /// Characters of a value's start that stay if no rule matches it.
    keep: u32,
}

impl Triggers {
    /// The rules of the settings. An invalid part matches nothing: it was reported when the
    /// settings were read.
    pub fn new(settings: &ExtractSettings) -> Self {
        let mut rules: Vec<Rule> =
            settings.trigger_rules.iter().filter_map(|rule| Rule::of(rule, settings)).collect();
        if settings.trigger_rules.is_empty() {
            rules.push(Rule {
                kinds: settings.triggers(),
                roles: None,
                tool: None,
                min_length: settings.min_value_length,
                keep_recent: settings.keep_recent,
                keep_chars: settings.keep_chars,
            });
        }
        Self { rules, keep: settings.keep_chars }
    }

    /// The rule that applies to a value.
    ///
    /// # Errors
    /// Its type is not extracted, or it is too short.
    pub fn of(&self, entry: &Entry, value: &Value) -> Result<&Rule, Stays> {
        let mut short = false;
        for rule in self.rules.iter().filter(|rule| rule.takes(entry, value)) {
            if value.chars >= rule.min_length {
                return Ok(rule);
            }
            short = true;
        }
        Err(if short { Stays::Short } else { Stays::Type })
    }

    /// Characters of a value's start that its placeholder shows.
    pub fn keep(&self, entry: &Entry, value: &Value) -> u32 {
        self.of(entry, value).map_or(self.keep, |rule| rule.keep_chars)
    }

    /// Characters of the shortest value that any rule matches.
    pub fn shortest(&self) -> u32 {
        self.rules.iter().map(|rule| rule.min_length).min().unwrap_or(u32::MAX)
    }
}

impl Rule {
    fn of(rule: &TriggerRule, settings: &ExtractSettings) -> Option<Self> {
        let role = |word: &str| parse_author(word.trim()).map(|(role, _)| role);
        Some(Self {
            kinds: triggers(&rule.kind).ok()?,
            roles: rule.role.as_deref().map(|words| words.split('|').filter_map(role).collect()),
            tool: match rule.tool.as_deref() {
                Some(glob) => Some(Glob::new(glob).ok()?.compile_matcher()),
                None => None,
            },
            min_length: rule.min_length.unwrap_or(settings.min_value_length),
            keep_recent: rule.keep_recent.unwrap_or(settings.keep_recent),
            keep_chars: rule.keep_chars.unwrap_or(settings.keep_chars),
        })
    }

    /// Whether it matches such values, whatever their length.
    fn takes(&self, entry: &Entry, value: &Value) -> bool {
        let tool = value.tool.as_ref().or(entry.tool.as_ref());
        self.kinds.contains(&value.trigger)
            && self.roles.as_ref().is_none_or(|roles| roles.contains(&entry.role))
            && self.tool.as_ref().is_none_or(|glob| tool.is_some_and(|tool| glob.is_match(&**tool)))
    }
}
