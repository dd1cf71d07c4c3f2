//! `search` over imported sessions.

use std::fs;

use crate::cli::surgery_tags::{TWO, json_of, sessions, two};
use crate::cli::verbs::{done, refused, refused_with};

#[test]
fn search_finds_imported_words() {
    let hook = two();
    let said = done(&hook, &["search", "console", "design"]);
    assert_eq!(
        said,
        "5e550000:001  2026-03-19T10:01Z  claude\n       [design] the [console]\n\
         in full: brain-guard show 5e550000:001\n"
    );
    assert_eq!(
        json_of(&hook, &["search", "console", "--json"])["rounds"].as_array().map(Vec::len),
        Some(3)
    );
    let one = json_of(&hook, &["search", "console", "--session", TWO, "--json"]);
    assert_eq!(one["rounds"][0]["ref"], "7c41b2aa:001");
    assert_eq!(one["rounds"][0]["snippet"], "the [console] again");
    let limited = done(&hook, &["search", "console", "--limit", "1"]);
    assert!(limited.contains("--limit shows more"), "{limited}");
    assert_eq!(json_of(&hook, &["search", "京", "--json"])["rounds"][0]["round"], 2);
    let since = ["search", "console", "--since", "2026-03-19T11:03+01:00", "--json"];
    assert_eq!(json_of(&hook, &since)["rounds"][0]["round"], 4, "in another zone");
    done(&hook, &["tag", TWO, "1", "again"]);
    let tagged = done(&hook, &["search", "console", "--engagement", "again"]);
    assert!(tagged.starts_with("7c41b2aa:001  2026-03-19T10:01Z  claude  #again\n"), "{tagged}");
    assert!(done(&hook, &["search", "elephants"]).starts_with("no round holds"));
    assert!(done(&hook, &["search", "NOT (console*"]).starts_with("no round holds"));
}

#[test]
fn a_search_without_a_hit_says_how_to_import() {
    let hook = two();
    assert!(!done(&hook, &["search", "elephants"]).contains("import --all"));
    let folder = hook.home.join(".claude/projects/p");
    fs::create_dir_all(&folder).expect("folder");
    fs::write(folder.join("a0000000-0000-4000-8000-000000000000.jsonl"), "{}\n").expect("written");
    let said = done(&hook, &["search", "elephants"]);
    assert!(said.contains("\n1 session is not imported: brain-guard import --all\n"), "{said}");
    let command = "as it ends: brain-guard settings set surgery.import session-end\n";
    assert!(said.ends_with(command), "{said}");
    let settings = hook.home.join(".claude/brain-guard/settings.json");
    fs::create_dir_all(settings.parent().expect("folder")).expect("folder");
    fs::write(settings, r#"{"surgery": {"import": "session-end"}}"#).expect("written");
    let said = done(&hook, &["search", "elephants"]);
    assert!(said.contains("import --all") && !said.contains("as it ends"), "{said}");
    assert!(!done(&hook, &["search", "console"]).contains("import"));
}

#[test]
fn an_invalid_search_says_why() {
    let hook = two();
    for (args, code, expected) in [
        (&["search", "console", "--engagement", "x"][..], 1, "no round is tagged x"),
        (&["search", "\"\""], 1, "has no word"),
        (&["search", "console", "--since", "round:1"], 2, "--since takes a time"),
        (&["search", "console", "--since", "soon"], 2, "soon"),
    ] {
        let said = refused_with(code, &hook, args);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
}

#[test]
fn a_damaged_database_names_the_way_out() {
    let hook = two();
    let path = sessions(&hook).join("search.db");
    fs::write(&path, "not a database, and long enough to be taken for one".repeat(100))
        .expect("write");
    let said = refused(&hook, &["search", "console"]);
    assert!(said.contains("search.db is damaged"), "{said}");
    assert!(said.contains("brain-guard doctor --fix"), "{said}");
}
