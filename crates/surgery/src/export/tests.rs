//! The export of rows in the shapes of the real client.

mod odd;
pub(crate) mod world;

use serde_json::Value;

use super::{Failed, Reading, all};
use crate::ids::{self, Keys};
use crate::plan::{Piece, Place, Plan};
use crate::validate::Validator;
use sessions::dialect::{Claude, Dialect, Scratch};
use sessions::origin::Origin;
use sessions::rows::{Edit, Rows};
use world::{Client, NEW, OLD, OTHER, Source, birth, export, plan, session, thinking, told, whole};

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn rounds_come_whole_and_only_what_links_them_is_new() {
    let source = session(OLD, 3);
    let (text, report) = export(&[&source], &plan(&[&source], whole(0, &[1, 2, 3]))).unwrap();
    let (rows, mut before) = (rows(&text), Vec::new());
    for kept in &source.rounds {
        let kept = kept.iter().map(|line| serde_json::from_slice::<Value>(line).unwrap());
        before.extend(kept.filter(|row| row["uuid"].is_string()));
    }
    assert_eq!(rows.len(), before.len() + 1, "all rows of the chain, and the title");
    assert_eq!((report.bookkeeping, report.notes.len()), (6, 0));
    assert_eq!((report.rows as usize, report.bytes as usize), (rows.len(), text.len()));
    let (mut last, mut seen) = (Value::Null, Keys::default());
    let ends = before.len() - 1;
    for (at, (new, old)) in rows.iter().zip(&before).enumerate() {
        let (mut new, mut old) = (new.clone(), old.clone());
        assert_eq!(new["parentUuid"], last);
        assert_eq!(
            new["forkedFrom"],
            serde_json::json!({
                "sessionId": OLD,
                "messageUuid": old["uuid"],
                "origin": new["forkedFrom"]["origin"],
            })
        );
        assert_eq!(
            (new["sessionId"].as_str(), new["timestamp"].as_str() >= old["timestamp"].as_str()),
            (Some(NEW), true)
        );
        let origin: Origin = new["forkedFrom"]["origin"].as_str().unwrap().parse().unwrap();
        let of_round = |seq: u32| {
            source.rounds[seq as usize]
                .iter()
                .any(|line| serde_json::from_slice::<Value>(line).unwrap()["uuid"] == old["uuid"])
        };
        assert!(origin.session == OLD && of_round(origin.seq), "{origin}");
        last = new["uuid"].clone();
        let id = last.as_str().unwrap();
        assert!(ids::uuid(id).is_some() && seen.insert(ids::key(id)), "{id}");
        assert_eq!(new.get("brainGuard").is_some(), at == 0);
        assert_eq!(
            new["sourceToolAssistantUUID"].is_string(),
            old["sourceToolAssistantUUID"].is_string()
        );
        // The last answer has the size of the session.
        if at == ends - 1 {
            assert_eq!(new["message"]["usage"]["input_tokens"], 300);
            new["message"]["usage"] = Value::Null;
            old["message"]["usage"] = Value::Null;
        }
        for name in [
            "parentUuid",
            "uuid",
            "sessionId",
            "timestamp",
            "forkedFrom",
            "brainGuard",
            "sourceToolAssistantUUID",
        ] {
            new.as_object_mut().unwrap().remove(name);
            old.as_object_mut().unwrap().remove(name);
        }
        assert_eq!(new, old);
    }
    assert_eq!(rows.last().unwrap()["customTitle"], "question 1 (merged)");
}

#[test]
fn the_same_input_gives_the_same_output() {
    let source = session(OLD, 2);
    let made = plan(&[&source], whole(0, &[1, 2]));
    assert_eq!(export(&[&source], &made).unwrap().0, export(&[&source], &made).unwrap().0);
}

#[test]
fn an_index_stands_for_its_rounds_as_one_message_ahead_of_what_follows() {
    let source = session(OLD, 3);
    let index = Piece::Index([1, 2].map(|seq| Place { session: 0, seq }).to_vec());
    let mut pieces = vec![index];
    pieces.extend(whole(0, &[3]));
    let (text, _) = export(&[&source], &plan(&[&source], pieces)).unwrap();
    let rows = rows(&text);
    assert_eq!(rows[0]["message"]["content"], format!("2 of {OLD}"));
    assert_eq!(
        (rows[0]["type"].as_str(), rows[0]["brainGuard"]["parent_session"].as_str()),
        (Some("user"), Some(OLD))
    );
    assert_eq!(rows[1]["message"]["content"], "question 3");
    assert_eq!(rows[1]["parentUuid"], rows[0]["uuid"]);
    assert!(rows[1].get("brainGuard").is_none());
}

#[test]
fn a_merge_begins_with_who_speaks_when() {
    let (a, b) = (session(OLD, 2), session(OTHER, 1));
    let pieces = [whole(0, &[1]), whole(1, &[1]), whole(0, &[2])].concat();
    let with = Plan { voices: true, ..plan(&[&a, &b], pieces) };
    let rows = rows(&export(&[&a, &b], &with).unwrap().0);
    let expected = format!(
        "{OLD} and {OTHER}\n| 11111111 | 1 | \"question 1\" |\n| 22222222 | 1 | \"question 1\" |\n\
         | 11111111 | 2 | \"question 2\" |"
    );
    assert_eq!(rows[0]["message"]["content"], expected);
    assert_eq!(rows[0]["brainGuard"]["table"], true);
    assert_eq!(rows[0]["brainGuard"]["operation"], "merge");
    assert_eq!(rows[1]["message"]["content"], "question 1");
    assert_eq!(rows[1]["parentUuid"], rows[0]["uuid"]);
    let one = Plan { voices: true, ..plan(&[&a], whole(0, &[1])) };
    assert!(!export(&[&a], &one).unwrap().0.contains("\"table\""), "one voice needs no table");
}

// In a copy, a table is still a table, and nobody's words.
#[test]
fn a_table_stays_marked_as_one() {
    let source = session(OLD, 3);
    let index = Piece::Index(vec![Place { session: 0, seq: 1 }]);
    let pieces = [whole(0, &[2]), vec![index], whole(0, &[3])].concat();
    let (text, _) = export(&[&source], &plan(&[&source], pieces)).unwrap();
    let marked = |text: &str| -> Vec<bool> {
        let rows = rows(text).into_iter().filter(|row| row["type"] == "user");
        let prompts = rows.filter(|row| row["message"]["content"].is_string());
        prompts.map(|row| row["brainGuard"]["table"] == true).collect()
    };
    assert_eq!(marked(&text), [false, true, false]);
    let again = Source::new(NEW, &text);
    for (seqs, expected) in [(&[1, 2][..], &[false, true][..]), (&[2, 3], &[true, false])] {
        let (text, _) = export(&[&again], &plan(&[&again], whole(0, seqs))).unwrap();
        assert_eq!(marked(&text), expected);
        assert_eq!(rows(&text)[0]["brainGuard"]["parent_session"], OLD, "the lineage, too");
    }
}

#[test]
fn a_compactions_summary_is_followed_by_what_it_kept() {
    let mut client = Client::new(OLD);
    client.prompt("first");
    client.agent("msg_1", r#"{"type":"text","text":"dropped"}"#);
    client.prompt("second");
    let kept = client.agent("msg_2", r#"{"type":"text","text":"kept"}"#);
    client.compaction(&[&kept]);
    client.prompt("third");
    client.agent("msg_3", r#"{"type":"text","text":"behind"}"#);
    let source = Source::new(OLD, &client.text);
    assert!(source.session.rounds[2].boundary);
    let (text, _) = export(&[&source], &plan(&[&source], whole(0, &[3, 4]))).unwrap();
    let said: Vec<_> =
        told(&text).into_iter().map(|(_, message)| message["content"].to_string()).collect();
    let order = ["This session", "kept", "Compacted", "third", "behind"];
    assert_eq!(said.len(), order.len(), "{said:?}");
    assert!(said.iter().zip(order).all(|(said, part)| said.contains(part)), "{said:?}");
    assert!(
        !text.contains("isCompactSummary")
            && !text.contains("compact_boundary")
            && !text.contains("isVisible")
    );
    assert!(!text.contains("logicalParentUuid"));
}

/// The rows that stand for a round are chosen before they are edited.
#[test]
fn rows_that_an_edit_removes_take_no_others_along() {
    let mut client = Client::new(OLD);
    client.attachment("hook_additional_context");
    client.round(1);
    client.round(2);
    let source = Source::new(OLD, &client.text);
    assert!(!source.session.rounds[0].standing.parts.is_empty());
    let mut read = |place: Place, rows: &mut Rows| {
        *rows = source.rounds[place.seq as usize].clone();
        Ok(())
    };
    let mut edit = |_: Place, rows: &mut Rows| {
        let is_thinking = |line: &[u8]| String::from_utf8_lossy(line).contains("thought");
        rows.edit(|line| Ok(if is_thinking(line) { Edit::Gone } else { Edit::Stays }))
    };
    let reading = Reading { read: &mut read, edit: &mut edit };
    let plan = plan(&[&source], whole(0, &[1, 2]));
    let (_, out) =
        all(&plan, &birth(), &|_, _| String::new(), reading, &mut || Ok(Vec::new())).unwrap();
    let text = String::from_utf8(out).unwrap();
    for said in ["hook_additional_context", "question 1", "answer 1", "gave toolu_1_2", "answer 2"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains("thought"));
}

/// A row may stand before its parent in the file, also across rounds.
#[test]
fn rows_out_of_order_are_written_once_in_the_order_of_the_chain() {
    let mut client = Client::new(OLD);
    let first = client.prompt("first");
    let late = format!("{}-0000-4000-8000-{:012x}", &OLD[..8], 3);
    let second =
        client.row_on(Some(&late), "user", r#""message":{"role":"user","content":"second"}"#);
    let text = r#""message":{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"answer"}]}"#;
    assert_eq!(client.row_on(Some(&first), "assistant", text), late);
    let last = text.replace("msg_1", "msg_2").replace("answer", "last");
    client.row_on(Some(&second), "assistant", &last);
    let source = Source::new(OLD, &client.text);
    let (text, _) = export(&[&source], &plan(&[&source], whole(0, &[1, 2]))).unwrap();
    let said: Vec<_> =
        told(&text).into_iter().map(|(_, message)| message["content"].to_string()).collect();
    assert_eq!(said.len(), 4, "{said:?}");
    let order = ["first", "answer", "second", "last"];
    assert!(said.iter().zip(order).all(|(said, part)| said.contains(part)), "{said:?}");
}

/// `/compact` puts files back that were read before.
#[test]
fn files_put_back_behind_a_summary_are_named_when_they_leave() {
    let mut client = Client::new(OLD);
    client.prompt("first");
    client.agent("msg_1", r#"{"type":"text","text":"answer"}"#);
    client.compaction(&[]);
    client.row("attachment", r#""attachment":{"type":"file","filename":"/p/a.rs","content":"x"}"#);
    client.prompt("second");
    let source = Source::new(OLD, &client.text);
    let tabled = [vec![Piece::Summary(Place { session: 0, seq: 2 })], whole(0, &[3])].concat();
    let (text, report) = export(&[&source], &plan(&[&source], tabled)).unwrap();
    assert!(text.contains("This session") && !text.contains("a.rs"), "{text}");
    let note =
        "11111111:002: left out files that the client attached again after the compaction: /p/a.rs";
    assert_eq!(report.notes, [note]);
    let (text, report) = export(&[&source], &plan(&[&source], whole(0, &[2, 3]))).unwrap();
    assert!(text.contains("a.rs") && report.notes.is_empty(), "{text}");
}

/// A model that binds thinking to what stands before it refuses it behind a change.
#[test]
fn thinking_behind_a_change_is_left_out_where_the_model_refuses_it() {
    let thoughts = |model: Option<&str>, pieces: Vec<Piece>, keeps_refused| {
        let mut source = session(OLD, 3);
        source.session.model = model.map(str::to_owned);
        let mut plan = plan(&[&source], pieces);
        plan.fidelity.keeps_refused = keeps_refused;
        let (text, report) = export(&[&source], &plan).unwrap();
        (text.matches(r#""type":"thinking""#).count(), report.notes)
    };
    let binds = Some("claude-opus-5-5");
    let table = || vec![Piece::Index(vec![Place { session: 0, seq: 1 }])];
    let cut = || [table(), whole(0, &[2, 3])].concat();
    assert_eq!(thoughts(binds, whole(0, &[1, 2, 3]), false), (3, vec![]), "nothing changed");
    let (count, notes) = thoughts(binds, cut(), false);
    assert_eq!(count, 0);
    assert_eq!(
        notes,
        [
            "2 thinking blocks behind the change left out, because claude-opus-5-5 refuses them there; \
          `brain-guard show 11111111:002 thinking` shows the first"
        ]
    );
    assert_eq!(thoughts(binds, [whole(0, &[1]), table()].concat(), false).0, 1, "before it");
    assert_eq!(thoughts(binds, whole(0, &[1, 3]), false).0, 1, "a round is missing");
    assert_eq!(thoughts(binds, cut(), true).0, 2, "as was asked for");
    assert_eq!(thoughts(Some("claude-opus-5"), cut(), false).0, 2);
    assert_eq!(thoughts(None, cut(), false).0, 2);
}

#[test]
fn what_a_session_began_with_comes_along() {
    let mut client = Client::new(OLD);
    client.attachment("hook_additional_context");
    client.prompt("<<<<< compaction file 01 that brain-guard keeps");
    client.attachment("file");
    client.attachment("environment");
    client.agent("msg_1", r#"{"type":"text","text":"answer 1"}"#);
    client.attachment("hook_additional_context");
    client.round(2);
    let source = Source::new(OLD, &client.text);
    let tabled =
        || [vec![Piece::Index(vec![Place { session: 0, seq: 1 }])], whole(0, &[2])].concat();
    let shape = |text: &str| {
        let count = |what: &str| text.matches(what).count();
        let kinds =
            ["hook_additional_context", "\"file\"", "\"environment\"", "that brain-guard keeps"];
        kinds.map(count)
    };
    let (text, _) = export(&[&source], &plan(&[&source], tabled())).unwrap();
    assert_eq!(shape(&text), [1, 1, 1, 1], "{text}");
    assert!(!text.contains("answer 1"));
    let first = text.lines().next().unwrap();
    assert!(first.contains("hook_additional_context") && first.contains(r#""parentUuid":null"#));
    // Once more, from the result.
    let again = Source::new(NEW, &text);
    let mut made = plan(&[&again], whole(0, &[3]));
    made.sessions[0].id = OTHER.to_owned();
    let (twice, _) = export(&[&again], &made).unwrap();
    assert_eq!(shape(&twice), [1, 1, 1, 1], "{twice}");
    // Whole, it has all of it.
    let (whole, _) = export(&[&source], &plan(&[&source], whole(0, &[1, 2]))).unwrap();
    assert_eq!(shape(&whole), [2, 1, 2, 1], "{whole}");
}

/// Two sessions that were one: both have the same messages, calls and ids.
#[test]
fn a_merge_gives_what_both_have_ids_of_its_own() {
    let (a, b) = (session(OLD, 2), session(OTHER, 2));
    let mut pieces = whole(0, &[1, 2]);
    pieces.extend(whole(1, &[1, 2]));
    let (text, report) = export(&[&a, &b], &plan(&[&a, &b], pieces)).unwrap();
    let rows = rows(&text);
    let ids = |name: &str| -> Vec<String> {
        let found = rows.iter().filter_map(|row| row["message"][name].as_str());
        let mut found: Vec<_> = found.map(str::to_owned).collect();
        found.dedup();
        found
    };
    assert_eq!(ids("id").len(), 8);
    for id in ["msg_1a", "toolu_1_1"] {
        // The call and its result; `stdout` and the command are no ids.
        let times = text.matches(&format!("\"{id}\"")).count();
        assert_eq!(times, if id.starts_with('m') { 4 } else { 2 }, "{id}");
    }
    assert_eq!(text.matches(r#""type":"environment""#).count(), 2, "of one session only");
    assert_eq!(report.bookkeeping, 8 + 2);
    assert!(rows.iter().any(|row| row["forkedFrom"]["sessionId"] == OTHER));
}

#[test]
fn a_subagents_session_becomes_one_of_its_own() {
    let mut source = session(OLD, 1);
    let marked = |line: &[u8]| {
        let line = String::from_utf8(line.to_vec()).unwrap();
        line.replace(r#""isSidechain":false"#, r#""isSidechain":true,"agentId":"a1""#)
    };
    let lines: Vec<String> = source.rounds[1].iter().map(marked).collect();
    source.rounds[1].clear();
    for line in &lines {
        source.rounds[1].push(line.as_bytes());
    }
    let made = plan(&[&source], whole(0, &[1]));
    let Err(Failed::Unsound(found)) = export(&[&source], &made) else {
        panic!("no rows are its own")
    };
    assert_eq!(found[0].rule, "nothing");
    (source.session.id, source.session.parent) = ("agent-a1".to_owned(), Some(OLD.to_owned()));
    let (text, _) = export(&[&source], &plan(&[&source], whole(0, &[1]))).unwrap();
    assert!(text.contains("answer 1") && !text.contains("agentId"));
    assert!(!text.contains(r#""isSidechain":true"#));
}

#[test]
fn what_comes_out_goes_in_again() {
    let source = session(OLD, 3);
    let (text, _) = export(&[&source], &plan(&[&source], whole(0, &[1, 2, 3]))).unwrap();
    let again = Source::new(NEW, &text);
    assert_eq!(again.session.rounds.len(), 3);
    let mut made = plan(&[&again], whole(0, &[2, 3]));
    made.sessions[0].id = OTHER.to_owned();
    let (twice, _) = export(&[&again], &made).unwrap();
    assert!(rows(&twice).iter().filter(|row| row.get("brainGuard").is_some()).count() == 1);
    let mut validator = Validator::new(None);
    (1..).zip(twice.split_inclusive('\n')).for_each(|(n, line)| validator.line(n, line.as_bytes()));
    assert_eq!(validator.finish(), []);
    let row = Claude.row(twice.lines().next().unwrap().as_bytes(), &mut Scratch::default());
    assert!(row.id.is_some());
}
