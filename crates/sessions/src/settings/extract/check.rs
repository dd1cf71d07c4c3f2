//! Checks the settings of extraction: types by their names, durations, schedules, globs.

use base::when;
use chrono::{DateTime, Duration};
use croner::parser::{CronParser, Seconds, Year};
use globset::{Glob, GlobSet};
use serde::{Deserialize, Serialize};

use super::ExtractSettings;

/// The type of a value, for the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Reasoning.
    Thinking,
    /// The result of a tool.
    ToolResult,
    /// The input of a tool.
    ToolCall,
    /// The user's words.
    User,
    /// The agent's words.
    Assistant,
}

impl Trigger {
    /// All types.
    pub const ALL: [Self; 5] =
        [Self::Thinking, Self::ToolResult, Self::ToolCall, Self::User, Self::Assistant];

    /// Its name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Thinking => "thinking",
            Self::ToolResult => "tool_result",
            Self::ToolCall => "tool_call",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A word that names no type. The message lists the types.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a type; write {known}, * for all, or several with |",
    known = Trigger::ALL.map(Trigger::name).join(", ")
)]
pub struct UnknownTrigger(String);

/// The types that an entry of `trigger_types` means: a name, an alias of clients or older settings,
/// `*`, or several with `|`.
pub fn triggers(text: &str) -> Result<Vec<Trigger>, UnknownTrigger> {
    let mut all = Vec::new();
    for word in text.split('|').map(str::trim) {
        match word {
            "*" => all.extend(Trigger::ALL),
            "thinking" => all.push(Trigger::Thinking),
            "tool_result" | "toolResult" | "tool" => all.push(Trigger::ToolResult),
            "tool_call" | "toolCall" | "tool_use" => all.push(Trigger::ToolCall),
            "user" => all.push(Trigger::User),
            "assistant" => all.push(Trigger::Assistant),
            other => return Err(UnknownTrigger(other.to_owned())),
        }
    }
    Ok(all)
}

/// Why this is not a usable glob: a mistake, or too large to search for.
fn no_glob(text: &str) -> Option<globset::Error> {
    let glob = match Glob::new(text) {
        Ok(glob) => glob,
        Err(why) => return Some(why),
    };
    GlobSet::builder().add(glob).build().err()
}

/// A text that is not a retention. The message says what to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a duration above 0; write numbers with s, m, h, d or w: 30m, 24h, 7d, or off"
)]
pub struct InvalidRetention(String);

/// A duration above 0 (`24h`, `1d 12h`), or `off` (also `0`) for none.
pub(super) fn retention(text: &str) -> Result<Option<Duration>, InvalidRetention> {
    match text.trim() {
        "off" | "0" => Ok(None),
        text => match when::duration(text) {
            Some(all) if all > Duration::zero() => Ok(Some(all)),
            _ => Err(InvalidRetention(text.to_owned())),
        },
    }
}

fn cron(text: &str) -> Option<String> {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    let why = match parser.parse(text) {
        // From a fixed start, the answer is the same whenever it is asked.
        Ok(cron) => match cron.find_next_occurrence(&DateTime::UNIX_EPOCH, false) {
            Ok(_) => return None,
            Err(_) => "such a time never comes".to_owned(),
        },
        Err(why) => why.to_string(),
    };
    Some(format!(
        "{text:?} is not a schedule ({why}); write minute, hour, day, month, weekday: 0 */6 * * *"
    ))
}

impl ExtractSettings {
    /// The key that is wrong, and what it must be. Defaults are not checked.
    pub fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        let usual = Self::default();
        let said = |key: &'static str, why: String| Some((vec!["extract", key], why));
        if !(10..=3_600).contains(&self.scan_interval_seconds) {
            return said("scan_interval_seconds", "must be between 10 and 3600".to_owned());
        }
        if self.trigger_types != usual.trigger_types
            && let Some(why) = self.trigger_types.iter().find_map(|word| triggers(word).err())
        {
            return said("trigger_types", why.to_string());
        }
        if self.retention != usual.retention
            && let Err(why) = self.kept_for()
        {
            return said("retention", why.to_string());
        }
        if let Some(why) = self.auto_cron.as_deref().and_then(cron) {
            return said("auto_cron", why);
        }
        let bad = self.protect.iter().find_map(|glob| no_glob(glob));
        bad.and_then(|why| said("protect", format!("must be globs of tools' names: {why}")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_have_their_other_names() {
        assert_eq!(triggers("toolResult"), Ok(vec![Trigger::ToolResult]));
        assert_eq!(triggers("tool_use"), triggers("toolCall"));
        let several = triggers("user | thinking");
        assert_eq!(several, Ok(vec![Trigger::User, Trigger::Thinking]));
        assert_eq!(triggers("*").unwrap().len(), 5);
        for wrong in ["", "tools", "user|", "Thinking"] {
            let why = triggers(wrong).unwrap_err().to_string();
            assert!(why.contains("thinking, tool_result, tool_call, user, assistant"), "{why}");
        }
        let settings = ExtractSettings {
            trigger_types: vec!["user".into(), "thinking|user".into()],
            ..ExtractSettings::default()
        };
        assert_eq!(settings.triggers(), [Trigger::Thinking, Trigger::User]);
        for trigger in Trigger::ALL {
            assert_eq!(triggers(trigger.name()), Ok(vec![trigger]));
            assert_eq!(json!(trigger), json!(trigger.name()));
        }
    }

    #[test]
    fn durations() {
        for (text, seconds) in [
            ("24h", 86_400),
            ("30m", 1_800),
            ("7d", 604_800),
            ("1d 12h", 129_600),
            ("2w5s", 1_209_605),
        ] {
            assert_eq!(retention(text), Ok(Some(Duration::seconds(seconds))), "{text}");
        }
        for text in ["", "0h", "24", "h", "1y", "-1h", "1.5h", "99999999999999999w", "1h x", "1é"]
        {
            assert_eq!(retention(text), Err(InvalidRetention(text.to_owned())));
        }
    }

    #[test]
    fn retention_is_a_duration_or_off() {
        for off in ["off", "0", " off "] {
            assert_eq!(retention(off), Ok(None), "{off}");
        }
        assert_eq!(retention("24h"), Ok(Some(Duration::hours(24))));
        assert_eq!(ExtractSettings::default().kept_for(), Ok(None));
    }

    #[test]
    fn problems_name_the_key_and_what_can_be_written() {
        for (key, value, says) in [
            ("scan_interval_seconds", json!(9), "between 10 and 3600"),
            ("scan_interval_seconds", json!(3601), "between 10 and 3600"),
            (
                "trigger_types",
                json!(["thinking", "tools"]),
                "\"tools\" is not a type; write thinking",
            ),
            ("retention", json!("a day"), "24h, 7d, or off"),
            ("auto_cron", json!("every two minutes"), "minute, hour"),
            ("auto_cron", json!(""), "minute, hour"),
            ("auto_cron", json!("0 0 30 2 *"), "such a time never comes"),
            ("auto_cron", json!("0 */2 * * * *"), "minute, hour"),
            ("auto_cron", json!("0 0 31 4,6 *"), "such a time never comes"),
            ("auto_cron", json!("0 25 * * *"), "minute, hour"),
            ("protect", json!(["read", "[a"]), "globs"),
        ] {
            let settings: ExtractSettings = serde_json::from_value(json!({key: value})).unwrap();
            let (at, why) = settings.problem().unwrap();
            assert_eq!(at, ["extract", key], "{why}");
            assert!(why.contains(says), "{why}");
        }
    }
}
