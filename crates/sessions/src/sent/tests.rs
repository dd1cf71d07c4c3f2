//! Sessions of every form that the client writes, and what it sends of them.

use super::RowState::{self, Beside, Compacted, Copy, Cut, Rewound, Sent};
use super::{Break, Rows, Sequence, Standing, State};
use crate::dialect::{self, Scratch};
use crate::digest::Digest;

/// The second of the next row, and a row's JSON.
#[derive(Default)]
struct File {
    text: String,
    second: u32,
}

impl File {
    /// A prompt `p1`, an answer `a1`, a result `r1`, or a summary `s1`, behind its parent.
    fn row(mut self, id: &str, parent: &str) -> Self {
        let parent = if parent.is_empty() { "null".into() } else { format!("\"{parent}\"") };
        let kind = match &id[..1] {
            "a" => format!(
                r#""type":"assistant","message":{{"id":"m-{id}","role":"assistant","content":[{{"type":"text","text":"x"}}]}}"#
            ),
            "r" => r#""type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#.into(),
            "s" => r#""type":"user","isCompactSummary":true,"message":{"role":"user","content":"x"}"#.into(),
            _ => r#""type":"user","message":{"role":"user","content":"x"}"#.into(),
        };
        let at = self.time();
        self.line(&format!(r#"{{"uuid":"{id}","parentUuid":{parent},"timestamp":"{at}",{kind}}}"#))
    }

    fn time(&mut self) -> String {
        self.second += 10;
        format!("2026-01-01T00:{:02}:{:02}.000Z", self.second / 60, self.second % 60)
    }

    fn line(mut self, line: &str) -> Self {
        self.text.push_str(line);
        self.text.push('\n');
        self
    }

    /// A boundary with this metadata.
    fn boundary(mut self, id: &str, before: &str, metadata: &str) -> Self {
        let at = self.time();
        self.line(&format!(
            r#"{{"uuid":"{id}","parentUuid":null,"logicalParentUuid":"{before}","timestamp":"{at}","type":"system","subtype":"compact_boundary","compactMetadata":{{{metadata}}}}}"#
        ))
    }

    fn rows(&self) -> Rows {
        let (mut rows, mut scratch) = (Rows::default(), Scratch::default());
        let dialect = dialect::detect(self.text.lines().next().unwrap().as_bytes());
        for line in self.text.lines() {
            let row = dialect.row(line.as_bytes(), &mut scratch);
            rows.row(&row, line.as_bytes());
        }
        let saved = serde_json::to_string(&rows).unwrap();
        assert_eq!(serde_json::from_str::<Rows>(&saved).unwrap(), rows);
        rows
    }

    fn sequence(&self) -> Sequence {
        self.rows().sequence()
    }

    /// Each round as `c0` (in the context, first), `c1:2[0-1]` with parts, `-` compacted, `r` rewound,
    /// `x` cut.
    fn rounds(&self) -> String {
        let (mut digest, mut scratch) = (Digest::default(), Scratch::default());
        let dialect = dialect::detect(self.text.lines().next().unwrap().as_bytes());
        for line in self.text.lines() {
            let row = dialect.row(line.as_bytes(), &mut scratch);
            digest.row(dialect, &row, line.as_bytes(), scratch.blocks());
        }
        let shown = digest.standings().0.into_iter().map(|Standing { state, place, parts }| {
            let state = match state {
                State::InContext => format!("c{}", place.unwrap()),
                State::Compacted => "-".into(),
                State::Rewound => "r".into(),
                State::Cut => "x".into(),
            };
            let parts =
                parts.iter().map(|p| format!(":{}[{}-{}]", p.seq, p.rows.start, p.rows.end - 1));
            state + &parts.collect::<String>()
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    /// The ids that are sent, in order.
    fn sent(&self) -> String {
        let ids: Vec<String> = self
            .text
            .lines()
            .map(|line| {
                let row: serde_json::Value = serde_json::from_str(line).unwrap();
                row["uuid"].as_str().unwrap_or_default().to_owned()
            })
            .filter(|id| !id.is_empty())
            .collect();
        let rows = self.sequence().rows;
        rows.into_iter().map(|row| ids[row].as_str()).collect::<Vec<_>>().join(" ")
    }

    fn states(&self) -> Vec<RowState> {
        self.sequence().states
    }
}

/// Two rounds: `p1 a1 p2 a2`.
fn two() -> File {
    File::default().row("p1", "").row("a1", "p1").row("p2", "a1").row("a2", "p2")
}

fn kept(anchor: &str, ids: &[&str]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
    format!(r#""preservedMessages":{{"anchorUuid":"{anchor}","uuids":[{}]}}"#, ids.join(","))
}

#[test]
fn rounds_in_a_row_are_sent() {
    assert_eq!(two().sent(), "p1 a1 p2 a2");
}

#[test]
fn after_a_compaction_its_summary_comes_first() {
    let file = two().boundary("b", "a2", "").row("s1", "b").row("p3", "s1");
    assert_eq!(file.sent(), "b s1 p3");
    assert_eq!(file.states()[..4], [Compacted; 4]);
    assert_eq!(file.rounds(), "- - c0 c1");
}

#[test]
fn what_a_compaction_kept_is_behind_the_summary() {
    let kept = kept("s1", &["p2", "a2"]);
    let file = two().boundary("b", "a2", &kept).row("s1", "b").row("p3", "s1").row("a3", "p3");
    assert_eq!(file.sent(), "b s1 p2 a2 p3 a3");
    assert_eq!(file.states()[..4], [Compacted, Compacted, Sent, Sent]);
    assert_eq!(file.rounds(), "- c1 c0 c2");
}

/// "Summarize up to here" links the boundary to the last summarized row.
#[test]
fn rounds_behind_a_partial_summary_are_sent() {
    let kept = kept("s1", &["p2", "a2"]);
    let file = two().boundary("b", "a1", &kept).row("s1", "b").row("p3", "s1");
    assert_eq!(file.sent(), "b s1 p2 a2 p3");
    assert_eq!(file.states()[..4], [Compacted, Compacted, Sent, Sent]);
}

/// "Summarize from here" keeps the rounds before the point.
#[test]
fn rounds_before_a_partial_summary_come_before_it() {
    let kept = kept("b", &["p1", "a1"]);
    let file = two().boundary("b", "a1", &kept).row("s1", "b").row("p3", "s1");
    assert_eq!(file.sent(), "b p1 a1 s1 p3");
    assert_eq!(file.rounds(), "c0 - c1 c2");
    assert_eq!(file.states()[..4], [Sent, Sent, Compacted, Compacted]);
}

#[test]
fn a_segment_names_what_is_kept_by_its_ends() {
    let kept = r#""preservedSegment":{"anchorUuid":"s1","headUuid":"p2","tailUuid":"a2"}"#;
    let file = two().boundary("b", "a2", kept).row("s1", "b").row("p3", "s1");
    assert_eq!(file.sent(), "b s1 p2 a2 p3");
}

#[test]
fn nothing_is_kept_if_a_row_of_it_is_missing() {
    let kept = kept("s1", &["p2", "gone"]);
    let file = two().boundary("b", "a2", &kept).row("s1", "b").row("p3", "s1");
    assert_eq!(file.sent(), "b s1 p3");
}

#[test]
fn a_second_compaction_appends_rows_again() {
    let first = kept("s1", &["p2", "a2"]);
    let second = kept("s2", &["p3"]);
    let file = two().boundary("b1", "a2", &first).row("s1", "b1").row("p3", "s1");
    let file = file.boundary("b2", "p3", &second).row("s2", "b2").row("p3", "s2").row("a3", "p3");
    assert_eq!(file.sent(), "b2 s2 p3 a3");
    assert_eq!(file.states()[9], Copy);
    assert_eq!(file.rounds(), "- - - c1:4[0-0]:5[3-3] c0:5[1-1]", "the copy opens no round");
    let next = two().boundary("b1", "a2", "").row("s1", "b1").row("p3", "s1");
    let next = next.boundary("b2", "p3", &second).row("s2", "b2").row("p3", "s2").row("p4", "p3");
    assert_eq!(next.rounds(), "- - - c1 c0:5[1-1] c2", "nor is it part of one");
    let moved = two().row("p3", "a2").row("a3", "p3").row("p3", "a1");
    assert_eq!(moved.sent(), "p1 a1 p3");
}

#[test]
fn a_compaction_that_keeps_nothing_forgets_what_an_earlier_one_kept() {
    let first = kept("s1", &["p2", "a2"]);
    let file = two().boundary("b1", "a2", &first).row("s1", "b1").row("p3", "s1");
    let file = file.boundary("b2", "p3", "").row("s2", "b2").row("p4", "s2");
    assert_eq!(file.sent(), "b2 s2 p4");
}

/// The client links what follows the kept rows to their last one.
#[test]
fn a_rewind_to_the_summary_leaves_the_kept_rows() {
    let kept = kept("s1", &["p2", "a2"]);
    let file = two().boundary("b", "a2", &kept).row("s1", "b").row("p3", "s1").row("a3", "p3");
    assert_eq!(file.row("p4", "s1").row("a4", "p4").sent(), "b s1 p2 a2 p4 a4");
}

#[test]
fn a_rewind_to_before_a_compaction_leaves_its_summary() {
    let file = two().boundary("b", "a2", "").row("s1", "b").row("p3", "s1");
    assert_eq!(file.row("p4", "a1").row("a4", "p4").sent(), "p1 a1 p4 a4");
}

#[test]
fn a_rewound_round_is_left_out() {
    let file = two().row("p3", "a1").row("a3", "p3");
    assert_eq!(file.sent(), "p1 a1 p3 a3");
    assert_eq!(file.states(), [Sent, Sent, Rewound, Rewound, Sent, Sent]);
}

#[test]
fn a_rewind_without_a_new_prompt_counts_by_the_clients_note() {
    let note =
        |leaf: &str, more: &str| format!(r#"{{"type":"last-prompt","leafUuid":"{leaf}"{more}}}"#);
    let rewound = two().line(&note("a1", r#","explicit":true"#));
    assert_eq!(rewound.sent(), "p1 a1");
    assert_eq!(rewound.states()[2..], [Rewound, Rewound]);
    assert_eq!(two().line(&note("a1", "")).sent(), "p1 a1 p2 a2", "an older place");
    let branched = || two().row("p3", "a1").row("a3", "p3");
    assert_eq!(branched().line(&note("a2", "")).sent(), "p1 a1 p2 a2", "another branch");
    let later = two().row("p3", "a1").line(&note("a2", "")).row("a3", "p3");
    assert_eq!(later.sent(), "p1 a1 p2 a2", "also if it grows");
    let again = two().line(&note("a1", r#","explicit":true"#)).row("p3", "a1").row("a3", "p3");
    assert_eq!(again.sent(), "p1 a1 p3 a3");
    let unknown = note("00000000-0000-0000-0000-000000000000", r#","explicit":true"#);
    assert_eq!(two().line(&unknown).sent(), "p1 a1 p2 a2");
    let emptied = two().line(r#"{"type":"last-prompt","leafUuid":null,"explicit":true}"#);
    assert_eq!(emptied.sent(), "");
}

#[test]
fn before_a_missing_parent_everything_is_cut_off() {
    let file = two().row("p3", "gone").row("a3", "p3");
    assert_eq!(file.sent(), "p3 a3");
    let sequence = file.sequence();
    assert_eq!(sequence.states, [Cut, Cut, Cut, Cut, Sent, Sent]);
    assert_eq!(sequence.breaks, [Break { row: 4, bridge: None }]);
    assert_eq!(sequence.cut, Some(5));
    assert_eq!(file.rounds(), "x x c0");
    let middle = two().row("a3", "gone").row("p3", "a3");
    assert_eq!(middle.rounds(), "x c0:2[2-2] c1", "it begins within a round");
}

#[test]
fn a_row_written_just_before_stands_in_for_a_missing_parent() {
    let mut file = two();
    file.second -= 7;
    let file = file.row("p3", "gone");
    assert_eq!(file.sent(), "p1 a1 p2 a2 p3");
    assert_eq!(file.sequence().breaks, [Break { row: 4, bridge: Some(3) }]);
}

#[test]
fn rows_out_of_order_are_sent_in_the_order_of_the_chain() {
    let file = File::default().row("p1", "").row("p2", "a1").row("a1", "p1").row("a2", "p2");
    assert_eq!(file.sent(), "p1 a1 p2 a2");
}

#[test]
fn a_compaction_without_its_summary_is_in_the_context() {
    assert_eq!(two().boundary("b", "a2", "").rounds(), "- - c0");
}

#[test]
fn what_the_client_noted_behind_the_last_message_is_in_it() {
    let note = r#"{"uuid":"n1","parentUuid":"a2","type":"system","subtype":"turn_duration"}"#;
    assert_eq!(two().line(note).sent(), "p1 a1 p2 a2 n1");
}

#[test]
fn a_circle_ends_the_chain() {
    let file = File::default().row("p1", "a1").row("a1", "p1");
    assert_eq!(file.sent(), "p1 a1");
}

/// Of parallel calls the results hang on different rows of one message.
#[test]
fn all_rows_of_a_response_are_put_back() {
    let call = |id: &str, parent: &str, second: u32| {
        format!(
            r#"{{"uuid":"{id}","parentUuid":"{parent}","timestamp":"2026-01-01T00:00:{second}.000Z","type":"assistant","message":{{"id":"m","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}]}}}}"#
        )
    };
    let file =
        File::default().row("p1", "").line(&call("c1", "p1", 11)).line(&call("c2", "c1", 12));
    let note = r#"{"type":"last-prompt","leafUuid":"c2"}"#;
    let calls = || File { text: file.text.clone(), second: file.second }.line(note);
    let (in_order, turned) = ("p1 c1 c2 r1 r2 a3", "p1 c1 c2 r2 r1 a3");
    assert_eq!(calls().row("r1", "c1").row("r2", "c2").row("a3", "r1").sent(), in_order);
    assert_eq!(calls().row("r1", "c1").row("r2", "c2").row("a3", "r2").sent(), in_order);
    assert_eq!(calls().row("r2", "c2").row("r1", "c1").row("a3", "r1").sent(), turned);
}

#[test]
fn a_subagents_rows_are_beside() {
    let beside = r#"{"uuid":"x1","parentUuid":null,"isSidechain":true,"type":"user","message":{"role":"user","content":"x"}}"#;
    let file = two().line(beside);
    assert_eq!(file.sent(), "p1 a1 p2 a2");
    assert_eq!(file.states()[4], Beside);
}

/// The rest of the compaction's round comes behind what was kept.
#[test]
fn the_end_of_a_round_that_was_kept_is_part_of_the_compactions_round() {
    let kept = kept("s1", &["a2"]);
    let file = two().boundary("b", "a2", &kept).row("s1", "b").row("a9", "s1").row("p3", "a9");
    assert_eq!(file.sent(), "b s1 a2 a9 p3");
    assert_eq!(file.rounds(), "- - c0:3[1-1]:2[1-1]:3[2-2] c1");
}

#[test]
fn rows_that_a_rewind_left_in_a_round_are_no_part_of_it() {
    let file = two().row("a8", "p2").row("p3", "a2");
    assert_eq!(file.rounds(), "c0 c1:2[0-1] c2");
    let compacted = two().row("a8", "p2").row("p3", "a2").boundary("b", "p3", "").row("s1", "b");
    assert_eq!(compacted.rounds(), "- -:2[0-1] - c0");
}

#[test]
fn pi_keeps_rows_by_the_first_one() {
    let row = |id: &str, parent: &str, rest: &str| {
        format!(
            r#"{{"type":{rest},"id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:10.000Z"}}"#
        )
    };
    let said = |id: &str, parent: &str, role: &str| {
        row(id, parent, &format!(r#""message","message":{{"role":"{role}","content":"x"}}"#))
    };
    let compacted = |first: &str| {
        let kept = format!(r#""compaction","summary":"so far","firstKeptEntryId":"{first}""#);
        File::default()
            .line(r#"{"type":"session","version":3,"id":"s"}"#)
            .line(&said("p1", "", "user").replace(r#""parentId":"""#, r#""parentId":null"#))
            .line(&said("a1", "p1", "assistant"))
            .line(&said("p2", "a1", "user"))
            .line(&said("a2", "p2", "assistant"))
            .line(&row("b", "a2", &kept))
            .line(&said("p3", "b", "user"))
    };
    assert_eq!(compacted("p2").rounds(), "- c1 c0 c2");
    assert_eq!(compacted("a2").rounds(), "- - c0:3[0-0]:2[1-1] c1");
    assert_eq!(compacted("gone").rounds(), "- - c0 c1");
    let back = compacted("p2").line(&said("p4", "a1", "user"));
    assert_eq!(back.rounds(), "c0 r r r c1", "a rewind to before the compaction");
}
