//! Tool calls of the scripted agent, with their expected and actual outcomes.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::climb::agent::{Session, State};
use crate::climb::character::Act;
use crate::climb::notes;
use crate::climb::tally::Fault;
use crate::climb::verdict::{Class, Moment, is_denied};
use crate::support::evidence::short;
use crate::support::mock::Reply;
use crate::support::world::{World, set_guard};

/// Number of project files that the agent can read.
pub const DOCS: usize = 40;

/// Length of the notice to a person in seconds.
pub const NOTICE: u64 = 5;

#[derive(Debug, Clone)]
pub struct Call {
    pub id: String,
    pub tool: &'static str,
    pub input: Value,
    pub act: Act,
    pub tries: usize,
    /// The fact that the call writes into the notes if it succeeds.
    pub fact: Option<String>,
    /// The project file that the call touches.
    pub path: Option<PathBuf>,
    class: Class,
    at: Moment,
}

/// Whether a result reports a denial by a hook.
pub fn was_denied(is_error: bool, text: &str) -> bool {
    let text = text.trim_start_matches("<tool_use_error>");
    is_error && (text.starts_with("PreToolUse:") || text.starts_with("brain-guard"))
}

impl Call {
    /// The call for an act; `None` without one.
    pub fn new(state: &mut State, session: &mut Session, act: Act, tries: usize) -> Option<Self> {
        state.made += 1;
        let name = format!("{act:?}");
        *state.acts.entry(name.split('(').next().unwrap_or_default().to_owned()).or_default() += 1;
        let n = state.made;
        let bash = |command: String| ("Bash", json!({"command": command, "description": "step"}));
        let (mut class, mut fact, mut path) = (Class::Work, None, None);
        let mark = format!("FACT-{}-{n}", session.number);
        let (tool, input) = match &act {
            Act::Work(tool) | Act::Also(tool) => {
                let (tool, input, of, file) = work(state, session, tool, n);
                (class, path) = (of, file);
                (tool, input)
            }
            Act::Append(kind) => {
                (class, fact) = (Class::Notes, Some(mark.clone()));
                bash(format!("brain-guard append --kind {kind} <<'EOF'\n- {mark} stands here\nEOF"))
            }
            Act::Sloppy(form) => {
                class = Class::Notes;
                let file = notes::file(&state.kept)?;
                if tries == 0 {
                    ("Read", json!({"file_path": file}))
                } else {
                    fact = Some(mark.clone());
                    let old = std::fs::read_to_string(&file).unwrap_or_default();
                    let text = notes::sloppy(form, &old, &mark);
                    ("Write", json!({"file_path": file, "content": text}))
                }
            }
            Act::NearMiss(command) => bash((*command).to_owned()),
            Act::CloseAll => {
                class = Class::Notes;
                let ids = notes::next_steps(&state.kept);
                if ids.is_empty() {
                    return None;
                }
                let all: Vec<_> = ids.iter().map(|id| format!("brain-guard close {id}")).collect();
                bash(all.join(" && "))
            }
            Act::Question => {
                class = Class::Question;
                ("AskUserQuestion", Reply::question_input("Which of these?", ["one", "two"]))
            }
            Act::Seal(command) => {
                class = Class::Notes;
                bash((*command).to_owned())
            }
            Act::Subagent => ("Agent", agent("look around slowly", true)),
            Act::Background(tenths) => {
                let command = format!("sleep {}.{}", tenths / 10, tenths % 10);
                let input =
                    json!({"command": command, "description": "wait", "run_in_background": true});
                ("Bash", input)
            }
            Act::End | Act::EndHeld => return None,
        };
        let at = Moment {
            percent: session.percent,
            sealed: session.sealed,
            lifted: session.lifted,
            attended: session.plan.person.is_some(),
            words: notes::words(&state.kept),
        };
        Some(Self {
            id: format!("toolu_climb_{n}"),
            tool,
            input,
            act,
            tries,
            fact,
            path,
            class,
            at,
        })
    }

    /// Whether the call was denied: by the missing file if it creates one, otherwise by its result.
    pub fn was_denied(&self, is_error: bool, text: &str) -> bool {
        let left = matches!(self.tool, "Write" | "Bash").then_some(self.path.as_ref()).flatten();
        left.map_or_else(|| was_denied(is_error, text), |path| !path.exists())
    }

    /// Compares the actual outcome with the expected one.
    pub fn judge(&self, state: &mut State, session: &mut Session, denied: bool, text: &str) {
        state.calls += 1;
        state.denied += usize::from(denied);
        if matches!(self.act, Act::Seal(_)) && !denied {
            session.look(&state.kept);
        }
        let Some(expected) = is_denied(self.class, self.at) else {
            state.undecided += 1;
            return;
        };
        if expected != denied {
            let must = if expected { "must be denied" } else { "must run" };
            let details = format!(
                "{} ({:?}) at {:?} {must}: {}",
                self.tool,
                self.act,
                self.at,
                short(text, 240)
            );
            state.faults.add(session.number, Fault::Verdict, details);
        }
    }
}

fn work(
    state: &State,
    session: &Session,
    tool: &str,
    n: usize,
) -> (&'static str, Value, Class, Option<PathBuf>) {
    let doc = state.project.join(format!("doc-{}.txt", n % DOCS));
    let known = |path: &PathBuf| session.known.contains(path);
    match tool {
        "Bash" | "grep" => {
            let path = state.project.join(format!("ran-{n}.txt"));
            let look = if tool == "Bash" { "cat" } else { "grep text" };
            let command = format!("{look} {} | tee {}", doc.display(), path.display());
            let input = json!({"command": command, "description": "look"});
            ("Bash", input, Class::Work, Some(path))
        }
        "WebFetch" => {
            let input = json!({"url": "https://127.0.0.1/doc", "prompt": "read it"});
            ("WebFetch", input, Class::Read, None)
        }
        "Write" => {
            let path = state.project.join(format!("made-{n}.txt"));
            ("Write", json!({"file_path": path, "content": "x"}), Class::Work, Some(path))
        }
        "Agent" => ("Agent", agent("look around", false), Class::Work, None),
        "Again" if !session.known.is_empty() => {
            ("Read", json!({"file_path": session.known[0]}), Class::ReadAgain, None)
        }
        _ => {
            let class = if known(&doc) { Class::ReadAgain } else { Class::Read };
            ("Read", json!({"file_path": doc}), class, Some(doc))
        }
    }
}

fn agent(prompt: &str, background: bool) -> Value {
    json!({
        "description": "look", "prompt": prompt, "subagent_type": "general-purpose",
        "run_in_background": background,
    })
}

/// Sets whether sessions count as attended, from their start or the next `settings apply` on.
pub fn settings(world: &World, attended: bool) {
    let settings = json!({"boundary": {
        "min_interval_seconds": 0, "max_per_hour": 100_000, "agents_wait_seconds": 5,
        "attended_minutes": if attended { 1_000 } else { 0 }, "attended_notice_seconds": NOTICE,
    }});
    set_guard(&world.home(), &settings);
}
