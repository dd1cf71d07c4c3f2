//! What each operation makes, and that it changes no existing session.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::world::{ID, OTHER, World, files, rows, said};
use crate::cli::verbs::refused_with;

fn path(made: &serde_json::Value) -> &Path {
    Path::new(made["path"].as_str().expect("path"))
}

/// The prompts in a file, without index tables.
fn prompts(path: &Path) -> Vec<String> {
    said(path).into_iter().filter(|text| text.starts_with("question")).collect()
}

fn questions(numbers: &[u32]) -> Vec<String> {
    numbers.iter().map(|n| format!("question {n} about apples")).collect()
}

#[test]
fn compress_before_makes_a_table_and_keeps_later_rounds() {
    let world = World::new(6);
    let before = files(&world.folder());
    let made = world.json(&["surgery", "compress-before", ID, "2026-03-19T10:35Z"]);
    let file = path(&made);
    assert_eq!(file.parent(), Some(world.folder().as_path()));
    assert_eq!(file.file_stem().unwrap().to_str(), made["id"].as_str());
    assert_eq!(prompts(file), questions(&[4, 5, 6]));
    let table = &said(file)[0];
    for n in 1..=3 {
        let line = format!(
            "| 00{n} | 2026-03-19T10:{n}0Z | user→assistant | [tool_use: Bash·look at {n}] → \"the answer {n} is known\" |"
        );
        assert!(table.lines().any(|l| l == line), "{line}\n{table}");
    }
    assert!(rows(file).iter().all(|row| row["sessionId"] == made["id"] || row["uuid"].is_null()));
    assert_eq!(made["operation"], "compress-before");
    assert_eq!(made["lineage"]["parent_session"], ID);
    let tokens = &made["tokens"];
    let (all, left) = (tokens["before"].as_u64().unwrap(), tokens["after"].as_u64().unwrap());
    assert!(left < all && left > 0, "{tokens}");
    assert_eq!((&tokens["pays_after"], &tokens["cache_cold"]), (&0.into(), &true.into()));
    // The session itself is unchanged.
    let mut after = files(&world.folder());
    after.remove(file).expect("the new file");
    assert_eq!(after, before);
    world.done(&["validate", file.to_str().unwrap()]);
}

#[test]
fn a_cut_accepts_a_time_a_round_or_an_age() {
    let world = World::new(4);
    for cut in ["2026-03-19T10:25Z", "2026-03-19T11:25+01:00", "2026-03-19T05:55-04:30", "round:3"]
    {
        let made = world.json(&["surgery", "compress-before", ID, cut]);
        assert_eq!(prompts(path(&made)), questions(&[3, 4]), "{cut}");
    }
    let bare = world.run(&["surgery", "compress-before", ID, "2026-03-19T10:25"]);
    assert_eq!(bare.code, Some(0), "{bare:?}");
    assert!(bare.stderr.contains("read as 2026-03-19T10:25Z"), "{bare:?}");
    let zone = refused_with(2, &world.hook, &["surgery", "compress-before", ID, "half past ten"]);
    assert!(zone.contains("half past ten") && zone.contains("round:16"), "{zone}");
}

#[test]
fn both_spellings_give_the_same_session() {
    let world = World::new(4);
    world.done(&["tag", ID, "2-3", "console-work"]);
    for (own, seeds) in [
        (vec!["compress-before", ID, "round:3"], vec!["--full-after", "round:3"]),
        (vec!["extract-engagement", ID, "console-work"], vec!["--engagement", "console-work"]),
        (
            vec!["compress-engagement", ID, "console-work"],
            vec!["--compress-engagement", "console-work"],
        ),
    ] {
        let own = world.json(&[&["surgery"], own.as_slice()].concat());
        let seeds = world.json(&[&["export-claude", ID], seeds.as_slice()].concat());
        assert_eq!(said(path(&own)), said(path(&seeds)));
        assert_eq!(own["whole"], seeds["whole"]);
    }
    let both = world.run(&["export-claude", ID, "--full-after", "round:3", "--engagement", "x"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn engagements_are_compressed_and_extracted() {
    let world = World::new(5);
    world.done(&["tag", ID, "2-3", "console-work"]);
    let compressed = world.json(&["surgery", "compress-engagement", ID, "console-work"]);
    assert_eq!(prompts(path(&compressed)), questions(&[1, 4, 5]));
    let extracted = world.json(&["surgery", "extract-engagement", ID, "console-work"]);
    assert_eq!(prompts(path(&extracted)), questions(&[2, 3]));
    assert_eq!(extracted["lineage"]["engagements"], serde_json::json!(["console-work"]));
}

#[test]
fn merge_sorts_by_time_and_split_separates_again() {
    let world = World::new(3);
    world.write(OTHER, &world.session(OTHER, 2, 5));
    let merged = world.json(&["surgery", "merge", ID, "7c41b2aa"]);
    assert_eq!(prompts(path(&merged)), questions(&[1, 1, 2, 2, 3]));
    assert_eq!(merged["lineage"]["rounds"], 5);
    let voices = &said(path(&merged))[0];
    let lines: Vec<&str> = voices.lines().filter(|line| line.contains("question")).collect();
    let line = |id: &str, n: u32| format!("| {id} | {n} | \"question {n} about apples\" |");
    let (a, b) = ("3f0a9d1e", "7c41b2aa");
    assert_eq!(lines, [line(a, 1), line(b, 1), line(a, 2), line(b, 2), line(a, 3)]);
    assert!(voices.contains("brain-guard show 3f0a9d1e:001"), "{voices}");
    // Search does not find the table.
    world.done(&["import", path(&merged).to_str().unwrap()]);
    assert!(!world.done(&["search", "merging several"]).contains("[brain-guard]"));
    let plain = world.json(&["export-claude", "--merge", ID, OTHER, "--no-table"]);
    assert_eq!(said(path(&plain))[0], questions(&[1])[0]);
    assert!(plain["tokens"]["after"].as_u64() < merged["tokens"]["after"].as_u64());
    let map = world.hook.project.join("map.json");
    fs::write(&map, r#"{"shared": "1", "engagements": {"console-work": "2", "inscription": "3"}}"#)
        .unwrap();
    let children = world.json(&["surgery", "split", ID, map.to_str().unwrap()])["sessions"].clone();
    let children = children.as_array().expect("children");
    assert_eq!(children.len(), 2);
    for (child, number) in children.iter().zip([2, 3]) {
        assert_eq!(prompts(path(child)), questions(&[number]));
        assert!(said(path(child))[0].contains("| 001 |"), "{child}");
        assert_eq!(child["lineage"]["parent_session"], ID);
        world.done(&["validate", path(child).to_str().unwrap()]);
    }
}

#[test]
fn rounds_are_kept_at_the_asked_fidelity() {
    let world = World::new(3);
    let cut = ["surgery", "compress-before", ID, "round:2"];
    let text = |more: &[&str]| {
        let made = world.json(&[&cut, more].concat());
        world.done(&["validate", path(&made).to_str().unwrap()]);
        let tokens = |name: &str| made["tokens"][name].as_u64().unwrap();
        // Beside the system prompt and the tools.
        (fs::read_to_string(path(&made)).unwrap(), tokens("after") - tokens("base"))
    };
    let (full, most) = text(&[]);
    assert!(full.contains("secret thought 3") && full.contains("found thing 3\\n"), "{full}");
    let (reference, _) = text(&["--thinking", "ref"]);
    let note = "[brain-guard] Left out of this round: 1 thinking block, about ";
    assert!(
        reference.contains(note) && reference.contains("brain-guard show 3f0a9d1e:003 thinking"),
        "{reference}"
    );
    assert!(!reference.contains("secret thought 3"), "{reference}");
    let less = ["--thinking", "omit", "--tool-use", "omit", "--tool-result", "omit"];
    let (words, least) = text(&less);
    for gone in ["secret thought", "found thing", "toolu_", "tool_result"] {
        assert!(!words.contains(gone), "{gone}\n{words}");
    }
    assert!(words.contains("question 3 about apples") && words.contains("the answer 3 is known"));
    assert!(least * 2 < most, "{least} of {most}");
}

/// A newer model refuses thinking once anything before it changed.
#[test]
fn thinking_that_the_model_refuses_is_left_out_and_can_be_read() {
    let world = World::new(3);
    let session = world.session(ID, 3, 0).replace("claude-opus-5", "claude-fable-5-1");
    world.write(ID, &session.replace("secret thought", &"a long secret thought ".repeat(40)));
    let made = |more: &[&str]| {
        let cut = ["surgery", "compress-before", ID, "round:2", "--dry-run"];
        let dry = world.json(&[&cut, more].concat());
        let made = world.json(&[&cut[..4], more].concat());
        assert_eq!(dry["notes"], made["notes"], "a dry run says the same");
        (fs::read_to_string(path(&made)).unwrap(), made)
    };
    let (text, least) = made(&[]);
    assert!(!text.contains("\"thinking\""), "{text}");
    let note = "2 thinking blocks behind the change left out, because claude-fable-5-1 refuses them \
                there; `brain-guard show 3f0a9d1e:002 thinking` shows the first";
    assert_eq!(least["notes"], json!([note]));
    assert!(world.done(&["show", "3f0a9d1e:002", "thinking"]).contains("secret thought"));
    let (text, most) = made(&["--thinking", "full"]);
    assert_eq!(text.matches("\"thinking\":").count(), 2, "{text}");
    assert!(least["tokens"]["after"].as_u64() < most["tokens"]["after"].as_u64());
}

#[test]
fn show_reads_what_a_table_names() {
    let mut world = World::new(5);
    let made = world.json(&["surgery", "compress-before", ID, "round:4"]);
    let before = files(&world.hook.home.clone());
    let long = world.done(&["show", "3f0a9d1e:2"]);
    for part in ["question 2 about apples", "secret thought 2", "found thing 2", "the answer 2"] {
        assert!(long.contains(part), "{part}\n{long}");
    }
    assert!(!long.contains("question 3"), "{long}");
    // In the successor, the table's numbers are the source's.
    world.hook.set("CLAUDE_CODE_SESSION_ID", made["id"].as_str().unwrap());
    assert_eq!(world.done(&["show", "002"]), long);
    let thinking = world.done(&["show", "2", "thinking"]);
    assert!(
        thinking.contains("secret thought 2") && !thinking.contains("found thing 2"),
        "{thinking}"
    );
    let short = world.done(&["show", "2", "--thinking", "omit", "--tool-result", "summary"]);
    assert!(!short.contains("secret thought 2") && short.contains("found thing 2"), "{short}");
    assert!(short.len() < long.len());
    assert_eq!(files(&world.hook.home.clone()), before, "a read");
    // A number that is in no table means the session's own round.
    assert!(world.done(&["show", "1"]).contains("question 1 about apples"));
    assert!(world.refused(&["show", "9"]).contains("1-3"));
    world.hook.set("CLAUDE_CODE_SESSION_ID", "");
    assert!(world.refused(&["show", "2"]).contains("write SESSION:2"));
    assert!(world.refused(&["show", "two"]).contains("3f0a9d1e:47"));
}

/// A successor can be operated on like any session.
#[test]
fn a_compressed_session_is_compressed_again() {
    let world = World::new(6);
    let first = world.json(&["surgery", "compress-before", ID, "round:4"]);
    let id = first["id"].as_str().unwrap();
    let second = world.json(&["surgery", "compress-before", id, "2026-03-19T10:55Z"]);
    assert_eq!(prompts(path(&second)), questions(&[6]));
    let table = said(path(&second)).remove(0);
    assert!(table.contains("the answer 4 is known") && table.contains("the answer 5"), "{table}");
    // The lines of the first table, then those of rounds that it copied, by where they were first.
    for n in 1..=5 {
        assert!(table.contains(&format!("\n| {n:03} | ")), "{n}: {table}");
        assert!(table.contains(&format!("the answer {n} is known")), "{n}: {table}");
    }
    let again = second["id"].as_str().unwrap();
    let round = world.done(&["show", "2", "--session", again]);
    assert!(
        round.starts_with("# Round 3f0a9d1e:002") && round.contains("question 2 about"),
        "{round}"
    );
    let lines = world.done(&["show", "1-5", "--session", again]);
    assert!(lines.contains("| 005 | ") && !lines.contains("| 006 | "), "{lines}");
    // What was said once is found once.
    world.done(&["import", "--all"]);
    let found = world.json(&["search", "\"question 6 about\""])["rounds"].clone();
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found[0]["ref"], "3f0a9d1e:006");
    assert_eq!(found[0]["copies"].as_array().map(Vec::len), Some(2), "{found}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = World::new(4);
    world.done(&["import", world.file(ID).to_str().unwrap()]);
    let before = files(&world.hook.home.clone());
    let text = world.done(&["surgery", "compress-before", ID, "round:3", "--dry-run"]);
    assert!(text.contains("1-2 become lines of the index table; 3-4 stay whole"), "{text}");
    assert!(text.contains("nothing was written"), "{text}");
    assert_eq!(files(&world.hook.home.clone()), before);
}

/// No operation changes a session in the store, byte for byte.
#[test]
fn no_operation_alters_the_store() {
    let world = World::new(4);
    world.write(OTHER, &world.session(OTHER, 2, 5));
    for id in [ID, OTHER] {
        world.done(&["import", world.file(id).to_str().unwrap()]);
    }
    world.done(&["tag", ID, "2", "console-work"]);
    let before = world.kept();
    assert!(before.keys().any(|path| path.ends_with("session.db")), "{before:?}");
    for args in [
        vec!["surgery", "compress-before", ID, "round:3"],
        vec!["surgery", "compress-engagement", ID, "console-work"],
        vec!["surgery", "extract-engagement", ID, "console-work"],
        vec!["surgery", "merge", ID, OTHER],
        vec!["surgery", "split", ID, "--by-tag"],
        vec!["surgery", "log"],
        vec!["surgery", "remove"],
        vec!["show", "3f0a9d1e:1"],
        vec!["advise", ID],
        vec!["surgery", "revive", ID],
    ] {
        world.done(&args);
        assert_eq!(world.kept(), before, "{args:?}");
    }
}

#[test]
fn advise_does_not_merge_a_session_with_its_successor() {
    let world = World::new(4);
    world.write(OTHER, &world.session(OTHER, 4, 5));
    let advised = |id: &str| {
        let advice = world.json(&["advise", id]);
        let all = advice["advice"].as_array().expect("advice").iter();
        let merges = all.filter(|one| one["case"] == "parallel-sessions").cloned();
        merges.map(|one| one["command"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    world.done(&["import", "--all"]);
    assert_eq!(advised(ID), ["brain-guard surgery merge 3f0a9d1e 7c41b2aa"]);
    let merged = world.json(&["surgery", "merge", ID, OTHER]);
    let id = merged["id"].as_str().unwrap();
    let cut = world.json(&["surgery", "compress-before", id, "round:2"]);
    world.done(&["import", "--all"]);
    for id in [ID, OTHER, id, cut["id"].as_str().unwrap()] {
        let merges = advised(id);
        let sources = [ID, OTHER].contains(&id);
        assert_eq!(merges.len(), usize::from(sources), "{id}: {merges:?}");
    }
    assert_eq!(world.json(&["show", &format!("{id}:1")])["session"], id);
    assert!(world.done(&["show", &format!("{id}:1")]).contains(&format!("- made from: {ID}")));
}

#[test]
fn left_out_rounds_are_listed_by_session() {
    let world = World::new(3);
    let fork = world
        .session(ID, 3, 0)
        .replace(&format!("\"sessionId\":\"{ID}\""), &format!("\"sessionId\":\"{OTHER}\""));
    let last = |id: &str| format!("{}-0003-4000-8000-000000000005", &id[..8]);
    let more = world.round(OTHER, 4, 40).replace(&last(OTHER), &last(ID));
    world.write(OTHER, &(fork + &more));
    let text = world.done(&["surgery", "merge", ID, OTHER, "--dry-run"]);
    assert!(text.contains("left out 7c41b2aa:1-3 (also in the other session)"), "{text}");
}

#[test]
fn a_successor_keeps_the_sessions_name() {
    let world = World::new(3);
    let name = |id: &str, name: &str| {
        format!("{{\"type\":\"custom-title\",\"customTitle\":\"{name}\",\"sessionId\":\"{id}\"}}\n")
    };
    let rounds = |id, of: std::ops::RangeInclusive<u32>| {
        of.map(|n| world.round(id, n, 10 * n)).collect::<String>()
    };
    let begun = name(ID, "begun") + &rounds(ID, 1..=3);
    let renamed = name(OTHER, "begun") + &rounds(OTHER, 1..=1) + &name(OTHER, "renamed");
    world.write(ID, &begun);
    world.write(OTHER, &(renamed + &rounds(OTHER, 2..=3)));
    for (id, expected) in [(ID, "begun"), (OTHER, "renamed")] {
        let made = world.json(&["surgery", "compress-before", id, "round:2"]);
        let text = fs::read_to_string(path(&made)).unwrap();
        assert!(text.contains(&format!("\"customTitle\":\"{expected} (compressed")), "{id}");
    }
}

#[test]
fn revive_says_how_to_continue() {
    let world = World::new(9);
    let text = world.done(&["surgery", "revive", ID]);
    assert!(text.contains("claude --resume "), "{text}");
    assert!(text.contains("1-7 become lines of the index table; 8-9 stay whole"), "{text}");
    let made = world.json(&["surgery", "revive", ID, "--before", "round:8"]);
    assert_eq!(prompts(path(&made)), questions(&[8, 9]));
    let index = &said(path(&made))[0];
    assert!(index.contains(ID) && index.contains("brain-guard show"), "{index}");
    // Without a terminal nothing can be started; the session is made and the output says how.
    let run = world.run(&["surgery", "revive", ID, "--run"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("claude --resume"), "{run:?}");
}

#[test]
fn a_successor_brings_its_subagents_along() {
    let world = World::new(2);
    let rows = world.session(ID, 2, 0);
    // The client records a subagent by its id in the result's row.
    let rows = rows.replace(
        "\"type\":\"user\",\"userType\":\"external\",\"uuid\":\"3f0a9d1e-0002-4000-8000-000000000004\"",
        "\"toolUseResult\":{\"agentId\":\"a1b2c3d4\",\"status\":\"completed\"},\"type\":\"user\",\"userType\":\"external\",\"uuid\":\"3f0a9d1e-0002-4000-8000-000000000004\"",
    );
    assert!(rows.contains("agentId"));
    world.write(ID, &rows);
    let agents = world.folder().join(ID).join("subagents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(agents.join("agent-a1b2c3d4.jsonl"), "{}\n").unwrap();
    let made = world.json(&["surgery", "compress-before", ID, "round:2"]);
    let copy = path(&made).with_extension("").join("subagents/agent-a1b2c3d4.jsonl");
    assert_eq!(fs::read_to_string(&copy).unwrap(), "{}\n", "{made}");
    // The subagent's name is unknown, so no note says that it is missing.
    assert_eq!(made["notes"], serde_json::json!([]));
    let id = made["id"].as_str().unwrap();
    world.done(&["surgery", "remove", id]);
    assert!(!path(&made).with_extension("").exists() && !path(&made).exists());
    assert!(agents.join("agent-a1b2c3d4.jsonl").exists());
}

#[test]
fn a_session_of_pi_is_found_by_its_id_though_its_file_begins_with_a_time() {
    let world = World::new(1);
    let folder = world.hook.home.join(".pi/agent/sessions/--w--");
    fs::create_dir_all(&folder).unwrap();
    let rows = [
        r#"{"type":"session","version":3,"id":"5b7e1f00-aaaa","timestamp":"2026-02-20T10:00:00.000Z","cwd":"/w"}"#,
        r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-20T10:00:01.000Z","message":{"role":"user","content":"a question of pi"}}"#,
        "",
    ];
    let file = folder.join("2026-02-20T10-00-00-000Z_5b7e1f00-aaaa.jsonl");
    fs::write(file, rows.join("\n")).unwrap();
    // First from the session's file, then from the store as well.
    for name in ["5b7e", "5b7e1f00-aaaa", "2026-02-20T10-00-00-000Z_5b7e1f00-aaaa"] {
        let text = world.done(&["show", &format!("{name}:1")]);
        assert!(text.contains("a question of pi"), "{name}: {text}");
    }
}
