//! `settings set` and `settings edit`: change the user's settings, and say what that changes and when
//! it takes effect. A faulty text is never written.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::{Map, Value};

use crate::cli::{EditArgs, SessionSelector, SetArgs};
use crate::cmd::editor::{agrees, open};
use crate::cmd::succession::wake;
use crate::cmd::{Context, Exit, Failure, Run, operator, out, selector};
use base::atomic;
use base::clock::Time;
use base::env::Env;
use base::process;
use guard::settings::file::{Fault, without_mark};
use guard::settings::sources::users;
use guard::settings::{Notifier, Settings};

/// The limits of a long context and of a small one, whose tiers differ.
const LIMITS: [u64; 2] = [967_000, 167_000];

/// The text of a file that sets nothing.
const EMPTY: &str = "{}\n";

/// The user's settings file.
struct UserFile {
    path: PathBuf,
    /// The search path of programs.
    programs: Option<OsString>,
    /// Its text; empty if there is none.
    text: String,
    /// What its user last agreed to in the session here, if that is another text.
    agreed: Option<Settings>,
}

impl UserFile {
    fn read(env: &Env, now: Time) -> anyhow::Result<Self> {
        let path = selector::places(env, Path::new("/"))?.user_settings;
        // A link stays a link.
        let path = fs::canonicalize(&path).unwrap_or(path);
        let text = atomic::read_text(&path)
            .with_context(|| format!("could not read {}", path.display()))?
            .unwrap_or_default();
        let found = selector::find_any(env, &SessionSelector::default()).ok().flatten();
        let facts = found.as_ref().and_then(|found| selector::facts(env, now, found).ok());
        // A session that began without the file agreed to the defaults.
        let agreed = facts.and_then(|f| Some(f.session.settings.clone()?.user.unwrap_or_default()));
        let agreed = agreed.filter(|agreed| *agreed != text).and_then(|text| users("", &text).ok());
        Ok(Self { path, programs: env.os("PATH"), text, agreed })
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The settings in force in the session here, before and after its user's file has the `new`
    /// ones; without a session, what one that began before would have.
    fn in_force(&self, new: &Settings) -> (Settings, Settings) {
        let text = users(&self.name(), &self.text).ok();
        let agreed = self.agreed.clone().or_else(|| text.clone()).unwrap_or_default();
        let before = text.map_or_else(|| agreed.clone(), |text| agreed.tightened(&text));
        (before, agreed.tightened(new))
    }

    /// Writes a sound text, and says what that changes.
    fn write(&self, text: &str, new: &Settings) -> anyhow::Result<()> {
        write(&self.path, text)?;
        out(format_args!("written to {}", self.path.display()));
        let (before, held) = self.in_force(new);
        out(effect(&before, &held, new).unwrap_or_else(|| match self.agreed {
            Some(_) => "nothing changes in the session here, which has these values".to_owned(),
            None => "nothing changes in how brain-guard works".to_owned(),
        }));
        if let Notifier::Program(words) = &new.notify.by
            && let Some(program) = words.first()
            && process::on_path(self.programs.as_deref(), program).is_none()
        {
            out(format_args!("{program} can't be run; while that is so, the bell rings instead"));
        }
        Ok(())
    }
}

/// Writes a file of the user's, and the folders above it.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(path);
    atomic::create_private_dir(folder)
        .and_then(|()| atomic::write(path, text.as_bytes()))
        .with_context(|| format!("could not write {}", path.display()))
}

/// What changes at once, from the settings in force `before` to those `held` now, and what the `new`
/// ones change later; `None` if nothing changes.
fn effect(before: &Settings, held: &Settings, new: &Settings) -> Option<String> {
    let parts = [
        ("in force at once:", changes(before, held)),
        (
            "in force in sessions that you start, and in a running one, or one that continues it,\nfrom your next prompt on (or at once: brain-guard settings apply --all):",
            changes(held, new),
        ),
    ];
    let parts = parts.into_iter().filter(|(_, changes)| !changes.is_empty());
    let parts = parts.map(|(when, changes)| format!("{when}\n  {}", changes.join("\n  ")));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// What changes from one settings to others, in words.
fn changes(old: &Settings, new: &Settings) -> Vec<String> {
    let [long, small] = LIMITS.map(|limit| old.changes(new, limit));
    let mut changes = Vec::new();
    for (own, other, contexts) in [(&long, &small, "long"), (&small, &long, "small")] {
        for change in own {
            if !other.contains(change) {
                changes.push(format!("{change} in {contexts} contexts"));
            } else if contexts == "long" {
                changes.push(change.clone());
            }
        }
    }
    changes
}

/// A text with another value at `key`; `None` removes it.
fn with(text: &str, key: &str, value: Option<Value>) -> anyhow::Result<String> {
    let text = without_mark(text);
    let text = if text.trim().is_empty() { EMPTY } else { text };
    let mut all: Map<String, Value> = serde_json::from_str(text)?;
    let (path, leaf) = key.rsplit_once('.').map_or((None, key), |(path, leaf)| (Some(path), leaf));
    let path: Vec<&str> = match path.and_then(|path| path.strip_prefix("projects.")) {
        // A folder's name may have dots.
        Some(folder) => vec!["projects", folder],
        None => path.into_iter().flat_map(|path| path.split('.')).collect(),
    };
    let mut at = &mut all;
    for part in path {
        let below = at.entry(part).or_insert_with(|| Value::Object(Map::new()));
        at = match below {
            Value::Object(below) => below,
            other => bail!("{part} is {other}, which has no keys of its own"),
        };
    }
    match value {
        Some(value) => at.insert(leaf.to_owned(), value),
        None => at.remove(leaf),
    };
    prune(&mut all);
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

/// Removes objects that hold nothing.
fn prune(map: &mut Map<String, Value>) {
    map.retain(|_, value| {
        let Value::Object(below) = value else { return true };
        prune(below);
        !below.is_empty()
    });
}

impl Run for SetArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        operator::refuse_agent(env, "settings set")?;
        let file = UserFile::read(env, now)?;
        if let Err(fault) = users(&file.name(), &file.text) {
            bail!("{fault}; {}, or run brain-guard settings edit", fault.way_out);
        }
        let value = serde_json::from_str(&self.value);
        let value = value.unwrap_or_else(|_| Value::String(self.value.clone()));
        let value = (self.value != "default").then_some(value);
        let text = with(&file.text, &self.key, value).map_err(Failure::usage)?;
        if text == file.text {
            let name = &self.key;
            match &self.value[..] {
                "default" => out(format_args!("{} sets no {name}", file.path.display())),
                value => out(format_args!("{name} is {value} already")),
            }
            return Ok(Exit::Done);
        }
        let new = users(&file.name(), &text).map_err(|Fault { key, why, way_out, .. }| {
            let key = if key.is_empty() { &self.key } else { &key };
            let meant = way_out.strip_suffix(" if not, remove the key").unwrap_or_default();
            let below = if key.starts_with("tiers.") && why.contains("expected an object") {
                format!("did you mean {key}.context or {key}.file?")
            } else {
                String::new()
            };
            let hint = format!("{meant}{below} nothing was written");
            Failure::usage(format_args!("{key}: {why}")).hint(hint.trim_start())
        })?;
        file.write(&text, &new)?;
        wake::all_strips(env, now);
        Ok(Exit::Done)
    }
}

impl Run for EditArgs {
    /// The text is edited in a draft, which stays if it can't be used.
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        operator::refuse_agent(env, "settings edit")?;
        let file = UserFile::read(env, now)?;
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            let what = "there is no terminal for an editor";
            return Err(Failure::usage(what).hint("use brain-guard settings set KEY VALUE").into());
        }
        // Among the state, where the agent's tools can't write.
        let draft = selector::places(env, Path::new("/"))?.states.join("settings.draft.json");
        let begin = if file.text.is_empty() { EMPTY } else { &file.text };
        let question = format!(
            "continue the draft of an earlier edit ({})?{} n discards it [Y/n] ",
            draft.display(),
            if is_newer(&file.path, &draft) {
                " The settings have changed since, and it would undo that."
            } else {
                ""
            }
        );
        if !draft.exists() || !agrees(&question)? {
            write(&draft, begin)?;
        }
        loop {
            if let Err(why) = open(env, &draft) {
                if atomic::read_text(&draft)?.as_deref() == Some(begin) {
                    atomic::remove(&draft)?;
                }
                return Err(why);
            }
            if UserFile::read(env, now)?.text != file.text {
                let (path, draft) = (file.path.display(), draft.display());
                bail!("{path} was changed meanwhile; nothing was written, your text is {draft}");
            }
            let text = atomic::read_text(&draft)?.unwrap_or_default();
            match users(&draft.display().to_string(), &text) {
                Ok(_) if text == begin => out("nothing changed"),
                Ok(new) => {
                    file.write(&text, &new)?;
                    wake::all_strips(env, now);
                }
                Err(fault) => {
                    out(format_args!("{fault}; {}", fault.way_out));
                    if !agrees("edit it again? [Y/n] ")? {
                        out(format_args!(
                            "nothing was written; `brain-guard settings edit` goes on with {}",
                            draft.display()
                        ));
                        return Ok(Exit::Refused);
                    }
                    continue;
                }
            }
            atomic::remove(&draft)?;
            return Ok(Exit::Done);
        }
    }
}

/// Whether a file was written after another one.
fn is_newer(file: &Path, other: &Path) -> bool {
    let written = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    written(file) > written(other)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn folders_of_a_draft_are_the_users_alone() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("state/draft.json"), "{}").unwrap();
        let mode = fs::metadata(dir.path().join("state")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_value_is_set_where_its_key_says_and_default_removes_it() {
        let set = |text: &str, key: &str, value: &str| {
            with(text, key, serde_json::from_str(value).ok()).unwrap()
        };
        let text = set("", "tiers.narrow.context", "65");
        assert_eq!(
            text,
            "{\n  \"tiers\": {\n    \"narrow\": {\n      \"context\": 65\n    }\n  }\n}\n"
        );
        let both = set(&text, "profile", "\"relaxed\"");
        assert!(both.contains("\"context\": 65") && both.contains("\"relaxed\""), "{both}");
        let without = with(&both, "tiers.narrow.context", None).unwrap();
        assert_eq!(without, "{\n  \"profile\": \"relaxed\"\n}\n");
        assert!(with("{\"profile\": \"relaxed\"}", "profile.x", None).is_err());
        let project = set("", "projects.~/src/example.com/x.mode", "\"off\"");
        assert!(project.contains("\"~/src/example.com/x\": {\n      \"mode\""), "{project}");
    }

    #[test]
    fn it_says_when_a_change_takes_effect() {
        let of = |text: &str| users("settings.json", text).unwrap();
        let set = |old: &Settings, new: &Settings| effect(old, &old.tightened(new), new);
        let (plain, more) = (of(""), of("{\"file\": {\"words\": 3000}}"));
        assert!(set(&plain, &more).unwrap().contains("from your next prompt on"));
        assert!(set(&more, &plain).unwrap().starts_with("in force at once:"));
        let both = of("{\"file\": {\"words\": 3000}, \"coach\": {\"shell_chars\": 300}}");
        let both = set(&plain, &both).unwrap();
        let (now, later) = both.split_once("in sessions that you start").unwrap();
        assert!(now.contains("shell_chars") && later.contains("words"), "{both}");
        assert_eq!(set(&plain, &of("{}")), None);
    }
}
