//! Finds what a tool call touches: the compaction file, our verbs, or what belongs to the operator.

mod other;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::event::{Event, ToolCall};
use super::facts::Facts;
use super::wire::ToolInput;
use crate::files::names::{is_compaction_file, shared};
use crate::policy::bands::Band;
use crate::policy::carve_outs::{self, Caller};
use crate::policy::decide::Target;
use crate::policy::operator::{self, Guarded};
use base::atomic;
use base::env;
use base::paths::{resolve, same_file};

/// Resolves a path as the tool does: relative to the agent's working directory.
pub fn absolute(event: &Event, path: &str) -> PathBuf {
    let path = Path::new(path);
    if path.is_absolute() {
        path.to_path_buf()
    } else {
        Path::new(event.cwd.unwrap_or("/")).join(path)
    }
}

/// Finds what the call touches. If the tier blocks something (`squeezed`), the compaction file is
/// found under any name.
pub fn find_target(
    facts: &Facts,
    event: &Event,
    call: &ToolCall,
    input: &ToolInput,
    band: Band,
    squeezed: bool,
) -> Target {
    let look = Look { facts, event };
    if let Some(command) = input.command.as_deref() {
        return look.shell(call, command, band);
    }
    let paths = [input.file_path.as_deref(), input.notebook_path.as_deref()];
    if let ("Read" | "Edit" | "Write", Some(path)) = (call.tool, paths[0])
        && (squeezed || path.to_ascii_lowercase().ends_with("compaction.md"))
    {
        let live = facts.places.compaction(&facts.session.job);
        let path = absolute(event, path);
        // A link in its place would open any file at any tier.
        if same_file(&path, &live) && is_compaction_file(&live) {
            return Target::CompactionFile;
        }
    }
    let writes = !matches!(call.tool, "Read" | "Grep" | "Glob" | "LS" | "LSP");
    let operators = paths.into_iter().flatten().any(|p| writes && look.file(call, p))
        || (paths == [None, None] && band != Band::Control && look.other(call));
    if operators { Target::Operator } else { Target::Other }
}

struct Look<'a> {
    facts: &'a Facts<'a>,
    event: &'a Event<'a>,
}

impl Look<'_> {
    fn shell(&self, call: &ToolCall, command: &str, band: Band) -> Target {
        let (facts, event) = (self.facts, self.event);
        let ours = |program: &Path| {
            let caller = Caller {
                program: &program.to_string_lossy(),
                session: facts.id,
                call: call.id,
                project: &facts.places.project.to_string_lossy(),
            };
            let here = |path: &str| same_file(&absolute(event, path), &facts.places.project);
            carve_outs::own_command(command, &caller, here)
        };
        // An MCP tool may use an input named `command` for something else.
        let shell = band == Band::Shell || matches!(call.tool, "Bash" | "PowerShell" | "Monitor");
        if shell
            && command.contains(operator::PROGRAM)
            && let Some(own) = facts.env.program().as_deref().and_then(ours)
        {
            return Target::Own(own);
        }
        // An MCP tool may take its own verb as `command`, and a path next to it.
        let operators = self.shell_touches(command) || (!shell && self.other(call));
        if operators { Target::Operator } else { Target::Other }
    }

    fn shell_touches(&self, command: &str) -> bool {
        let cwd = self.event.cwd.unwrap_or_default();
        let plugin = self.facts.env.get(env::PLUGIN_ROOT);
        operator::may_touch_guarded(command, cwd, plugin.as_deref())
            && operator::shell_touches_guarded(command, cwd, &self.guarded())
    }

    /// The operator's paths. Excludes a plugin or program inside the project, because it is being
    /// developed.
    fn guarded(&self) -> Guarded {
        let places = &self.facts.places;
        let env = self.facts.env;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let data = env.path("XDG_DATA_HOME").filter(|p| p.is_absolute());
        let data = data.or_else(|| Some(env.home()?.join(".local/share")));
        let program = [
            data.map(|data| data.join(operator::PROGRAM)),
            env.home().map(|home| home.join(".local/bin").join(operator::PROGRAM)),
            env.path(env::PLUGIN_ROOT),
            env.program(),
        ];
        let apart = |path: &PathBuf| {
            !path.starts_with(&places.project) && !places.project.starts_with(path)
        };
        Guarded {
            home: env.home().as_deref().map(text),
            states: places.state.parent().map(text).unwrap_or_default(),
            kept: vec![text(&places.user_settings), text(&places.user_texts)],
            program: program.into_iter().flatten().filter(apart).map(|p| text(&p)).collect(),
        }
    }

    /// Whether writing this file touches what belongs to the operator.
    fn file(&self, call: &ToolCall, path: &str) -> bool {
        let home = self.facts.env.home().map(|home| home.to_string_lossy().into_owned());
        let path = absolute(self.event, &operator::plain(path.trim(), home.as_deref()));
        let real = resolve(&path);
        let (given, found) = (path.to_string_lossy(), real.to_string_lossy());
        let same = |other: &Path| other.file_name() == real.file_name() && resolve(other) == real;
        self.holds(&given, &found)
            || self.facts.transcript.as_deref().is_some_and(same)
            || self.is_linked(&real)
            || self.client_settings(call, &found)
    }

    /// Whether a path belongs to the operator, as given or as resolved.
    fn holds(&self, given: &str, found: &str) -> bool {
        let plugin = self.facts.env.get(env::PLUGIN_ROOT);
        let near = |path: &str| {
            path.contains(operator::PROGRAM)
                || plugin.as_deref().is_some_and(|folder| path.starts_with(folder))
        };
        if !near(given) && !near(found) {
            return false;
        }
        let mut guarded = self.guarded();
        if operator::writes_guarded(given, &guarded) {
            return true;
        }
        // Our own paths may be links too.
        let plain = |path: &str| resolve(Path::new(path)).to_string_lossy().into_owned();
        guarded.states = plain(&guarded.states);
        for list in [&mut guarded.kept, &mut guarded.program] {
            for path in list {
                *path = plain(path);
            }
        }
        operator::writes_guarded(found, &guarded)
    }

    /// Whether the path is a hard link to one of our files.
    fn is_linked(&self, path: &Path) -> bool {
        let places = &self.facts.places;
        let ours = [
            places.session(self.facts.id, "json"),
            places.user_settings.clone(),
            places.project_settings(),
        ];
        shared(path).is_some_and(|file| ours.iter().any(|o| shared(o) == Some(file)))
    }

    /// Whether the call changes what the client's settings say about this plugin.
    fn client_settings(&self, call: &ToolCall, path: &str) -> bool {
        let Some(config) = self.facts.places.client_config() else { return false };
        if !operator::is_client_settings(path, &resolve(config).to_string_lossy()) {
            return false;
        }
        let before = atomic::read_text(Path::new(path)).ok().flatten().unwrap_or_default();
        let Some(input) = parsed(call) else { return false };
        let text = |key: &str| input[key].as_str().map(Cow::Borrowed);
        let after = match (text("content"), text("old_string"), text("new_string")) {
            (Some(content), ..) => content,
            (_, Some(old), Some(new)) if input["replace_all"] == true => {
                before.replace(&*old, &new).into()
            }
            (_, Some(old), Some(new)) => before.replacen(&*old, &new, 1).into(),
            // An MCP tool may send the change in another format.
            _ => return call.input.is_some_and(|input| operator::names_switch(input.get())),
        };
        operator::changes_our_entries(&before, &after)
    }
}

fn parsed(call: &ToolCall) -> Option<Value> {
    serde_json::from_str(call.input?.get()).ok()
}
