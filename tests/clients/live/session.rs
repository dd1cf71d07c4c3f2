//! Runs the real client in a terminal and follows its transcripts. It stops when a fresh session
//! has continued, the work is done, or a limit is passed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::args::{Args, Bounds};
use super::judge::{Verdict, judge};
use super::read::{self, Event, Session};
use super::stage::{INDEX, PROMPT, indexed};
use crate::support::journal;
use crate::support::world::{World, jobs, parts};

/// Interval between two reads of the transcripts.
const GLANCE: Duration = Duration::from_millis(500);

/// Calls after a boundary that prove that the session continues.
const ENOUGH: usize = 8;

/// A finished run.
#[derive(Debug)]
pub struct Run {
    pub verdict: Verdict,
    pub ended: String,
    pub indexed: u64,
    pub seconds: u64,
    /// The client's last screen if the model never answered, since it shows why.
    pub screen: Option<String>,
}

/// Runs the session until it is over or makes no progress for `quiet`. `told` receives progress
/// lines.
pub fn run(args: &Args, world: &World, quiet: Duration, told: &mut dyn FnMut(&str)) -> Run {
    let began = Instant::now();
    let tui = world.tui(&["--model", &args.model]);
    tui.prompt(PROMPT);
    let mut seen = String::new();
    let mut moved = Instant::now();
    let ended = loop {
        thread::sleep(GLANCE);
        let sessions = sessions(world);
        let line = progress(&sessions, done(world, args), args.chapters);
        if line != seen {
            told(&line);
            (seen, moved) = (line, Instant::now());
        }
        if let Some(why) = over(args, &sessions, began.elapsed()) {
            break why;
        }
        if tui.ended() {
            break "the client ended".to_owned();
        }
        if moved.elapsed() >= quiet {
            break format!("nothing came for {} s", quiet.as_secs());
        }
    };
    let screen = tui.screen();
    drop(tui);
    let verdict = judge(&sessions(world), &sealed(&world.state()), &log(&world.state()));
    let screen = (verdict.requests == 0).then_some(screen);
    Run { verdict, ended, indexed: done(world, args), seconds: began.elapsed().as_secs(), screen }
}

fn over(args: &Args, sessions: &[Session], passed: Duration) -> Option<String> {
    let Bounds { requests, tokens, minutes } = args.bounds;
    let used = Used::of(sessions);
    if sessions.len() > 1 && sessions.last().is_some_and(|last| calls(last) >= ENOUGH) {
        return Some(format!("the session after the boundary made {ENOUGH} calls"));
    }
    if used.requests >= requests {
        return Some(format!("the bound of {requests} responses"));
    }
    if used.tokens >= tokens {
        return Some(format!("the bound of {tokens} input tokens"));
    }
    (passed >= Duration::from_secs(minutes * 60)).then(|| format!("the bound of {minutes} minutes"))
}

struct Used {
    requests: u64,
    tokens: u64,
    context: u64,
}

impl Used {
    fn of(sessions: &[Session]) -> Self {
        let mut used = Self { requests: 0, tokens: 0, context: 0 };
        for event in sessions.iter().flat_map(|session| &session.events) {
            if let Event::Response(usage) = event {
                used.requests += 1;
                used.tokens += usage.input;
                used.context = usage.input + usage.output;
            }
        }
        used
    }
}

fn calls(session: &Session) -> usize {
    session.events.iter().filter(|event| matches!(event, Event::Call { .. })).count()
}

fn progress(sessions: &[Session], done: u64, of: u64) -> String {
    let Used { requests, tokens, context } = Used::of(sessions);
    let calls: usize = sessions.iter().map(calls).sum();
    format!(
        "session {}, {requests} responses, {calls} calls, context {context} tokens, {tokens} input tokens in all, \
         index {done} of {of}",
        sessions.len()
    )
}

fn done(world: &World, args: &Args) -> u64 {
    let index = fs::read_to_string(world.project().join(INDEX)).unwrap_or_default();
    indexed(&index, args.chapters)
}

/// The sessions with a response or a failure, in order.
fn sessions(world: &World) -> Vec<Session> {
    let texts = world.transcripts().into_iter().filter_map(|path| fs::read_to_string(path).ok());
    let said = |event: &Event| matches!(event, Event::Response(_) | Event::Failure(_));
    let mut all: Vec<Session> =
        texts.map(|text| read::session(&text)).filter(|s| s.events.iter().any(said)).collect();
    all.sort_by(|a, b| a.began.cmp(&b.began));
    all
}

/// The sealed versions by path.
fn sealed(state: &Path) -> BTreeMap<String, String> {
    let jobs = jobs(state);
    let files = jobs.iter().flat_map(|job| children(&job.join("sealed")));
    let version = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.strip_suffix(".md").is_some_and(|stem| !stem.contains('.'))
    };
    files
        .filter(version)
        .filter_map(|path| Some((path.display().to_string(), fs::read_to_string(&path).ok()?)))
        .collect()
}

fn log(state: &Path) -> Vec<Value> {
    parts(state).iter().flat_map(|part| journal::lines(part)).collect()
}

fn children(folder: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::live::read::Usage;

    fn session(calls: usize) -> Session {
        let mut events = vec![Event::Response(Usage { input: 1_000, cached: 0, output: 5 })];
        events.extend((0..calls).map(|n| Event::Call {
            id: n.to_string(),
            tool: "Read".into(),
            input: json!({}),
        }));
        Session { began: String::new(), events }
    }

    #[test]
    fn each_limit_and_enough_calls_end_the_session() {
        let args = Args::default();
        let ended = |args: &Args, sessions: &[Session], passed| {
            over(args, sessions, Duration::from_secs(passed))
        };
        assert_eq!(ended(&args, &[session(20)], 0), None, "no boundary yet");
        assert_eq!(ended(&args, &[session(1), session(ENOUGH - 1)], 0), None);
        let why = |end: Option<String>| end.expect("it ends");
        assert!(
            why(ended(&args, &[session(1), session(ENOUGH)], 0)).contains("after the boundary")
        );
        assert!(why(ended(&args, &[session(1)], 20 * 60)).contains("20 minutes"));
        let few = Args { bounds: Bounds { requests: 1, ..args.bounds }, ..Args::default() };
        assert!(why(ended(&few, &[session(1)], 0)).contains("1 responses"));
        let cheap = Args { bounds: Bounds { tokens: 1_000, ..args.bounds }, ..Args::default() };
        assert!(why(ended(&cheap, &[session(1)], 0)).contains("1000 input tokens"));
    }
}
