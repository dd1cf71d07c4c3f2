//! Runs the program and compares its answers with the expected ones.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::faults::case::{self, Case};
use crate::support::hook::{Answer, Hook};
use crate::support::run::{Ran, run};

/// CPU time an answer may take. Unoptimized builds take two to three times as long on the machines
/// of these tests, so they get four times the release limit. `./bench --quick` counts what the
/// installed program does, whatever the machine.
pub const CPU: Duration = Duration::from_millis(if cfg!(debug_assertions) { 200 } else { 50 });

/// How often a correct but slow case is played.
const PLAYS: usize = 3;

/// Characters that an answer may add to the context (measured with client 2.1.329).
const CONTEXT: usize = 10_000;

/// The expected answer. Other output, such as a note, passes except under [`Expect::Silence`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Nothing is blocked.
    Allow,
    /// No output.
    Silence,
    /// Nothing is blocked, and the agent gets a note.
    Note,
    /// The call, the turn's end or the prompt is refused.
    Block,
    /// Unpredictable: only the contract of every hook is checked.
    Either,
}

#[derive(Debug)]
pub struct Tally {
    /// Faults of the running case.
    wrong: Vec<String>,
    /// Answers that took too long.
    slow: Vec<String>,
    /// Failures are expected and not printed.
    quiet: bool,
    /// A program still running after this hangs.
    deadline: Duration,
    pub false_blocks: usize,
    pub missed_blocks: usize,
}

impl Tally {
    pub fn new() -> Self {
        Self {
            wrong: Vec::new(),
            slow: Vec::new(),
            quiet: false,
            deadline: Duration::from_secs(10),
            false_blocks: 0,
            missed_blocks: 0,
        }
    }

    /// A tally for negative controls: it prints nothing and has a short deadline.
    pub fn of_control() -> Self {
        Self { quiet: true, deadline: Duration::from_secs(1), ..Self::new() }
    }

    /// Plays a case; prints any fault and returns `false`. A case that was only slow is repeated,
    /// because other programs also use the CPU.
    pub fn play(&mut self, (name, case): &Case) -> bool {
        for _ in 0..PLAYS {
            self.slow.clear();
            let ended = catch_unwind(AssertUnwindSafe(|| case(self)));
            if let Err(cause) = ended {
                let text = cause.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| cause.downcast_ref::<&str>().copied());
                self.wrong(&format!("panicked: {}", text.unwrap_or("without a word")));
            }
            if self.slow.is_empty() || !self.wrong.is_empty() {
                break;
            }
        }
        self.wrong.append(&mut self.slow);
        let wrong = std::mem::take(&mut self.wrong);
        for what in wrong.iter().filter(|_| !self.quiet) {
            println!("{name}: {what}");
        }
        wrong.is_empty()
    }

    /// Whether the running case has a fault so far.
    pub fn found(&self) -> bool {
        !self.wrong.is_empty() || !self.slow.is_empty()
    }

    /// Records a fault unless `holds`.
    pub fn check(&mut self, holds: bool, what: impl AsRef<str>) {
        if !holds {
            self.wrong(what.as_ref());
        }
    }

    /// Asserts that the answer to this payload blocks nothing.
    pub fn allow(&mut self, hook: &Hook, payload: &Value) -> Answer {
        self.send(hook, payload, Expect::Allow)
    }

    /// Asserts that this payload gets no answer.
    pub fn silence(&mut self, hook: &Hook, payload: &Value) -> Answer {
        self.send(hook, payload, Expect::Silence)
    }

    /// Asserts that the agent gets a note and nothing is blocked.
    pub fn note(&mut self, hook: &Hook, payload: &Value) -> Answer {
        self.send(hook, payload, Expect::Note)
    }

    /// Asserts that the call is refused.
    pub fn block(&mut self, hook: &Hook, payload: &Value) -> Answer {
        self.send(hook, payload, Expect::Block)
    }

    /// Sends a payload to the hook.
    pub fn send(&mut self, hook: &Hook, payload: &Value, expect: Expect) -> Answer {
        self.bytes(hook, payload.to_string().as_bytes(), expect)
    }

    /// Sends raw bytes to the hook.
    pub fn bytes(&mut self, hook: &Hook, stdin: &[u8], expect: Expect) -> Answer {
        self.run(hook.command(&["hook"]), stdin, expect)
    }

    /// Sends payloads in parallel.
    pub fn at_once(&mut self, hook: &Hook, payloads: &[Value], expect: Expect) -> Vec<Answer> {
        let deadline = self.deadline;
        let ran: Vec<Ran> = std::thread::scope(|scope| {
            let one = |payload: &Value| (hook.command(&["hook"]), payload.to_string());
            let start = |(command, text): (Command, String)| {
                scope.spawn(move || run(command, text.as_bytes(), deadline))
            };
            let started: Vec<_> = payloads.iter().map(one).map(start).collect();
            started.into_iter().map(|thread| thread.join().expect("ran")).collect()
        });
        ran.into_iter().map(|ran| self.judge(ran, expect)).collect()
    }

    /// Runs a command that is, or becomes, the hook.
    pub fn run(&mut self, command: Command, stdin: &[u8], expect: Expect) -> Answer {
        let ran = run(command, stdin, self.deadline);
        self.judge(ran, expect)
    }

    /// Checks one answer: the contract of every hook, then the expectation.
    pub fn judge(&mut self, ran: Ran, expect: Expect) -> Answer {
        let Ran { answer, cpu, hung } = ran;
        if hung {
            self.wrong(&format!("hung: killed after {:?}", self.deadline));
            return answer;
        }
        if cpu > CPU {
            self.slow.push(format!("{} ms of processor time", cpu.as_millis()));
        }
        if answer.code != Some(0) || !answer.stderr.is_empty() {
            self.wrong(&format!("exit {:?}, stderr {:?}", answer.code, answer.stderr));
        }
        let said = if answer.stdout.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(&answer.stdout).unwrap_or_else(|e| {
                self.wrong(&format!("stdout is no JSON: {e}"));
                Value::Null
            })
        };
        // The client puts longer ones into a file and shows their first 2 KB.
        let added = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        if added.chars().count() > CONTEXT {
            self.wrong(&format!("{} characters of context", added.chars().count()));
        }
        let blocked = blocks(&said);
        if blocked && !matches!(expect, Expect::Block | Expect::Either) {
            self.false_blocks += 1;
            self.wrong(&format!("FALSE BLOCK: {}", answer.stdout));
        } else if !blocked && expect == Expect::Block {
            self.missed_blocks += 1;
            self.wrong(&format!("MISSED BLOCK: {:?}", answer.stdout));
        } else if expect == Expect::Silence && !answer.stdout.is_empty() {
            self.wrong(&format!("not silent: {}", answer.stdout));
        } else if expect == Expect::Note
            && said["hookSpecificOutput"]["additionalContext"].as_str().is_none_or(str::is_empty)
        {
            self.wrong(&format!("no note: {:?}", answer.stdout));
        }
        answer
    }

    /// A session that started empty and was read at 5 %.
    pub fn begun(&mut self) -> Hook {
        let hook = Hook::new();
        self.begin(&hook);
        hook
    }

    /// Starts this session, with a first reading of 5 %.
    pub fn begin(&mut self, hook: &Hook) {
        self.silence(hook, &case::start(hook, "startup"));
        hook.fill(5.0);
        self.silence(hook, &case::read(hook));
    }

    /// A session that started empty and whose last response left it this full.
    pub fn filled(&mut self, percent: f64) -> Hook {
        let hook = self.begun();
        hook.fill(percent);
        hook
    }

    fn wrong(&mut self, what: &str) {
        self.wrong.push(what.chars().take(400).collect());
    }
}

/// Whether an answer blocks, in any of the client's ways. A question blocks too, because nobody may
/// be there to answer.
fn blocks(said: &Value) -> bool {
    let asked = &said["hookSpecificOutput"]["permissionDecision"];
    let refused = said["hookSpecificOutput"]["hookEventName"] == "Stop";
    *asked == "deny" || *asked == "ask" || refused || said["continue"] == false
}
