//! The viewer in a real terminal: 500 sessions, one of them with 10,000 rounds. tmux draws what it
//! writes; each time includes reading the screen from tmux, which takes some milliseconds itself.

use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use base::new_file::project_name;

use crate::harness::{Bench, quantile};
use crate::session::text;

const SESSIONS: usize = 500;
const ROUNDS: usize = 10_000;

/// The rounds of a session of 50 MB, and how often its answers repeat their words.
const LARGE: (usize, usize) = (1_000, 2_000);

/// The resident KiB that the viewer may have.
const MOST_KIB: u64 = 128 * 1024;

/// How long something may take to appear.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks at the screen, which take a processor themselves.
const PAUSE: Duration = Duration::from_millis(3);

/// Measures and prints; returns whether memory holds.
///
/// # Errors
/// What can't be prepared.
pub fn run(bench: &Bench) -> Result<bool, String> {
    let desk = Desk::new(bench).map_err(|why| why.to_string())?;
    let long = id(0);
    desk.tmux(&["new-session", "-d", "-x", "200", "-y", "50", "sleep 600"])?;
    desk.tmux(&["set", "-g", "remain-on-exit", "on"])?;
    let rounds = if bench.quick { 5 } else { 20 };
    let all = format!("{ROUNDS} rounds");
    let mut first = Vec::new();
    println!("{SESSIONS} sessions, the viewed one with {ROUNDS} rounds");
    for (session, words) in [(id(1), "that of 50 MB"), (long.clone(), "that of 10,000 rounds")] {
        let shows = if session == long { all.clone() } else { format!("{} rounds", LARGE.0) };
        let ms = desk.open(&session, &shows)?;
        println!("{ms:8.1} ms  the first frame with rounds, if they are not imported: {words}");
    }
    desk.import()?;
    for _ in 0..rounds {
        first.push(desk.open(&long, &all)?);
    }
    say("the first frame with rounds", &mut first);
    let mut keys = Vec::new();
    for n in 0..2 * rounds {
        let (key, shows) = if n % 2 == 0 { ("End", "ROUND 1 ") } else { ("Home", "ROUND 10000 ") };
        let begun = Instant::now();
        desk.tmux(&["send-keys", key])?;
        desk.wait(shows)?;
        keys.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    say("from a key to its frame, with the round in full", &mut keys);
    let begun = Instant::now();
    desk.tmux(&["send-keys", "-N", "300", "Down"])?;
    desk.wait("ROUND 9700 ")?;
    println!(
        "{:8.3} ms  for each of 300 keys in a row",
        begun.elapsed().as_secs_f64() * 1e3 / 300.0
    );
    let kib = desk.peak_kib()?;
    let held = kib <= MOST_KIB;
    let verdict = if held { "held  " } else { "BROKEN" };
    println!("{verdict}  at most {} MiB are resident: {} MiB", MOST_KIB / 1024, kib / 1024);
    Ok(held)
}

fn say(what: &str, ms: &mut [f64]) {
    ms.sort_by(f64::total_cmp);
    println!("{:8.1} ms  {what} (p90 {:.1})", quantile(ms, 0.5), quantile(ms, 0.9));
}

fn id(number: usize) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

/// A home with sessions, and a tmux server of its own.
struct Desk {
    binary: PathBuf,
    work: PathBuf,
}

impl Desk {
    fn new(bench: &Bench) -> io::Result<Self> {
        let work = bench.work.join("view");
        let project = work.join("project");
        fs::create_dir_all(&project)?;
        let folder = work.join("home/.claude/projects").join(project_name(text(&project)));
        fs::create_dir_all(&folder)?;
        for number in 0..SESSIONS {
            let size = match number {
                0 => (ROUNDS, 40),
                1 => LARGE,
                _ => (3, 40),
            };
            write(&folder.join(format!("{}.jsonl", id(number))), &project, &id(number), size)?;
        }
        Ok(Self { binary: bench.binary.clone(), work })
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
        command.env("HOME", self.work.join("home")).current_dir(self.work.join("project"));
        command
    }

    fn import(&self) -> Result<(), String> {
        let done = self.command(&self.binary).args(["import", "--all"]).output();
        let done = done.map_err(|why| why.to_string())?;
        let said = String::from_utf8_lossy(&done.stderr);
        done.status.success().then_some(()).ok_or(format!("import: {said}"))
    }

    fn tmux(&self, words: &[&str]) -> Result<String, String> {
        let mut command = self.command("tmux".as_ref());
        let socket = self.work.join("tmux");
        let done = command.args(["-f", "/dev/null", "-S", text(&socket)]).args(words).output();
        let done = done.map_err(|why| format!("tmux: {why}"))?;
        let said = String::from_utf8_lossy(&done.stderr);
        let printed = String::from_utf8_lossy(&done.stdout);
        done.status.success().then(|| printed.into_owned()).ok_or(format!("tmux: {said}"))
    }

    /// Opens the viewer, and returns the milliseconds until a text is on the screen.
    fn open(&self, session: &str, shows: &str) -> Result<f64, String> {
        let line = format!("exec {} view {session}", self.binary.display());
        // The end of the one before takes time, too.
        self.tmux(&["send-keys", "q"])?;
        std::thread::sleep(Duration::from_millis(300));
        let begun = Instant::now();
        self.tmux(&["respawn-pane", "-k", &line])?;
        self.wait(shows)?;
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    }

    fn wait(&self, shows: &str) -> Result<(), String> {
        let begun = Instant::now();
        let mut screen = String::new();
        while begun.elapsed() < PATIENCE {
            screen = self.tmux(&["capture-pane", "-p"])?;
            if screen.contains(shows) {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        Err(format!("no {shows:?} on the screen:\n{screen}"))
    }

    fn peak_kib(&self) -> Result<u64, String> {
        let pid = self.tmux(&["display-message", "-p", "#{pane_pid}"])?;
        let status = fs::read_to_string(format!("/proc/{}/status", pid.trim()));
        let status = status.map_err(|why| why.to_string())?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|text| text.trim().strip_suffix("kB")?.trim().parse().ok());
        kib.ok_or_else(|| "no peak of memory".to_owned())
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.tmux(&["kill-server"]);
    }
}

/// Writes a session with a prompt and an answer in each round.
fn write(
    path: &Path,
    project: &Path,
    session: &str,
    (rounds, repeats): (usize, usize),
) -> io::Result<()> {
    let mut out = BufWriter::new(fs::File::create(path)?);
    let cwd = project.display();
    let mut parent = "null".to_owned();
    for n in 1..=rounds {
        let at =
            format!("2026-03-{:02}T{:02}:{:02}:00.000Z", 1 + n / 1440 % 28, n / 60 % 24, n % 60);
        let rest = format!(
            r#""isSidechain":false,"sessionId":"{session}","cwd":"{cwd}","timestamp":"{at}""#
        );
        let (user, agent) = (format!("\"{session}-u{n}\""), format!("\"{session}-a{n}\""));
        writeln!(
            out,
            r#"{{"parentUuid":{parent},"type":"user","uuid":{user},{rest},"message":{{"role":"user","content":"prompt {n} about the lexer"}}}}"#
        )?;
        let words = "some words of an answer ".repeat(repeats);
        let used = 20_000 + n * 15;
        writeln!(
            out,
            r#"{{"parentUuid":{user},"type":"assistant","uuid":{agent},{rest},"message":{{"id":"m{n}","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{{"type":"text","text":"ROUND {n} {words}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":7,"cache_read_input_tokens":{used},"output_tokens":9}}}}}}"#
        )?;
        parent = agent;
    }
    out.flush()
}
