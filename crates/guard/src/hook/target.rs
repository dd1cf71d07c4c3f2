//! Finds what a tool call touches: the compaction file, our verbs, or what belongs to the operator.

use std::path::{Path, PathBuf};

use super::event::{Event, ToolCall};
use super::facts::Facts;
use super::wire::ToolInput;
use crate::files::names::is_compaction_file;
use crate::policy::bands::Band;
use crate::policy::command::{self, NotOwn, OwnCommand};
use crate::policy::decide::Target;
use base::env;
use base::paths::{resolve, same_file};

/// The program's name.
const PROGRAM: &str = "brain-guard";

/// A project's own settings file.
const PROJECT_SETTINGS: &str = ".brain-guard/settings.json";

/// Resolves a path as the tool does: relative to the agent's working directory.
pub fn absolute(event: &Event, path: &str) -> PathBuf {
    let path = Path::new(path);
    if path.is_absolute() {
        path.to_path_buf()
    } else {
        Path::new(event.cwd.unwrap_or("/")).join(path)
    }
}

/// Finds what the call touches, and why a command that names the program is not one of ours. If the
/// tier blocks something (`squeezed`), the compaction file is found under any name.
pub fn find_target(
    facts: &Facts,
    event: &Event,
    call: &ToolCall,
    input: &ToolInput,
    band: Band,
    squeezed: bool,
) -> (Target, Option<String>) {
    let Some(command) = input.command.as_deref() else {
        return (target_of_file(facts, event, call, input, squeezed), None);
    };
    // An MCP tool may use an input named `command` for something else.
    let shell = band == Band::Shell || matches!(call.tool, "Bash" | "PowerShell" | "Monitor");
    if !shell || !command.contains(PROGRAM) {
        return (Target::Other, None);
    }
    match own_command(facts, event, command) {
        Ok(own) => (Target::Own(own), None),
        Err(why) => (Target::Other, Some(why)),
    }
}

fn target_of_file(
    facts: &Facts,
    event: &Event,
    call: &ToolCall,
    input: &ToolInput,
    squeezed: bool,
) -> Target {
    let Some(path) = input.file_path.as_deref().or(input.notebook_path.as_deref()) else {
        return Target::Other;
    };
    let path = absolute(event, path);
    let live = facts.places.compaction(&facts.session.job);
    let named = squeezed || path.to_string_lossy().to_ascii_lowercase().ends_with("compaction.md");
    if matches!(call.tool, "Read" | "Edit" | "Write")
        && named
        && (path == live || same_file(&path, &live))
        && is_compaction_file(&live)
    {
        return Target::CompactionFile;
    }
    match call.tool {
        "Read" if is_kept(facts, &path) => Target::Kept,
        "Read" | "Grep" | "Glob" | "LS" | "LSP" => Target::Other,
        _ if is_operators(facts, &path) => Target::Operator,
        _ => Target::Other,
    }
}

/// A shell command that holds only our verbs.
///
/// # Errors
/// Why it is not accepted.
fn own_command(facts: &Facts, event: &Event, command: &str) -> Result<OwnCommand, String> {
    let program = facts.env.program().unwrap_or_default();
    let own = command::parse(command, &program.to_string_lossy());
    let own = own.map_err(|why: NotOwn| why.to_string())?;
    match &own.folder {
        Some(folder) if !absolute(event, folder).is_dir() => {
            Err(format!("there is no folder {}", base::plain::line(folder, 200)))
        }
        _ => Ok(own),
    }
}

/// Whether the path is a file of one of the project's jobs, or a saved output of this session.
fn is_kept(facts: &Facts, path: &Path) -> bool {
    let places = &facts.places;
    path.starts_with(&places.state) && {
        let real = resolve(path);
        [places.jobs(), places.outputs(facts.id)].iter().any(|f| real.starts_with(resolve(f)))
    }
}

/// Whether only the operator may change this file: our settings, our state, our program, and the
/// client's record of this session. A plugin or program inside the project is being developed.
fn is_operators(facts: &Facts, path: &Path) -> bool {
    let (places, env) = (&facts.places, facts.env);
    let real = resolve(path);
    let data = env.path("XDG_DATA_HOME").filter(|p| p.is_absolute());
    let data = data.or_else(|| Some(env.home()?.join(".local/share")));
    let program = [
        data.map(|data| data.join(PROGRAM)),
        env.home().map(|home| home.join(".local/bin").join(PROGRAM)),
        env.path(env::PLUGIN_ROOT),
        env.program(),
    ];
    let apart =
        |path: &PathBuf| !path.starts_with(&places.project) && !places.project.starts_with(path);
    let kept = [places.states.clone(), places.user_settings.clone(), places.user_texts.clone()];
    let ours = program.into_iter().flatten().filter(apart).chain(kept);
    real.ends_with(PROJECT_SETTINGS)
        || facts.transcript.as_deref().is_some_and(|own| same_file(own, &real))
        || ours.into_iter().any(|ours| path.starts_with(&ours) || real.starts_with(resolve(&ours)))
}
