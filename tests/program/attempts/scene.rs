//! A session at work with the guard installed, and checks that the guard is intact.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::hook::{Hook, PROGRAM, percent_in};

/// The time limit of an agent's command.
const DEADLINE: Duration = Duration::from_secs(20);
/// The time that background commands get to have an effect.
const PATIENCE: Duration = Duration::from_secs(8);

/// A session that began at 5 %.
pub struct Scene {
    pub hook: Hook,
    /// The operator's files, as they were.
    kept: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

impl Scene {
    pub fn new() -> Self {
        Self::of(Hook::new())
    }

    /// As [`Self::new`], with a client that is not an ancestor of these commands.
    pub fn beside(client: u32) -> Self {
        let mut hook = Hook::new();
        hook.set("CLAUDE_PID", &client.to_string());
        hook.set("BRAIN_GUARD_MOD", &format!("{}:{client}", env!("CARGO_PKG_VERSION")));
        Self::of(hook)
    }

    fn of(mut hook: Hook) -> Self {
        let data = hook.home.join(".local/share/brain-guard/current");
        let write = |path: &Path, text: &str| {
            fs::create_dir_all(path.parent().expect("parent")).expect("folder");
            fs::write(path, text).expect("file");
        };
        write(&data.join("hooks/hooks.json"), "{\"hooks\": {}}\n");
        fs::create_dir_all(data.join("bin")).expect("folder");
        fs::create_dir_all(hook.home.join(".local/bin")).expect("folder");
        let link = |to: &Path| std::os::unix::fs::symlink(PROGRAM, to).expect("link");
        link(&data.join("bin/brain-guard"));
        link(&hook.home.join(".local/bin/brain-guard"));
        let client = json!({
            "enabledPlugins": {"brain-guard@brain-guard": true}, "theme": "dark",
        });
        write(&hook.home.join(".claude/settings.json"), &format!("{client:#}\n"));
        write(
            &hook.home.join(".claude/plugins/installed_plugins.json"),
            "{\"plugins\": {\"brain-guard@brain-guard\": [1]}}",
        );
        hook.settings(&json!({"file": {"words": 2000}}));
        hook.set("CLAUDE_PLUGIN_ROOT", data.to_str().expect("utf-8"));
        write(&hook.project.join("src/main.rs"), "fn main() {}\n");
        hook.begin();
        let places = hook.places();
        let operators = [
            places.user_settings.clone(),
            places.project_settings(),
            hook.home.join(".claude/settings.json"),
            hook.home.join(".claude/plugins/installed_plugins.json"),
            data.join("hooks/hooks.json"),
            data.join("bin/brain-guard"),
            hook.home.join(".local/bin/brain-guard"),
        ];
        let kept = operators.map(|path| (path.clone(), content(&path))).into();
        Self { hook, kept }
    }

    /// An input with the scene's paths filled in.
    pub fn filled(&self, input: &Value) -> Value {
        match input {
            Value::String(text) => self.text(text).into(),
            Value::Array(list) => list.iter().map(|v| self.filled(v)).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(k, v)| (k.clone(), self.filled(v)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            other => other.clone(),
        }
    }

    /// A text with the scene's paths filled in.
    pub fn text(&self, text: &str) -> String {
        let (hook, places) = (&self.hook, self.hook.places());
        let states = places.state.parent().expect("states").to_path_buf();
        let session = places.session(&hook.session, "json");
        let paths = [
            ("{home}", hook.home.clone()),
            ("{project}", hook.project.clone()),
            ("{state}", places.state.clone()),
            ("{states}", states),
            ("{session_file}", session),
            ("{settings}", places.user_settings.clone()),
            ("{program}", PathBuf::from(PROGRAM)),
            ("{transcript}", hook.transcript.clone()),
        ];
        let mut text = text.replace("{session}", &hook.session);
        for (name, path) in paths {
            text = text.replace(name, path.to_str().expect("utf-8"));
        }
        text
    }

    /// Does what the client would do after a call passes.
    pub fn carry_out(&self, tool: &str, input: &Value) {
        if let Some(command) = input["command"].as_str() {
            self.run(command);
        } else if let Some(path) = input["file_path"].as_str().or(input["notebook_path"].as_str()) {
            let path = self.hook.project.join(path);
            // The system may refuse the write.
            let _ = fs::create_dir_all(path.parent().expect("parent"));
            let _ = fs::write(&path, input["content"].as_str().unwrap_or("{}"));
        } else {
            panic!("no way to carry out {tool} {input}");
        }
    }

    /// Runs a command in the agent's shell, without the client's mark.
    pub fn run(&self, command: &str) {
        let path = format!("{}/.local/bin:/usr/bin:/bin", self.hook.home.display());
        let mut shell = Command::new("/bin/bash");
        shell.arg("-c").arg(command).env_clear().envs(self.hook.variables());
        shell.env_remove("CLAUDECODE").env("PATH", path).current_dir(&self.hook.project);
        // Only its effect counts, not its success.
        let _ = base::process::output(&mut shell, DEADLINE);
    }

    /// How the guard was lifted or damaged. `waited`: background commands may still do it.
    pub fn lifted(&self, waited: bool) -> Option<String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let how = self.changed().or_else(|| self.overridden());
            if how.is_some() || !waited || Instant::now() > until {
                return how.or_else(|| self.passes());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn changed(&self) -> Option<String> {
        let other = |(path, was): (&PathBuf, &Option<Vec<u8>>)| {
            (content(path) != *was).then(|| format!("{} changed", path.display()))
        };
        self.kept.iter().find_map(other)
    }

    /// The active override, or another reason in the state for blocking nothing.
    pub fn overridden(&self) -> Option<String> {
        let path = self.hook.places().session(&self.hook.session, "json");
        let Some(state) = content(&path) else { return Some("the state is gone".to_owned()) };
        let state: Value = serde_json::from_slice(&state).unwrap_or_default();
        match &state["override"] {
            Value::Null if state["lifted"].is_null() => None,
            Value::Null => Some(format!("lifted: {}", state["lifted"])),
            value => Some(format!("override {value}")),
        }
    }

    /// At 31 % only the three allowed moves may pass.
    fn passes(&self) -> Option<String> {
        let hook = &self.hook;
        hook.fill(percent_in("narrow"));
        let read = hook.read().verdict();
        let shell = hook.bash("ls").verdict();
        (read != "deny" || shell != "deny").then(|| format!("at 31 % Read: {read}, Bash: {shell}"))
    }
}

fn content(path: &Path) -> Option<Vec<u8>> {
    // A link counts by its target.
    fs::read_link(path)
        .map(|to| to.into_os_string().into_encoded_bytes())
        .or_else(|_| fs::read(path))
        .ok()
}
