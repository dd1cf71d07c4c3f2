//! Reads from the client's command line and settings files: the session's limit, and rules that keep
//! the agent from its notes. This happens at the start, with prompts and model switches, so that no
//! tool call waits for it. Also counts responses without token counts.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::facts::{Context, Facts};
use crate::policy::limit::{Configured, Launch, LaunchSettings, Layer, LayerSettings};
use crate::session::Refusing;
use crate::texts::{Text, render};
use base::atomic;
use base::env::Env;
use base::paths::{Places, config_folder};
use base::process;

/// The folder of an administrator's settings (seen in client 2.1.329 on Linux; not tried on macOS).
pub const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode"
} else {
    "/etc/claude-code"
};

/// Reads the limit's sources again. The command line is read once a session.
pub fn refresh(facts: &mut Facts) {
    // Before the first reading no transcript can name the model.
    let model = match (&facts.session.model, facts.session.reading) {
        (None, Some(_)) => facts.model().0.map(str::to_owned),
        (model, _) => model.clone(),
    };
    let launch = facts.session.limits.launch.clone().or_else(|| {
        let pid = facts.env.client_pid()?;
        let folder = process::folder(pid).unwrap_or_default();
        Some(Launch::parse(&process::arguments(pid), &folder, model.as_deref()))
    });
    let texts = texts(&facts.places, facts.env);
    let configured = merge(&texts, launch.as_ref(), model.as_deref());
    let refusing = refusing(&texts);
    let rule = |of: &Option<Refusing>| of.as_ref().map(|of| of.rule.clone());
    let refusing_changed = rule(&facts.session.refusing) != rule(&refusing);
    if facts.session.limits.configured != configured
        || facts.session.limits.launch != launch
        || refusing_changed
    {
        facts.update(|s| {
            (s.limits.configured, s.limits.launch) = (configured, launch.clone());
            if refusing_changed {
                s.refusing.clone_from(&refusing);
            }
        });
    }
}

/// Rules of the client's settings that keep the agent from its notes: the name of the list, the rule
/// and the file. Only the user's and an administrator's count; a project could write any.
fn refusing(texts: &[ClientText]) -> Option<Refusing> {
    #[derive(Deserialize)]
    struct Content {
        #[serde(default)]
        permissions: Permissions,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Permissions {
        deny: Vec<String>,
        ask: Vec<String>,
    }
    let own = texts.iter().filter(|of| matches!(of.layer, Layer::User | Layer::Managed));
    own.into_iter().find_map(|ClientText { path, text, .. }| {
        let Content { permissions } = serde_json::from_str(text).ok()?;
        let deny = permissions.deny.into_iter().map(|rule| ("deny", rule));
        let ask = permissions.ask.into_iter().map(|rule| ("ask", rule));
        let (list, rule) = deny.chain(ask).find(|(_, rule)| keeps_from_notes(rule))?;
        Some(Refusing { rule: format!("{list} {rule:?} in {}", path.display()), told: false })
    })
}

/// Whether a permission rule is about our verbs, or about the command that prints their answers.
fn keeps_from_notes(rule: &str) -> bool {
    let Some(command) = rule.strip_prefix("Bash") else { return false };
    let command =
        command.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(command);
    matches!(command.trim(), "" | "*" | ":*" | "cat" | "cat:*" | "cat *")
        || command.starts_with("brain-guard")
}

/// Tells the user once that such a rule lifts the blocks.
pub fn refusing_line(facts: &mut Facts) -> Option<String> {
    let refusing = facts.session.refusing.clone().filter(|refusing| !refusing.told)?;
    facts.update(|s| {
        if let Some(refusing) = &mut s.refusing {
            refusing.told = true;
        }
    });
    Some(format!(
        "brain-guard: nothing is blocked, because a rule keeps the agent from its notes: {}",
        refusing.rule
    ))
}

/// The text of one of the client's settings files.
struct ClientText {
    layer: Layer,
    path: PathBuf,
    text: String,
}

/// The texts of the client's settings files that exist.
fn texts(places: &Places, env: &Env) -> Vec<ClientText> {
    let config = config_folder(env).unwrap_or_default();
    let files = files(&config, &places.project, Path::new(MANAGED)).into_iter();
    let read = |(layer, path): (_, PathBuf)| {
        let text = read(layer, &path)?;
        Some(ClientText { layer, path, text })
    };
    files.filter_map(read).collect()
}

/// Merges the command line and the settings files.
pub fn configured(
    places: &Places,
    env: &Env,
    launch: Option<&Launch>,
    model: Option<&str>,
) -> Configured {
    merge(&texts(places, env), launch, model)
}

fn merge(texts: &[ClientText], launch: Option<&Launch>, model: Option<&str>) -> Configured {
    let parse = |of: &ClientText| Some((of.layer, LayerSettings::parse(&of.text, model)?));
    let mut layers: Vec<(Layer, LayerSettings)> = texts.iter().filter_map(parse).collect();
    match launch.and_then(|launch| launch.settings.as_ref()) {
        Some(LaunchSettings::Inline(of)) => layers.push((Layer::CommandLine, *of)),
        Some(LaunchSettings::File(path)) => {
            let text = read(Layer::CommandLine, path);
            let of = text.and_then(|text| LayerSettings::parse(&text, model));
            layers.extend(of.map(|of| (Layer::CommandLine, of)));
        }
        None => {}
    }
    Configured::merge(launch.and_then(|launch| launch.flag), &layers)
}

/// The client's settings files, existing or not.
pub fn files(config: &Path, project: &Path, managed: &Path) -> Vec<(Layer, PathBuf)> {
    let project = project.join(".claude");
    // If a variable names the folder, the file is inside it, otherwise next to it.
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

/// Reads a settings file, if it exists. Files from a repository are read up to a limit, because
/// each prompt waits for them.
fn read(layer: Layer, path: &Path) -> Option<String> {
    match layer {
        Layer::Project | Layer::Local => String::from_utf8(atomic::read_record(path).ok()??).ok(),
        _ => atomic::read_text(path).ok()?,
    }
}

/// The user is told after this many responses without a count.
const RESPONSES: u32 = 5;

/// Counts a response without token counts. Returns the line for the user once, if the first five
/// had none.
pub fn uncounted(facts: &mut Facts, context: Option<&Context>) -> Option<String> {
    let session = &facts.session;
    if context.is_some() || session.reading.is_some() || session.limits.uncounted >= RESPONSES {
        return None;
    }
    let uncounted = session.limits.uncounted + 1;
    facts.update(|s| s.limits.uncounted = uncounted);
    let responses = RESPONSES.to_string();
    let text = || render(&facts.places, Text::UserUnknown, &[("responses", &responses)]);
    (uncounted == RESPONSES).then(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::limit::LimitSource;

    #[test]
    fn rules_about_our_verbs_and_their_answers_count() {
        for rule in ["Bash", "Bash(*)", "Bash(cat:*)", "Bash(cat *)", "Bash(brain-guard seal:*)"] {
            assert!(keeps_from_notes(rule), "{rule}");
        }
        for rule in ["Bash(cat /etc/*)", "Bash(rm:*)", "Read", "BashOutput", "Bash(catalog:*)"] {
            assert!(!keeps_from_notes(rule), "{rule}");
        }
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
        let env =
            Env::from_pairs([("CLAUDE_CONFIG_DIR", config.to_str().unwrap()), ("HOME", "/none")]);
        let places = Places::for_project(&env, &project).unwrap();
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
        let long = " ".repeat(atomic::MAX_RECORD as usize);
        put(
            "project/.claude/settings.local.json",
            &(r#"{"autoCompactWindow": 130000}"#.to_owned() + &long),
        );
        assert_eq!(
            found(None).window.map(|(tokens, _)| tokens),
            Some(200_000),
            "too long to wait for"
        );
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
