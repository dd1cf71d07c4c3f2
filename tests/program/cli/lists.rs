//! `sessions` and `rounds`.

use std::fs;

use serde_json::{Value, json};

use crate::cli::surgery::world::{ID, OTHER, World};

const AGENT: &str = "agent-a1b2c3d4e5f60718";

/// Ids in the order of the list.
fn ids(list: &Value) -> Vec<&str> {
    let sessions = list["sessions"].as_array().expect("a list");
    sessions.iter().filter_map(|session| session["session"].as_str()).collect()
}

#[test]
fn rounds_lists_every_round_of_a_session() {
    let world = World::new(3);
    world.done(&["tag", ID, "2", "console-work"]);
    let list = world.done(&["rounds", "3f0a9d1e"]);
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 5, "{list}");
    assert!(lines[0].starts_with("001  2026-03-19T10:10Z  "), "{list}");
    assert!(lines[1].ends_with("#console-work  question 2 about apples"), "{list}");
    assert!(lines[3].starts_with("3 rounds, 3 in the context with "), "{list}");
    assert_eq!(lines[4], "read one: brain-guard show 3f0a9d1e:3");
    assert!(!list.contains('\x1b'), "no colour in a pipe");
    assert!(world.done(&["show", "3f0a9d1e:3"]).contains("question 3"), "as the list says");

    // What is new is imported, and a file is a name, too.
    world.write(ID, &world.session(ID, 4, 0));
    let file = world.file(ID);
    let last = world.json(&["rounds", file.to_str().expect("utf-8"), "--last", "1"]);
    assert_eq!((&last["session"], &last["total"]), (&json!(ID), &json!(4)));
    let [round] = &last["rounds"].as_array().expect("a list")[..] else { panic!("{last}") };
    assert_eq!((&round["round"], &round["ref"]), (&json!(4), &json!("3f0a9d1e:004")));
    assert_eq!(round["state"], "in_context");
    assert_eq!(round["summary"], "question 4 about apples");
}

#[test]
fn rounds_marks_what_was_rewound() {
    let world = World::new(3);
    // Back to the first round, then on.
    let rewound = world.round(ID, 4, 60).replacen(
        "3f0a9d1e-0003-4000-8000-000000000005",
        "3f0a9d1e-0001-4000-8000-000000000005",
        1,
    );
    world.write(ID, &(world.session(ID, 3, 0) + &rewound));
    let list = world.done(&["rounds", ID]);
    assert_eq!(list.matches("(rewound) question").count(), 2, "{list}");
    assert!(list.contains("\n4 rounds, 2 in the context"), "{list}");
    let states = world.json(&["rounds", ID]);
    assert_eq!(states["rounds"][1]["state"], "rewound");
}

#[test]
fn sessions_lists_imported_ones_with_figures_and_others_with_their_size() {
    let world = World::new(3);
    assert!(world.done(&["sessions"]).contains("not imported, "), "nothing is imported yet");
    world.done(&["import", ID]);
    world.done(&["tag", ID, "1-2", "console-work"]);
    world.write(OTHER, &world.session(OTHER, 2, 5));
    let list = world.json(&["sessions"]);
    // The file of the other one was written just now.
    assert_eq!(ids(&list), [OTHER, ID]);
    assert_eq!((&list["total"], &list["not_imported"]), (&json!(2), &json!(1)));
    let [other, one] = &list["sessions"].as_array().expect("a list")[..] else { panic!() };
    assert_eq!((&other["imported"], &other["rounds"]), (&json!(false), &Value::Null));
    assert_eq!(other["project"], json!(world.hook.project));
    assert!(other["bytes"].as_u64() > Some(1_000), "{other}");
    assert_eq!((&one["imported"], &one["rounds"]), (&json!(true), &json!(3)));
    assert_eq!(one["engagements"], json!(["console-work"]));
    let rounds = world.json(&["rounds", ID]);
    assert_eq!(one["tokens"], rounds["in_context"]["tokens"], "as the rounds say");

    let list = world.done(&["sessions"]);
    assert!(list.contains("\n3f0a9d1e  2026-03-19T10:10–10:30 "), "{list}");
    assert!(list.ends_with("\n1 session is not imported: brain-guard import --all\n"), "{list}");
    let limited = world.done(&["sessions", "--limit", "1"]);
    assert!(limited.contains("\n1 more: --limit 2; list the rounds"), "{limited}");
    // An imported session stays in the list without its file.
    fs::remove_file(world.file(ID)).expect("removed");
    assert_eq!(ids(&world.json(&["sessions"])), [OTHER, ID]);
}

#[test]
fn sessions_names_the_parent_of_a_successor() {
    let world = World::new(4);
    let made = world.json(&["surgery", "compress-before", ID, "round:3"]);
    let made = made["id"].as_str().expect("made");
    for imported in [false, true] {
        if imported {
            world.done(&["import", "--all"]);
        }
        let list = world.json(&["sessions"]);
        let row = list["sessions"].as_array().expect("a list").iter();
        let row = row.clone().find(|row| row["session"] == made).expect("listed");
        assert_eq!((&row["made_from"], &row["imported"]), (&json!(ID), &json!(imported)));
    }
    assert!(world.done(&["sessions"]).contains("from 3f0a9d1e"));
}

#[test]
fn sessions_of_subagents_and_of_other_projects_are_left_out() {
    let world = World::new(1);
    let agents = world.folder().join(ID).join("subagents");
    fs::create_dir_all(&agents).expect("folder");
    fs::write(agents.join(format!("{AGENT}.jsonl")), world.session(AGENT, 1, 0)).expect("written");
    let elsewhere = world.folder().with_file_name("-somewhere-else");
    fs::create_dir_all(&elsewhere).expect("folder");
    let text = world.session(OTHER, 1, 0);
    let text = text.replace(world.hook.project.to_str().expect("utf-8"), "/somewhere/else");
    fs::write(elsewhere.join(format!("{OTHER}.jsonl")), text).expect("written");
    for imported in [false, true] {
        if imported {
            world.done(&["import", "--all"]);
        }
        let sorted = |args: &[&str]| {
            let list = world.json(args);
            let mut ids: Vec<String> = ids(&list).into_iter().map(str::to_owned).collect();
            ids.sort();
            ids
        };
        assert_eq!(sorted(&["sessions"]), [ID], "imported: {imported}");
        assert_eq!(sorted(&["sessions", "--agents"]), [ID, AGENT]);
        assert_eq!(sorted(&["sessions", "--all"]), [ID, OTHER]);
    }
    let nowhere = crate::cli::verbs::outside(ID);
    let said = crate::cli::verbs::done(&nowhere, &["sessions"]);
    assert!(said.starts_with("no session of ") && said.contains("sessions --all"), "{said}");
}
