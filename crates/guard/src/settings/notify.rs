//! The settings under `notify`: how a user who is away hears of a session.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, IntoDeserializer as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// How and when a user who is away is notified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NotifySettings {
    /// What tells the user: `bell`, `osc9`, `osc777`, `off`, or a program with its arguments, in which
    /// `{title}` and `{text}` are filled in.
    pub by: Notifier,
    /// Minutes without a response after which a running turn counts as standing still.
    pub still_minutes: u64,
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self { by: Notifier::Terminal(TerminalWay::Bell), still_minutes: 15 }
    }
}

/// What notifies the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Notifier {
    /// The client's terminal.
    Terminal(TerminalWay),
    /// A program with its arguments.
    Program(Vec<String>),
}

impl Notifier {
    /// Nothing.
    pub const OFF: Self = Self::Terminal(TerminalWay::Off);
}

impl<'de> Deserialize<'de> for Notifier {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Words;

        impl<'de> Visitor<'de> for Words {
            type Value = Notifier;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(
                    "`bell`, `osc9`, `osc777`, `off`, or a program and its arguments as a list",
                )
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Notifier, E> {
                let way: Result<_, de::value::Error> =
                    TerminalWay::deserialize(word.into_deserializer());
                let wrong = |_| E::invalid_value(de::Unexpected::Str(word), &self);
                way.map(Notifier::Terminal).map_err(wrong)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, words: A) -> Result<Notifier, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(words)).map(Notifier::Program)
            }
        }

        from.deserialize_any(Words)
    }
}

/// What the client's terminal is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TerminalWay {
    /// Nothing.
    Off,
    /// The bell.
    Bell,
    /// The notification of iTerm2, `OSC 9`.
    Osc9,
    /// The notification of urxvt, `OSC 777`.
    Osc777,
}

impl TerminalWay {
    /// The bytes for the terminal. tmux passes a notification on only if its `allow-passthrough` is
    /// on, so the bell rings there as well.
    pub fn sequence(self, title: &str, text: &str, is_tmux: bool) -> String {
        let sequence = match self {
            Self::Off => return String::new(),
            Self::Bell => return "\x07".to_owned(),
            Self::Osc9 => format!("\x1b]9;{title}: {text}\x07"),
            Self::Osc777 => {
                format!(
                    "\x1b]777;notify;{};{}\x07",
                    title.replace(';', ","),
                    text.replace(';', ",")
                )
            }
        };
        if is_tmux {
            format!("\x1bPtmux;{}\x1b\\\x07", sequence.replace('\x1b', "\x1b\x1b"))
        } else {
            sequence
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_its_own_sequence() {
        let of = |way: TerminalWay, is_tmux| way.sequence("t;u", "a;b", is_tmux);
        assert_eq!(of(TerminalWay::Bell, true), "\x07");
        assert_eq!(of(TerminalWay::Osc9, false), "\x1b]9;t;u: a;b\x07");
        assert_eq!(of(TerminalWay::Osc777, false), "\x1b]777;notify;t,u;a,b\x07");
        let wrapped = "\x1bPtmux;\x1b\x1b]777;notify;t,u;a,b\x07\x1b\\\x07";
        assert_eq!(of(TerminalWay::Osc777, true), wrapped);
    }

    #[test]
    fn what_notifies_is_a_word_or_a_program() {
        let read = |json: &str| serde_json::from_str::<Notifier>(json).ok();
        assert_eq!(read("\"off\""), Some(Notifier::OFF));
        let words = vec!["notify-send".to_owned(), "{text}".to_owned()];
        assert_eq!(read(r#"["notify-send", "{text}"]"#), Some(Notifier::Program(words)));
        assert_eq!(read("\"ring\""), None);
    }
}
