//! Reads what the client's command line and settings files say of its limit: at a session's
//! start, with each prompt and at a switch of the model, so that no tool call pays for it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::facts::Facts;
use crate::carrier::process;
use crate::env::Env;
use crate::policy::limit::{Configured, Flag, Layer, LayerSettings};
use crate::store::atomic;
use crate::store::paths::{Places, config_folder};

/// Where an administrator's settings lie (seen in client 2.1.329, Linux).
pub const MANAGED: &str = "/etc/claude-code";

/// What the client's command line says of its limit. Nothing else is taken from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Launch {
    /// `--autocompact`.
    pub flag: Option<Flag>,
    /// `--settings`.
    pub settings: Option<LaunchSettings>,
}

/// What `--settings` names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaunchSettings {
    /// A file.
    File(PathBuf),
    /// What the JSON in its place says of auto-compact.
    Inline(LayerSettings),
}

impl Launch {
    /// Parses the arguments of a client that was started in `folder`. Later ones win, as in
    /// the client.
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

    /// By the client's process; nothing where it can't be read.
    fn of(pid: u32, model: Option<&str>) -> Self {
        let folder = process::folder(pid).unwrap_or_default();
        Self::parse(&process::arguments(pid), &folder, model)
    }
}

/// Reads again what may have changed since. The command line is read once a session.
pub fn look(facts: &mut Facts) {
    let model = facts.model().name.map(str::to_owned);
    let launch = facts.session.launch.clone().or_else(|| {
        let pid = facts.env.client_pid()?;
        Some(Launch::of(pid, model.as_deref()))
    });
    let configured = configured(&facts.places, facts.env, launch.as_ref(), model.as_deref());
    if facts.session.configured != configured || facts.session.launch != launch {
        facts.update(|s| (s.configured, s.launch) = (configured, launch.clone()));
        (facts.session.configured, facts.session.launch) = (configured, launch);
    }
}

/// What the command line and the settings files come to.
pub fn configured(
    places: &Places,
    env: &Env,
    launch: Option<&Launch>,
    model: Option<&str>,
) -> Configured {
    let config = config_folder(env).unwrap_or_default();
    let mut layers: Vec<(Layer, LayerSettings)> =
        files(&config, &places.project, Path::new(MANAGED))
            .into_iter()
            .filter_map(|(layer, path)| Some((layer, read(&path, model)?)))
            .collect();
    match launch.and_then(|launch| launch.settings.as_ref()) {
        Some(LaunchSettings::Inline(of)) => layers.push((Layer::CommandLine, *of)),
        Some(LaunchSettings::File(path)) => {
            layers.extend(read(path, model).map(|of| (Layer::CommandLine, of)));
        }
        None => {}
    }
    Configured::merge(launch.and_then(|launch| launch.flag), &layers)
}

/// The client's settings files, whether they are there or not.
pub fn files(config: &Path, project: &Path, managed: &Path) -> Vec<(Layer, PathBuf)> {
    let project = project.join(".claude");
    // Where the folder is named by a variable, the file lies in it, else beside it.
    let global = [config.join(".claude.json"), config.with_file_name(".claude.json")];
    let global = global.into_iter().find(|path| path.is_file());
    let mut all: Vec<_> = global.map(|path| (Layer::Global, path)).into_iter().collect();
    all.extend([
        (Layer::User, config.join("settings.json")),
        (Layer::Project, project.join("settings.json")),
        (Layer::Local, project.join("settings.local.json")),
        (Layer::Managed, config.join("remote-settings.json")),
        (Layer::Managed, managed.join("managed-settings.json")),
    ]);
    let more = std::fs::read_dir(managed.join("managed-settings.d")).into_iter().flatten();
    let mut more: Vec<PathBuf> = more.flatten().map(|entry| entry.path()).collect();
    more.sort();
    all.extend(more.into_iter().map(|path| (Layer::Managed, path)));
    all
}

/// What a settings file says; nothing where it is none.
fn read(path: &Path, model: Option<&str>) -> Option<LayerSettings> {
    LayerSettings::parse(&atomic::read_text(path).ok()??, model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::limit::LimitSource;

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

    #[test]
    fn every_file_of_the_clients_counts() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        let (config, project, managed) = (at("home/.claude"), at("project"), at("managed"));
        for folder in [&config, &project.join(".claude"), &managed.join("managed-settings.d")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let put = |path: &str, text: &str| atomic::write(&at(path), text.as_bytes()).unwrap();
        let env = Env::of([("CLAUDE_CONFIG_DIR", config.to_str().unwrap()), ("HOME", "/none")]);
        let places = Places::of(&env, &project).unwrap();
        let found = |launch: Option<&Launch>| configured(&places, &env, launch, None);
        assert_eq!(found(None), Configured::default());
        put("home/.claude.json", r#"{"autoCompactEnabled": false}"#);
        assert_eq!(found(None).off, Some(Layer::Global));
        put(
            "home/.claude/settings.json",
            r#"{"autoCompactWindow": 200000, "autoCompactEnabled": true}"#,
        );
        assert_eq!(found(None).window, Some((200_000, LimitSource::Settings(Layer::User))));
        assert_eq!(found(None).off, None);
        put("project/.claude/settings.local.json", r#"{"autoCompactWindow": 130000}"#);
        assert_eq!(found(None).window, Some((130_000, LimitSource::Settings(Layer::Local))));
        put("own.json", r#"{"autoCompactWindow": 160000}"#);
        let launch = Launch { flag: None, settings: Some(LaunchSettings::File(at("own.json"))) };
        let by_line = Some((160_000, LimitSource::Settings(Layer::CommandLine)));
        assert_eq!(found(Some(&launch)).window, by_line);
        put("project/.claude/settings.local.json", "no JSON");
        assert_eq!(found(None).window.map(|(tokens, _)| tokens), Some(200_000));
        put("managed/managed-settings.d/10.json", r#"{"autoCompactWindow": 140000}"#);
        let listed = files(&config, &project, &managed);
        assert!(
            listed
                .iter()
                .any(|(layer, path)| *layer == Layer::Managed && path.ends_with("10.json"))
        );
    }
}
