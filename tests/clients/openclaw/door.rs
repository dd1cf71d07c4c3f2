//! The plugin in `integrations/openclaw`, in a gateway that runs: what leaves its requests, and what
//! comes back. Our program only reads OpenClaw's database.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::openclaw::client::{Client, Gateway};
use crate::openclaw::session::ID;
use crate::openclaw::world::World;
use crate::support::evidence::Evidence;
use crate::support::hook::{Answer, PROGRAM, finish};
use crate::support::mock::{Mock, Reply, Request};

const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/integrations/openclaw");

/// A home in which OpenClaw knows the mock.
struct Home {
    dir: tempfile::TempDir,
    mock: Mock,
    client: Client,
    port: u16,
}

/// Reads one of five files for a task, and does with the first placeholder what it is asked.
fn agent(request: &Request) -> Reply {
    let all = request.messages();
    // OpenClaw puts a message of its own behind the task.
    let at = all.iter().rposition(|message| message.to_string().contains("please "));
    let (asked, after) = all[at.unwrap_or(0)..].split_first().expect("a message");
    if after.iter().any(|message| message["role"] == "assistant") {
        return Reply::text("seen");
    }
    let asked = asked.to_string();
    let texts = request.body["messages"].to_string();
    let id = texts.split("[[extracted-").nth(1).and_then(|rest| rest.split("]]").next());
    let id = id.unwrap_or("none");
    if asked.contains("please restore") {
        let input = json!({"action": "restore", "entry_id": id});
        return Reply::tool("purge_control", input);
    }
    if asked.contains("please keep") {
        let input = json!({"action": "set_extractable", "entry_id": id, "value": "false"});
        return Reply::tool("purge_control", input);
    }
    let names = asked.split("please read ").nth(1).and_then(|rest| rest.split('"').next());
    let mut calls = names.unwrap_or_default().split(" and ").map(|name| json!({ "path": name }));
    let first = Reply::tool("read", calls.next().expect("a name"));
    calls.fold(first, |all, call| all.and_tool("read", call))
}

/// What a file holds.
fn lines(n: u32) -> String {
    let line = |line| format!("file {n}, line {line}: naïve \u{1f9e0} words\n");
    (0..400).map(line).collect::<Vec<_>>().concat()
}

impl Home {
    fn new(client: Client) -> Self {
        let dir = tempfile::tempdir().expect("a home");
        let mock = Mock::start(Box::new(agent), Box::new(agent), false, &Evidence::default());
        for folder in [".openclaw", ".local/bin", "work"] {
            fs::create_dir_all(dir.path().join(folder)).expect("a folder");
        }
        for n in 1..6 {
            fs::write(dir.path().join(format!("work/{n}.txt")), lines(n)).expect("a file");
        }
        symlink(PROGRAM, dir.path().join(".local/bin/brain-guard")).expect("a link");
        let port = crate::openclaw::client::free();
        let config = json!({
            "models": {"providers": {"mock": {
                "baseUrl": mock.url(), "apiKey": "none", "api": "anthropic-messages",
                "models": [{"id": "mock", "name": "mock", "contextWindow": 200_000, "maxTokens": 8_000}],
            }}},
            "agents": {"defaults": {"workspace": dir.path().join("work"), "model": {"primary": "mock/mock"}}},
            "gateway": {"mode": "local", "port": port, "bind": "loopback", "auth": {"mode": "none"}},
        });
        fs::write(dir.path().join(".openclaw/openclaw.json"), config.to_string()).expect("config");
        Self { dir, mock, client, port }
    }

    fn gateway(&self) -> Gateway {
        self.client.gateway(self.dir.path(), self.port)
    }

    /// A turn of a session.
    fn turn(&self, key: &str, text: &str, more: &[&str]) {
        let key = format!("agent:main:{key}");
        let args = ["agent", "--agent", "main", "--session-key", &key, "--json", "--message", text];
        self.client.run(self.dir.path(), &[&args, more].concat());
    }

    /// Five turns of a session, and the bytes of the messages in their first requests.
    fn work(&self, key: &str) -> Vec<usize> {
        let before = self.mock.main().len();
        // Two at once have results of the same millisecond.
        for names in ["1.txt and 2.txt", "3.txt", "4.txt", "5.txt", "3.txt"] {
            self.turn(key, &format!("please read {names}"), &[]);
        }
        let all = self.mock.main();
        let sizes = all[before..].iter().map(|one| one.body["messages"].to_string().len());
        sizes.step_by(2).collect()
    }

    fn last(&self) -> String {
        self.mock.main().last().expect("a request").body["messages"].to_string()
    }

    fn run(&self, args: &[&str]) -> Answer {
        let mut command = Command::new(PROGRAM);
        command.args(args).env_clear().env("HOME", self.dir.path()).current_dir(self.dir.path());
        finish(command, b"")
    }
}

#[test]
#[ignore = "needs OpenClaw (0.9 GB): ./test --openclaw"]
fn a_running_gateway_gets_lean_and_has_everything_back() {
    let home = Home::new(Client::find().unwrap_or_else(|why| panic!("{why}")));
    let gateway = home.gateway();
    let without = home.work("plain");
    gateway.stop();
    let install = ["plugins", "install", "--force", "--accept-capabilities", "--link", PLUGIN];
    home.client.run(home.dir.path(), &install);
    let gateway = home.gateway();
    let with = home.work("main");
    assert!(with[4] < without[4] * 6 / 10, "{with:?} and {without:?}");
    for begins in ["«file 1, line 0", "«file 2, line 0", "«file 3, line 0"] {
        assert_eq!(home.last().matches(begins).count(), 1, "{begins}");
    }

    home.turn("main", "please restore it", &[]);
    let whole = serde_json::to_string(&lines(1)).expect("JSON");
    let body = whole.trim_matches('"');
    assert_eq!(home.last().matches(body).count(), 1, "it is the call's result");
    home.turn("main", "please keep it", &[]);
    home.turn("main", "please read 4.txt", &[]);
    assert_eq!(home.last().matches(body).count(), 2, "it is back where it was, too");

    // Two sessions at once don't get each other's.
    thread::scope(|scope| {
        for key in ["one", "two"] {
            let home = &home;
            scope.spawn(move || home.work(key));
        }
    });
    // A gateway that was killed goes on as lean, and so does one turn without it.
    drop(gateway);
    let gateway = home.gateway();
    home.turn("one", "please read 4.txt", &[]);
    assert!(home.last().contains("[[extracted-"));
    gateway.stop();
    home.turn("two", "please read 4.txt", &["--local"]);
    assert!(home.last().contains("[[extracted-"));

    let found = home.run(&["search", "keep"]);
    assert_eq!(found.code, Some(0), "{found:?}");
}

/// A plugin that lacks what this OpenClaw wants: only its log says so, and `doctor` reads it.
#[test]
#[ignore = "needs OpenClaw (0.9 GB): ./test --openclaw"]
fn doctor_says_that_a_gateway_leaves_the_plugin_out() {
    let home = Home::new(Client::find().unwrap_or_else(|why| panic!("{why}")));
    let plugin = home.dir.path().join("plugin");
    fs::create_dir(&plugin).expect("a folder");
    for name in ["index.js", "openclaw.plugin.json", "package.json"] {
        let text = fs::read_to_string(Path::new(PLUGIN).join(name)).expect("a file");
        let text = text.replace("currentTurnFence: 'before-current-turn-entry-v1',", "");
        fs::write(plugin.join(name), text).expect("a file");
    }
    let config = home.dir.path().join(".openclaw/openclaw.json");
    let mut json: Value =
        serde_json::from_slice(&fs::read(&config).expect("config")).expect("JSON");
    json["logging"] = json!({"file": home.dir.path().join("openclaw.log")});
    fs::write(&config, json.to_string()).expect("config");
    let plugin = plugin.to_str().expect("utf-8");
    let install = ["plugins", "install", "--force", "--accept-capabilities", "--link", plugin];
    home.client.run(home.dir.path(), &install);
    let seen = || {
        let text = home.run(&["doctor"]).stdout;
        text.lines().find(|line| line.contains("  openclaw ")).expect("a line").to_owned()
    };
    assert!(seen().contains("uses the plugin"), "{}", seen());
    let gateway = home.gateway();
    home.turn("main", "please read 1.txt", &[]);
    gateway.stop();
    assert!(seen().contains("left the plugin out"), "{}", seen());
}

/// What the model gets is in the ledger alone.
#[test]
#[ignore = "needs OpenClaw (0.9 GB): ./test --openclaw"]
fn a_database_is_planned_as_its_file_and_only_read() {
    let client = &Client::find().unwrap_or_else(|why| panic!("{why}"));
    let world = World::of_a_database(client);
    let before = client.messages(world.home(), ID);
    let file = World::of_a_file();
    let mut plans =
        [world.planned(&world.place()), file.planned(file.file().to_str().expect("name"))];
    for plan in &mut plans {
        // These fields differ by the place of the session.
        let plan = plan.as_object_mut().expect("plan");
        plan.retain(|name, _| {
            !["session", "path", "place", "file", "kind"].contains(&name.as_str())
        });
    }
    assert_eq!(plans[0], plans[1], "the same session is planned otherwise");
    let why = world.refused(&["run", &world.place()]);
    assert!(why.contains("never written"), "{why}");

    // However little it is.
    let settings = world.home().join(".claude/brain-guard/settings.json");
    fs::create_dir_all(settings.parent().expect("a folder")).expect("a folder");
    fs::write(settings, json!({"extract": {"when": "interval"}}).to_string()).expect("settings");
    let opened = opens(&world, &["extract", "keep", &world.place(), "--drops-thinking"]);
    assert!(opened.iter().any(|open| open.contains("openclaw-agent.sqlite\"")), "{opened:?}");
    for open in opened.iter().filter(|open| open.contains("openclaw-agent.sqlite\"")) {
        assert!(open.contains("O_RDONLY"), "{open}");
    }
    assert_eq!(client.messages(world.home(), ID), before);
    let masked = world.extracted(&["context", &world.place()]);
    assert!(masked.contains("message.content.0.text"), "{masked}");
    let why = world.refused(&["restore", &world.place(), "all", "--in-place"]);
    assert!(why.contains("never written"), "{why}");
    let whole = world.extracted(&["restore", &world.place(), "all"]);
    assert!(whole.contains("cc -O2 -c part.c 0"), "{whole:.300}");
}

/// The calls by which the program opens files.
fn opens(world: &World, args: &[&str]) -> Vec<String> {
    let trace = world.home().join("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-e", "trace=open,openat", "-o"]).arg(&trace).arg(PROGRAM).args(args);
    command.env_clear().env("HOME", world.home()).env("PATH", "/usr/bin:/bin");
    let done = command.stdout(Stdio::null()).status().expect("strace");
    assert!(done.success(), "{args:?}");
    let text = fs::read_to_string(Path::new(&trace)).expect("a trace");
    text.lines().map(str::to_owned).collect()
}
