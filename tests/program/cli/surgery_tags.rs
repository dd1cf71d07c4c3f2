//! `tag`, `tag --remove` and `tag matrix` over sessions in the client's format.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::cli::verbs::{done, refused, refused_with};
use crate::support::hook::{Hook, PROGRAM};

pub const ONE: &str = "5e550000-0000-4000-8000-000000000001";
pub const TWO: &str = "7c41b2aa-0000-4000-8000-000000000002";

/// A round for each pair of user and agent text; the first at 10:01, one a minute.
fn transcript(hook: &Hook, session: &str, rounds: &[(&str, &str)]) -> PathBuf {
    let mut text = String::new();
    let mut parent = Value::Null;
    let mut row = |kind: &str, id: String, minute: usize, second: u8, message: Value| {
        let row = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external",
            "cwd": hook.project, "sessionId": session, "version": "2.1.329", "type": kind,
            "message": message, "uuid": id,
            "timestamp": format!("2026-03-19T10:{minute:02}:{second:02}.000Z"),
        });
        parent = json!(id);
        text.extend([row.to_string().as_str(), "\n"]);
    };
    for (n, (user, agent)) in rounds.iter().enumerate() {
        let said = json!({ "role": "user", "content": user });
        row("user", format!("{}-u{n}", &session[..8]), n + 1, 0, said);
        let said = json!({
            "id": format!("msg_{n}"), "type": "message", "role": "assistant",
            "model": "claude-opus-5-5", "content": [{ "type": "text", "text": agent }],
            "stop_reason": "end_turn",
            "usage": { "input_tokens": 100 * (n + 1), "output_tokens": 20 },
        });
        row("assistant", format!("{}-a{n}", &session[..8]), n + 1, 30, said);
    }
    let path = hook.transcript.with_file_name(format!("{session}.jsonl"));
    fs::write(&path, text).expect("transcript");
    path
}

/// Two imported sessions of a project.
pub fn two() -> Hook {
    let hook = Hook::of(ONE);
    let rounds = [
        ("design the console", "The architecture is a well-known one."),
        ("write the block store", "The store is append-only."),
        ("a third thing", "Nothing of note."),
        ("colours of the console", "Green on black."),
    ];
    let one = transcript(&hook, ONE, &rounds);
    let two = transcript(&hook, TWO, &[("the console again", "Seen."), ("東京へ", "はい")]);
    for path in [one, two] {
        done(&hook, &["import", path.to_str().expect("utf-8")]);
    }
    hook
}

pub fn json_of(hook: &Hook, args: &[&str]) -> Value {
    serde_json::from_str(&done(hook, args)).expect("JSON")
}

pub fn sessions(hook: &Hook) -> PathBuf {
    hook.home.join(".local/share/brain-guard/sessions")
}

#[test]
fn tag_and_untag_work_by_round_number() {
    let hook = two();
    let said = done(&hook, &["tag", ONE, "1-2,4", "console-work"]);
    assert_eq!(said, "5e550000:1-2,4 tagged console-work\n");
    let said = done(&hook, &["tag", "5e55", "4", "console-work"]);
    assert_eq!(said, "5e550000:4 tagged console-work (1 as before)\n");
    let said = done(&hook, &["tag", "2", "inscription"]);
    assert_eq!(
        said, "5e550000:2 tagged inscription\n  2 had been tagged console-work\n",
        "without a session: the one this runs in"
    );
    let matrix = done(&hook, &["tag", "matrix"]);
    let expected = "ENGAGEMENT    PHASE  claude\nconsole-work         5e550000:1,4\ninscription          5e550000:2\n";
    assert_eq!(matrix, expected);
    let value = json_of(&hook, &["tag", "--remove", "this", "all", "--json"]);
    assert_eq!((&value["changed"], &value["rounds"]), (&json!(3), &json!("1-4")));
    assert_eq!(value["before"], json!({ "console-work": "1, 4", "inscription": "2" }));
    assert!(done(&hook, &["tag", "matrix"]).starts_with("no round is tagged"));
}

#[test]
fn an_invalid_tag_says_why() {
    let hook = two();
    for (args, expected) in [
        (&["tag", ONE, "3-9", "x"][..], "there are no rounds 3-9 in"),
        (&["tag", ONE, "1-4000000000", "x"], "there are no rounds 1-4000000000"),
        (&["tag", "nobody", "1", "x"], "no session nobody found in"),
        (&["tag", "nobody", "1", "x"], "give the path of its file"),
        (&["tag", "./nothing.jsonl", "1", "x"], "there is no file ./nothing.jsonl"),
        (&["tag", "matrix", "x"], "no round is tagged x; engagements there are: none"),
        (&["tag", "--search", "elephants", "x"], "no untagged round holds \"elephants\""),
        (&["tag", "--from", "engagement.md"], "there is no file engagement.md"),
    ] {
        let said = refused(&hook, args);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    for (args, expected) in [
        (&["tag", ONE][..], "rounds or the engagement are missing"),
        (&["tag", "--search", "x"], "--search QUERY takes one engagement"),
        (&["tag", "--from", "f", "x"], "--from reads the engagement from its file"),
        (&["tag", ONE, "0", "x"], "\"0\" is not a range of rounds"),
        (&["tag", ONE, "1", "two words"], "is not an engagement's id"),
    ] {
        let said = refused_with(2, &hook, args);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
}

#[test]
fn an_ambiguous_session_lists_the_candidates() {
    let hook = two();
    let other = "5e550000-0000-4000-8000-000000000009";
    let path = transcript(&hook, other, &[("hello", "there")]);
    done(&hook, &["import", path.to_str().expect("utf-8")]);
    let said = refused(&hook, &["tag", "5e55", "1", "x"]);
    assert!(said.contains("several sessions begin with 5e55"), "{said}");
    assert!(said.contains(ONE) && said.contains(other), "{said}");
    // The clients have removed these files.
    fs::remove_file(&hook.transcript).expect("removed");
    let said = refused(&hook, &["tag", "5e55", "1", "x"]);
    assert!(said.contains(&format!("{ONE} (claude)")) && said.contains(other), "{said}");
    fs::remove_file(&path).expect("removed");
    let said = refused(&hook, &["tag", "5e55", "1", "x"]);
    assert!(said.contains(ONE) && said.contains(&format!("{other} (claude)")), "{said}");
    assert_eq!(done(&hook, &["tag", other, "1", "x"]), "5e550000:1 tagged x\n");
}

/// A session that is not in the store yet is found in its client's folder.
#[test]
fn tag_imports_a_new_session_first() {
    let hook = Hook::of(ONE);
    transcript(&hook, TWO, &[("hello", "there")]);
    let path = transcript(&hook, ONE, &[("hello", "there")]);
    assert_eq!(done(&hook, &["tag", "7c41", "1", "greeting"]), "7c41b2aa:1 tagged greeting\n");
    done(&hook, &["tag", path.to_str().expect("utf-8"), "1", "greeting"]);
    transcript(&hook, ONE, &[("hello", "there"), ("more", "since")]);
    assert_eq!(done(&hook, &["tag", "2", "greeting"]), "5e550000:2 tagged greeting\n", "grown");
    let matrix = done(&hook, &["tag", "matrix", "greeting"]);
    assert!(matrix.contains("5e550000:1-2") && matrix.contains("7c41b2aa:1"), "{matrix}");
}

#[test]
fn without_a_terminal_candidates_are_only_shown() {
    let hook = two();
    let ask = ["tag", "--search", "console", "console-work"];
    let answer = hook.raw(&ask, b"y\n");
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.stdout.contains("  1  ") && answer.stdout.contains("7c41b2aa:001"));
    assert!(answer.stderr.contains("--yes tags these 3 as console-work"), "{answer:?}");
    let listed = hook.raw(&["tag", "--search", "console", "console-work", "--json"], b"");
    assert_eq!(listed.code, Some(1));
    let listed: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    assert_eq!(listed["candidates"].as_array().map(Vec::len), Some(3));
    assert!(done(&hook, &["tag", "matrix"]).starts_with("no round is tagged"));

    done(&hook, &["tag", ONE, "4", "colours"]);
    let said = done(&hook, &["tag", "--search", "console", "console-work", "--yes"]);
    assert!(said.contains("5e550000:1 tagged console-work\n"), "{said}");
    assert!(said.contains("7c41b2aa:1 tagged console-work\n"), "{said}");
    assert!(done(&hook, &["tag", "matrix", "colours"]).contains("5e550000:4"), "it had a tag");
    assert!(refused(&hook, &ask).contains("no untagged round"));
    let again = ["tag", "--search", "console", "console-work", "--yes", "--retag", "--json"];
    let value = json_of(&hook, &again);
    assert_eq!(value["changed"], 1);
    assert_eq!(value["sessions"], json!([{ "session": ONE, "agent": "claude", "rounds": "4" }]));
}

/// A person at a terminal chooses.
#[test]
fn on_a_terminal_tag_asks() {
    let hook = two();
    let run = |answer: &str| {
        let call = format!("{PROGRAM} tag --search console console-work");
        let mut command = Command::new("script");
        command.args(["-qec", &call, "/dev/null"]).env_clear().envs(hook.variables());
        crate::support::hook::finish(command, answer.as_bytes())
    };
    let no = run("n\n");
    assert!(no.stdout.contains("tag these as console-work? y, or the numbers"), "{no:?}");
    assert!(no.stdout.contains("nothing was tagged") && no.code == Some(1), "{no:?}");
    assert!(run("9\n").stdout.contains("the list has no 9"), "{no:?}");
    let some = run("2-3\n");
    assert_eq!(some.code, Some(0), "{some:?}");
    let value = json_of(&hook, &["tag", "matrix", "--json"]);
    let count: u64 = value["lines"][0]["cells"]["claude"]
        .as_array()
        .expect("cells")
        .iter()
        .map(|cell| cell["count"].as_u64().expect("count"))
        .sum();
    assert_eq!(count, 2);
    assert_eq!(run("y\n").code, Some(0));
    assert!(refused(&hook, &["tag", "--search", "console", "x"]).contains("no untagged"));
}

/// The phases in `engagement.md` give the time windows by which rounds are tagged.
#[test]
fn phases_tag_rounds_by_time_and_are_matrix_rows() {
    let hook = two();
    let file = hook.project.join("engagement.md");
    let text = "# Engagement: console-work\n\n## Phases\n\n\
                | phase | from | to |\n|---|---|---|\n\
                | design | 2026-03-19T10:00Z | 2026-03-19T10:02Z |\n\
                | build | 2026-03-19T11:02+01:00 | 2026-03-19T10:04Z |\n";
    fs::write(&file, text).expect("file");
    done(&hook, &["tag", TWO, "2", "other"]);
    let answer = hook.raw(&["tag", "--from", "engagement.md"], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.stdout.contains("5e550000:1-3 tagged console-work\n"), "{answer:?}");
    assert!(answer.stdout.contains("7c41b2aa:1 tagged console-work\n"), "{answer:?}");
    assert!(answer.stderr.contains("1 rounds in these phases keep another tag"), "{answer:?}");
    done(&hook, &["tag", ONE, "4", "console-work"]);
    let expected = "\
ENGAGEMENT    PHASE               claude
console-work  design              5e550000:1
                                  7c41b2aa:1
              build               5e550000:2-3
              outside its phases  5e550000:4
";
    assert_eq!(done(&hook, &["tag", "matrix", "console-work"]), expected);

    // One session, with rounds that have another tag.
    done(&hook, &["tag", "--from", "engagement.md", "--session", TWO, "--retag"]);
    assert!(done(&hook, &["tag", "matrix"]).contains("7c41b2aa:2"));
    // A file from another project.
    fs::create_dir(hook.home.join("elsewhere")).expect("folder");
    let other = hook.home.join("elsewhere/engagement.md");
    fs::copy(&file, &other).expect("copy");
    let said = refused(&hook, &["tag", "--from", other.to_str().expect("utf-8")]);
    assert!(said.contains("no imported session ran in") && said.contains("--project"), "{said}");
    fs::write(&file, "# Engagement: console-work\n").expect("file");
    let said = refused(&hook, &["tag", "--from", "engagement.md"]);
    assert!(said.contains("no phase with a time"), "{said}");
}

/// Two processes read and write at the same time; both tags are stored.
#[test]
fn tags_of_two_processes_are_both_stored() {
    let hook = two();
    std::thread::scope(|scope| {
        for n in 1..=4 {
            let hook = &hook;
            scope.spawn(move || {
                for _ in 0..4 {
                    done(hook, &["tag", ONE, &n.to_string(), &format!("e{n}")]);
                }
            });
        }
    });
    let matrix = done(&hook, &["tag", "matrix"]);
    for n in 1..=4 {
        let line = matrix.lines().find(|line| line.starts_with(&format!("e{n}")));
        assert!(line.is_some_and(|line| line.ends_with(&format!("5e550000:{n}"))), "{matrix}");
    }
}

#[test]
fn a_database_of_another_format_is_left_alone() {
    let hook = two();
    let path = sessions(&hook).join("claude").join(ONE).join("session.db");
    let before = fs::read(&path).expect("database");
    let mut newer = before.clone();
    // `user_version` is a number in the file's header.
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&path, &newer).expect("database");
    let said = refused(&hook, &["tag", ONE, "1", "x"]);
    assert!(said.contains("session.db has format 99"), "{said}");
    assert_eq!(fs::read(&path).expect("database"), newer);
}

/// A store on a read-only medium is read, but not tagged.
#[test]
fn a_read_only_store_can_be_read() {
    let hook = two();
    done(&hook, &["tag", ONE, "1", "console-work"]);
    let store = hook.home.join(".local/share/brain-guard");
    let store = store.to_str().expect("utf-8");
    let run = |args: &[&str]| {
        let mut command = Command::new("bwrap");
        command.args(["--dev-bind", "/", "/", "--ro-bind", store, store, "--", PROGRAM]);
        command.args(args).env_clear().envs(hook.variables()).current_dir(&hook.project);
        crate::support::hook::finish(command, b"")
    };
    let found = run(&["search", "console"]);
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(found.stdout.contains("#console-work"), "{found:?}");
    assert!(run(&["tag", "matrix"]).stdout.contains("5e550000:1"));
    let tagged = run(&["tag", ONE, "2", "x"]);
    assert_eq!(tagged.code, Some(1), "{tagged:?}");
    assert!(tagged.stderr.contains("Read-only file system"), "{tagged:?}");
}

#[test]
fn tags_hold_at_the_second_operation() {
    let hook = two();
    done(&hook, &["tag", ONE, "1-2", "console-work"]);
    done(&hook, &["tag", ONE, "4", "colours"]);
    let made = |args: &[&str]| json_of(&hook, &[args, &["--json"]].concat());
    let children = made(&["surgery", "split", ONE, "--by-tag"])["sessions"].clone();
    let names: Vec<&str> = children
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|c| c["engagement"].as_str())
        .collect();
    assert_eq!(names, ["colours", "console-work"]);
    let child = children[1]["id"].as_str().expect("an id");
    let tags = |id: &str| -> Vec<Value> {
        let rounds = made(&["rounds", id])["rounds"].as_array().expect("rounds").clone();
        rounds.into_iter().map(|round| round["engagement"].clone()).collect()
    };
    // A table has no tag, the child's rounds have theirs, and a tag set in it holds in its successor.
    assert_eq!(tags(child), [Value::Null, json!("console-work"), json!("console-work")]);
    done(&hook, &["tag", child, "all", "build"]);
    let next = made(&["surgery", "compress-before", child, "round:3"]);
    let next = next["id"].as_str().expect("an id");
    assert_eq!(tags(next).last(), Some(&json!("build")));
    assert_eq!(tags(ONE)[..2], [json!("build"), json!("build")]);
    let said = refused(&hook, &["tag", child, "1", "build"]);
    assert!(said.contains("no round in 1 can have a tag"), "{said}");
    // The map of a split tags, too.
    let map = hook.project.join("map.json");
    fs::write(&map, r#"{"engagements":{"third":"3"}}"#).expect("the map");
    made(&["surgery", "split", ONE, map.to_str().expect("utf-8")]);
    assert_eq!(tags(ONE)[2], json!("third"));
    done(&hook, &["tag", "--remove", TWO, "all"]);
    let said = refused(&hook, &["surgery", "split", TWO, "--by-tag"]);
    assert!(said.contains("no round of 7c41b2aa is tagged"), "{said}");
}

#[test]
fn an_import_keeps_the_phases_of_its_engagement() {
    let hook = Hook::of(ONE);
    let text = "# Engagement: console-work\n\n## Phases\n\n- design: 2026-03-19T10:00Z to 2026-03-19T10:02Z\n\
                - build: 2026-03-19T10:02Z to 2026-03-19T11:00Z\n";
    fs::write(hook.project.join("engagement.md"), text).expect("file");
    let path = transcript(&hook, ONE, &[("design the console", "a"), ("build it", "b")]);
    done(&hook, &["import", path.to_str().expect("utf-8")]);
    let matrix = done(&hook, &["tag", "matrix", "console-work"]);
    assert!(matrix.contains("design  5e550000:1\n"), "{matrix}");
    assert!(matrix.contains("build   5e550000:2\n"), "{matrix}");
    let many = "- p: 2026-03-19T10:00Z to 2026-03-19T10:01Z\n".repeat(1001);
    fs::write(
        hook.project.join("engagement.md"),
        format!("# Engagement: x\n\n## Phases\n\n{many}"),
    )
    .expect("file");
    let said = refused(&hook, &["tag", "--from", "engagement.md"]);
    assert!(said.contains("there are more than 1000 phases"), "{said}");
}

#[test]
fn revive_makes_no_session_that_is_not_shorter() {
    let hook = two();
    let said = refused(&hook, &["surgery", "revive", TWO]);
    assert!(said.contains("a successor would not be shorter: "), "{said}");
    assert_eq!(done(&hook, &["surgery", "log"]), "");
}
