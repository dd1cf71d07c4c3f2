//! Reads the limit from the client's command line.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Flag, LayerSettings};

/// The arguments that change the limit. Nothing else of the command line is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Launch {
    /// `--autocompact`.
    pub flag: Option<Flag>,
    /// `--settings`.
    pub settings: Option<LaunchSettings>,
}

/// The value of `--settings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaunchSettings {
    /// A file.
    File(PathBuf),
    /// The auto-compact keys of inline JSON.
    Inline(LayerSettings),
}

impl Launch {
    /// Parses the arguments of a client that was started in `folder`. As in the client, later
    /// ones win.
    pub fn parse(arguments: &[String], folder: &Path, model: Option<&str>) -> Self {
        let value = |name: &str| {
            let with = arguments.iter().enumerate().rev().find_map(|(at, word)| {
                let rest = word.strip_prefix(name)?;
                match rest.strip_prefix('=') {
                    Some(value) => Some(value.to_owned()),
                    None if rest.is_empty() => arguments.get(at + 1).cloned(),
                    None => None,
                }
            });
            with.filter(|value| !value.is_empty())
        };
        let settings = value("--settings").map(|text| {
            if text.trim_start().starts_with('{') {
                LaunchSettings::Inline(LayerSettings::parse(&text, model).unwrap_or_default())
            } else {
                LaunchSettings::File(folder.join(text))
            }
        });
        Self { flag: value("--autocompact").and_then(|text| Flag::parse(&text)), settings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Launch {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Launch::parse(&words, Path::new("/work"), None)
    }

    #[test]
    fn only_the_limit_is_taken_from_a_command_line() {
        assert_eq!(parse(&["claude", "--model", "x", "a prompt"]), Launch::default());
        assert_eq!(parse(&["claude", "--autocompact", "150k"]).flag, Some(Flag::Window(150_000)));
        assert_eq!(parse(&["claude", "--autocompact=auto"]).flag, Some(Flag::Auto));
        assert_eq!(parse(&["claude", "--autocompact"]).flag, None);
        let file = parse(&["claude", "--settings", "own.json"]).settings;
        assert_eq!(file, Some(LaunchSettings::File("/work/own.json".into())));
        let inline =
            parse(&["claude", r#"--settings={"apiKeyHelper":"x","autoCompactWindow":150000}"#]);
        let of = LayerSettings { window: Some(150_000), enabled: None };
        assert_eq!(inline.settings, Some(LaunchSettings::Inline(of)));
        let kept = serde_json::to_string(&inline).unwrap();
        assert!(!kept.contains("apiKeyHelper"), "{kept}");
    }
}
