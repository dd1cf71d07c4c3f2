//! `./test --live` end to end, with its own world, client and judge. A scripted model behind
//! `ANTHROPIC_BASE_URL` reacts to the guard's texts.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::live::args::{Args, Bounds};
use crate::live::{report, session, stage};
use crate::support::evidence::Evidence;
use crate::support::mock::{Mock, Reply, Request};
use crate::support::process;

const QUIET: Duration = Duration::from_secs(20);

/// The model's next action.
#[derive(Clone, Copy, PartialEq)]
enum Move {
    Read,
    Index,
    Note,
    Seal,
    End,
}

/// A model that reads chapter by chapter. When a read is denied, it notes its position, seals,
/// and ends its turn.
struct Keeper {
    session: Option<String>,
    reads: u64,
    next: u64,
    index: String,
    to_do: Move,
}

impl Keeper {
    fn new() -> Self {
        Self { session: None, reads: 0, next: 1, index: "# Index\n\n".into(), to_do: Move::Read }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        if request.session != self.session {
            self.session.clone_from(&request.session);
            (self.reads, self.to_do) = (0, Move::Read);
            let told = request.user_texts().into_iter().find_map(|text| {
                text.split_once("chapter ")?.1.split_once(" is next")?.0.parse().ok()
            });
            self.next = told.unwrap_or(self.next);
        }
        let refused = request
            .tool_results()
            .iter()
            .any(|r| r.is_error && r.text.contains("brain-guard blocked "));
        if refused && matches!(self.to_do, Move::Read | Move::Index) {
            self.to_do = Move::Note;
        }
        self.make().tokens(18_000 + 3_000 * self.reads)
    }

    fn make(&mut self) -> Reply {
        let (done, after) = match self.to_do {
            Move::Read => {
                self.reads += 1;
                let file = stage::path(self.next);
                (Reply::tool("Read", json!({"file_path": file})), Move::Index)
            }
            Move::Index => {
                let line = format!("{:02} | a keeper | a ship | what went wrong\n", self.next);
                self.index.push_str(&line);
                self.next += 1;
                let input = json!({"file_path": stage::INDEX, "content": self.index});
                (Reply::tool("Write", input), Move::Read)
            }
            Move::Note => {
                let text = format!("- chapter {} is next", self.next);
                let command = format!("brain-guard append --kind directive <<'EOF'\n{text}\nEOF");
                (Reply::bash(&command), Move::Seal)
            }
            Move::Seal => (Reply::bash("brain-guard seal"), Move::End),
            Move::End => (Reply::text("Sealed."), Move::End),
        };
        self.to_do = after;
        done
    }
}

fn mock() -> (Mock, BTreeMap<String, String>) {
    let mut keeper = Keeper::new();
    let agent = Box::new(move |request: &Request| keeper.answer(request));
    let mock =
        Mock::start(agent, Box::new(|_| Reply::text("sub done")), false, &Evidence::default());
    let access = [
        ("ANTHROPIC_API_KEY", "sk-ant-api03-another-offline-key-0123456789".to_owned()),
        ("ANTHROPIC_BASE_URL", mock.url()),
    ];
    (mock, access.map(|(name, value)| (name.to_owned(), value)).into())
}

fn args() -> Args {
    Args { model: "claude-opus-5-5".to_owned(), chapters: 16, ..Args::default() }
}

#[test]
fn a_session_is_played_counted_and_reported() {
    let (mock, access) = mock();
    let args = args();
    let world = stage::build(&args, &access).start();
    let mut told = Vec::new();
    let run = session::run(&args, &world, QUIET, &mut |line| told.push(line.to_owned()));
    let text = report::text(&args, &run);
    assert!(run.verdict.went_on(), "{text}");
    assert_eq!(run.ended, "the session after the boundary made 8 calls", "{text}");
    assert_eq!(run.verdict.sessions, 2, "{text}");
    let notes: Vec<_> = run.verdict.crossings.iter().map(|c| c.tokens_at_note).collect();
    assert!(notes.iter().all(|n| n.is_some_and(|n| (24_000..36_000).contains(&n))), "{text}");
    let crossing = &run.verdict.crossings[0];
    // Six chapters fit below the tier that denies the seventh read.
    assert_eq!(crossing.denied, BTreeMap::from([("Read".to_owned(), 1)]), "{text}");
    let calls = crossing.calls_to_seal.expect("a note and a seal");
    assert!((5..=9).contains(&calls), "{text}");
    assert_eq!(
        crossing.empty,
        ["Open Threads", "Assumptions & Risks", "Process Insight"],
        "{text}"
    );
    assert_eq!(crossing.entries["Forward State"], 1);
    assert_eq!((crossing.evasions.len(), crossing.delivered), (0, Some(true)), "{text}");
    assert_eq!(crossing.next.as_ref().map(|next| next.read_again), Some(0), "{text}");
    assert!(run.indexed >= 6 && run.verdict.faults.is_empty(), "{text}");
    assert!(text.contains("verdict     it sealed, and the next session went on"), "{text}");
    assert_eq!(report::json(&args, &run)["went_on"], true);
    // The progress at each check varies.
    let of =
        |n: u32| told.iter().filter(|line| line.starts_with(&format!("session {n}, "))).count();
    assert!(of(1) > 1 && of(2) > 0, "{told:?}");
    let responses = |line: &String| line.split(", ").nth(1)?.split(' ').next()?.parse::<u32>().ok();
    let responses: Vec<u32> = told.iter().map(|line| responses(line).expect("a number")).collect();
    assert!(responses.is_sorted(), "{told:?}");
    assert!(
        !mock.main().is_empty() && world.mock.main().is_empty(),
        "only the named API was asked"
    );
}

#[test]
fn a_limit_ends_the_live_session() {
    let (_mock, access) = mock();
    let bounds = Bounds { requests: 3, ..Args::default().bounds };
    let args = Args { bounds, ..args() };
    let world = stage::build(&args, &access).start();
    let run = session::run(&args, &world, QUIET, &mut |_| ());
    assert_eq!(run.ended, "the bound of 3 responses");
    assert!(!run.verdict.went_on());
    assert!(report::text(&args, &run).contains("it did not go on"));
}

#[test]
fn a_live_run_is_refused_in_ci_and_without_a_key() {
    let cases = [
        (vec![("CI", "true"), ("ANTHROPIC_API_KEY", "k")], "never runs in CI"),
        (vec![], "set ANTHROPIC_API_KEY"),
    ];
    for (env, word) in cases {
        let mut script = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("test"));
        script.args(["--live", "--yes"]).env_clear().env("PATH", "/usr/bin:/bin").envs(env);
        let output = process::run(&mut script, process::DEADLINE).expect("the script runs");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stderr.contains(word), "{output:?}");
    }
}
