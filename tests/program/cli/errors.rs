//! The answers to wrong calls, all in `fixtures/errors.txt`; `UPDATE_GOLDEN=1` rewrites it. An
//! error says what failed, on which file or id, why, and what helps.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use testing::checked_in::difference;
use testing::commands::all_commands;

use crate::cli::surgery::world::{OTHER, World, client_folder_name};
use crate::support::hook::{Answer, Hook};

/// Calls outside of a session, with one session imported and one not.
const OUTSIDE: &[&str] = &[
    "frobnicate",
    "view",
    "status --session ../x",
    "status --session 00000000",
    "explain --session 00000000",
    "override soon",
    "override",
    "log --since soon",
    "append --kind risk 'the pause'",
    "seal",
    "close abc123",
    "phase enter design",
    "phase exit",
    "job pause",
    "import",
    "import 00000000",
    "import nowhere.jsonl",
    "store export",
    "store export 00000000",
    "store export 3f0a9d1e --out there.jsonl",
    "store export 3f0a9d1e --edition 7",
    "validate 00000000",
    "mend 00000000",
    "tag --remove",
    "tag 3f0a9d1e 1",
    "sessions --limit 0",
    "rounds 00000000",
    "rounds 3f0a9d1e --last none",
    "show",
    "show 3f0a9d1e",
    "show 3f0a9d1e:99",
    "show 3f0a9d1e:x",
    "show 00000000:1",
    "search",
    "search '\"\"'",
    "search apples --since soon",
    "search apples --engagement nobody",
    "tag 3f0a9d1e 9-12 console-work",
    "tag 3f0a9d1e x console-work",
    "tag 3f0a9d1e 1 'console work'",
    "tag --from nowhere.md",
    "tag --from broken.md",
    "tag --remove 3f0a9d1e console-work",
    "tag matrix nobody",
    "advise 00000000",
    "surgery compress-before 3f0a9d1e",
    "surgery compress-before 3f0a9d1e soon",
    "surgery compress-before 3f0a9d1e round:9",
    "surgery compress-before 3f0a9d1e round:1",
    "surgery compress-before 3f0a9d1e round:3 --out there.jsonl",
    "surgery compress-engagement 3f0a9d1e nobody",
    "surgery extract-engagement 3f0a9d1e nobody",
    "surgery merge 3f0a9d1e",
    "surgery merge 3f0a9d1e 3f0a9d1e",
    "surgery split 3f0a9d1e nowhere.json",
    "surgery split 3f0a9d1e broken.json",
    "surgery split 3f0a9d1e rounds.json",
    "extract plan 00000000",
    "extract restore 3f0a9d1e 00000000",
];

/// Calls in an open session.
const INSIDE: [&str; 10] = [
    "append --kind nonsense x",
    "append --kind risk ''",
    "close abc123",
    "close zzz",
    "phase enter ''",
    "phase exit",
    "job accept nobody",
    "override 30m",
    "override --off",
    "now --session 00000000",
];

/// A job without a name is called by the day.
fn without_date(said: &str) -> String {
    let mut parts = said.split("the job project-");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| format!("{all}the job app-{}", &part["20260319-".len()..]))
}

fn answered(all: &mut String, hook: &Hook, calls: &[&str], home: &Path) {
    for call in calls {
        let command = all_commands(call).pop().expect("a command");
        let args: Vec<&str> = command.iter().map(String::as_str).collect();
        let Answer { stdout, stderr, code } = hook.raw(&args, b"");
        assert_ne!(code, Some(0), "{call}: {stdout}");
        let said = stderr
            .replace(&home.display().to_string(), "/home/me")
            .replace(&hook.project.display().to_string(), "/work/app")
            .replace(&client_folder_name(&hook.project), "-work-app");
        let said = without_date(&said);
        let _ = write!(all, "$ brain-guard {call}\n{said}exit code {}\n\n", code.unwrap_or(-1));
    }
}

#[test]
fn errors_match_the_fixture() {
    let world = World::new(3);
    world.done(&["import", "--all"]);
    world.write(OTHER, &world.session(OTHER, 2, 5));
    let here = &world.hook.project;
    for (name, text) in [
        ("there.jsonl", "{}\n"),
        ("broken.md", "id: console work\n"),
        ("broken.json", "{\"shared\": \"1\",\n"),
        ("rounds.json", r#"{"shared": "1", "engagements": {"console-work": "2-9"}}"#),
    ] {
        fs::write(here.join(name), text).expect("written");
    }
    let mut all = String::new();
    answered(&mut all, &world.hook, OUTSIDE, &world.hook.home);
    let hook = Hook::begun();
    answered(&mut all, &hook, &INSIDE, &hook.home);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/errors.txt");
    let wrong = difference(&path, &all, "UPDATE_GOLDEN=1 cargo test --test program cli::errors");
    assert_eq!(wrong, None, "{}", wrong.as_deref().unwrap_or_default());
}
