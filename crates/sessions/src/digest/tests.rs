use super::*;
use crate::dialect::{Claude, Scratch};

/// All rounds of a transcript.
fn digest(bytes: &[u8]) -> Vec<(Round, Words)> {
    let (mut digest, mut all) = (Digest::default(), Vec::new());
    let (mut scratch, mut blocks) = (Scratch::default(), Vec::new());
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let row = Claude.row(line, &mut scratch);
        Claude.blocks(line, &row, &mut Scratch::default(), &mut blocks);
        assert_eq!(blocks, scratch.blocks());
        all.extend(digest.row(&Claude, &row, line, &blocks));
    }
    all.extend(digest.open());
    all
}

fn rounds(lines: &[&str]) -> Vec<(Round, Words)> {
    digest(lines.join("\n").as_bytes())
}

fn user(id: &str, parent: Option<&str>, content: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |p| format!("\"{p}\""));
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"user","message":{{"role":"user","content":{content}}},"uuid":"{id}","timestamp":"2026-03-19T10:23:45.678Z","cwd":"/w","sessionId":"s1"}}"#
    )
}

fn agent(id: &str, parent: &str, content: &str, used: u64) -> String {
    format!(
        r#"{{"parentUuid":"{parent}","isSidechain":false,"message":{{"id":"m{id}","role":"assistant","model":"claude-opus-5-5","content":{content},"usage":{{"input_tokens":{used},"output_tokens":0}}}},"type":"assistant","uuid":"{id}","timestamp":"2026-03-19T10:24:00Z"}}"#
    )
}

/// The usage of a response is of the context in which it was given.
#[test]
fn what_a_copied_response_used_measures_nothing_in_what_surgery_made() {
    let from =
        |row: &str| format!(r#"{},"forkedFrom":{{"sessionId":"s0"}}}}"#, &row[..row.len() - 1]);
    let rows = [
        user("u1", None, r#""one""#),
        agent("a1", "u1", r#"[{"type":"text","text":"first"}]"#, 20_000),
        user("u2", Some("a1"), r#""two""#),
        agent("a2", "u2", r#"[{"type":"text","text":"second"}]"#, 90_000),
        user("u3", Some("a2"), r#""three""#),
        agent("a3", "u3", r#"[{"type":"text","text":"third"}]"#, 30_000),
        user("u4", Some("a3"), r#""four""#),
        agent("a4", "u4", r#"[{"type":"text","text":"fourth"}]"#, 30_500),
    ];
    let (copied, own) = rows.split_at(4);
    let mut rows: Vec<String> = copied.iter().map(|row| from(row)).collect();
    rows.extend_from_slice(own);
    let measured = |rows: &[String]| -> Vec<(bool, u64)> {
        let lines: Vec<&str> = rows.iter().map(String::as_str).collect();
        rounds(&lines).iter().map(|(round, _)| (round.measured, round.tokens)).collect()
    };
    // A client's fork sends the rows it copied.
    assert_eq!(measured(&rows)[1], (true, 70_000));
    rows[0] = format!(r#"{},"brainGuard":{{"made":"x"}}}}"#, &rows[0][..rows[0].len() - 1]);
    let of = measured(&rows);
    assert!(of[..3].iter().all(|(measured, tokens)| !measured && *tokens < 100), "{of:?}");
    assert_eq!(of[3], (true, 500));
}

#[test]
fn what_surgery_tells_is_nobodys_words() {
    let mark =
        |row: &str, field: &str| format!("{},\"brainGuard\":{field}}}", &row[..row.len() - 1]);
    let table = user("u1", None, r#""| 001 | answer about apples |""#);
    let rows = [mark(&table, r#"{"table":true,"made":"x"}"#), user("u2", Some("u1"), r#""pears""#)];
    let all = rounds(&rows.each_ref().map(String::as_str));
    assert_eq!((all[0].1.user.as_str(), all[1].1.user.as_str()), ("", "pears"));
    assert_eq!(all[0].0.user_preview, "| 001 | answer about apples |");
    assert!(all[0].0.user, "it is a round as it was");
    // The first row of a session that surgery made says so, but is still the user's.
    let all = rounds(&[&mark(&rows[1], r#"{"made":"x"}"#)]);
    assert_eq!(all[0].1.user, "pears");
}

#[test]
fn a_round_with_calls() {
    let rows = [
        user("u1", None, r#""Read the\n console, ü |""#),
        agent("a1", "u1", r#"[{"type":"thinking","thinking":"hm","signature":"s"}]"#, 1_000),
        agent(
            "a2",
            "a1",
            r#"[{"type":"text","text":"I look."},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls","description":"List"}}]"#,
            1_000,
        ),
        agent(
            "a3",
            "a2",
            r#"[{"type":"tool_use","id":"t2","name":"Agent","input":{"description":"Read console","prompt":"x"}},{"type":"tool_use","id":"t3","name":"Write","input":{"file_path":"/w/src/a.rs","content":"y"}},{"type":"tool_use","id":"t4","name":"Bash","input":{}}]"#,
            1_000,
        ),
        user("r1", Some("a2"), r#"[{"type":"tool_result","tool_use_id":"t","content":"x"}]"#),
        agent("a4", "r1", r#"[{"type":"text","text":"The architecture is sound."}]"#, 1_500),
        user(
            "u2",
            Some("a4"),
            r#"[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"go on"}]"#,
        ),
        agent("a5", "u2", r#"[{"type":"text","text":"Done."}]"#, 1_700),
    ];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let all = rounds(&rows);
    let (first, words) = &all[0];
    assert_eq!((first.seq, first.rows, first.user, first.assistant), (1, 6, true, true));
    assert_eq!(first.user_preview, "Read the console, ü |");
    assert_eq!(first.agent_preview, "The architecture is sound.");
    assert_eq!(words.agent, "I look.\n\nThe architecture is sound.");
    assert_eq!(first.key_tool.as_deref(), Some("Agent·Read console"));
    assert_eq!(
        first.tools.iter().map(|(n, c)| (n.as_str(), *c)).collect::<Vec<_>>(),
        [("Agent", 1), ("Bash", 2), ("Write", 1)]
    );
    assert_eq!(first.files.iter().collect::<Vec<_>>(), ["/w/src/a.rs"]);
    assert!(!first.measured && first.tokens > 50, "{first:?}");
    assert_eq!(first.started.unwrap().to_rfc3339(), "2026-03-19T10:23:45.678+00:00");
    let (second, words) = &all[1];
    assert_eq!((second.tokens, second.measured), (200, true));
    assert_eq!(words.user, "go on");
    assert_eq!(second.first_id.as_deref(), Some("u2"));
}

#[test]
fn a_rewound_round_is_measured_against_the_one_it_follows() {
    let texts = r#"[{"type":"text","text":"x"}]"#;
    let meta = user("c1", Some("a1"), r#""<local-command-caveat>x""#);
    let rows = [
        user("u1", None, r#""one""#),
        agent("a1", "u1", texts, 1_000),
        user("u2", Some("a1"), r#""two""#),
        agent("a2", "u2", texts, 9_000),
        user("u3", Some("a1"), r#""instead of two""#),
        agent("a3", "u3", texts, 1_400),
        // A caveat before a command, after a rewind: the command follows the caveat's parent.
        meta,
        user(
            "u4",
            Some("c1"),
            r#""<command-name>/model</command-name><command-args>opus</command-args>""#,
        ),
        agent("a4", "u4", texts, 1_100),
        user("u5", None, r#""to the very start""#),
        user("u6", Some("nowhere"), r#""broken""#),
    ];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let all = rounds(&rows);
    let seen: Vec<_> = all.iter().map(|(round, _)| round.measured).collect();
    assert_eq!(seen, [false, true, true, true, false, false]);
    assert_eq!((all[2].0.tokens, all[3].0.tokens), (400, 100));
    assert_eq!(all[3].1.user, "/model opus");
}

#[test]
fn a_compaction_is_a_round_that_nothing_is_measured_against() {
    let boundary = r#"{"parentUuid":null,"logicalParentUuid":"a1","isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","uuid":"b1","timestamp":"2026-03-19T10:25:00Z","compactMetadata":{"postTokens":2875}}"#;
    let summary = user("s1", Some("b1"), r#""This session is being continued""#)
        .replace(r#""type":"user""#, r#""type":"user","isCompactSummary":true"#);
    let rows = [
        user("u1", None, r#""one""#),
        agent("a1", "u1", r#"[{"type":"text","text":"x"}]"#, 1_000),
        boundary.to_owned(),
        summary,
        user("c1", Some("s1"), r#""<command-name>/compact</command-name>""#),
        user("u2", Some("c1"), r#""two""#),
        agent("a2", "u2", r#"[{"type":"text","text":"y"}]"#, 5_000),
        user("u3", Some("a2"), r#""<bash-input>ls</bash-input>""#),
        user("n3", Some("u3"), r#""<bash-stdout>x</bash-stdout>""#),
        user("u4", Some("n3"), r#""four""#),
        agent("a4", "u4", r#"[{"type":"text","text":"z"}]"#, 5_600),
    ];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let all = rounds(&rows);
    let seen: Vec<_> = all.iter().map(|(r, _)| (r.boundary, r.user, r.rows, r.measured)).collect();
    let expected = [
        (false, true, 2, false),
        (true, false, 3, false),
        (false, true, 2, false),
        (false, true, 2, false),
        (false, true, 2, true),
    ];
    assert_eq!(seen, expected);
    assert_eq!(all[1].0.user_preview, "This session is being continued");
    assert_eq!((all[3].1.user.as_str(), all[4].0.tokens), ("! ls", 600));
    assert_eq!(all[1].1, Words::default());
}

/// A compaction keeps rounds: their tokens are their own, not the base's or its round's.
#[test]
fn what_a_compaction_kept_is_counted_once() {
    let boundary = |kept: &str| {
        format!(
            r#"{{"parentUuid":null,"logicalParentUuid":"a1","isSidechain":false,"type":"system","subtype":"compact_boundary","uuid":"b1","timestamp":"2026-03-19T10:25:00Z","compactMetadata":{{"preservedMessages":{{"anchorUuid":"s1","uuids":[{kept}]}}}}}}"#
        )
    };
    let summary = user("s1", Some("b1"), r#""so far""#)
        .replace(r#""type":"user""#, r#""type":"user","isCompactSummary":true"#);
    let text = r#"[{"type":"text","text":"x"}]"#;
    let figures = |kept: &str| {
        let rows = [
            user("u1", None, r#""one""#),
            agent("a1", "u1", text, 20_000),
            user("u2", Some("a1"), r#""two""#),
            agent("a2", "u2", text, 35_000),
            boundary(kept),
            summary.clone(),
            agent("a9", "s1", text, 36_000),
        ];
        let lines: Vec<&str> = rows.iter().map(String::as_str).collect();
        let (mut digest, mut scratch, mut tokens) = (Digest::default(), Scratch::default(), vec![]);
        for line in &lines {
            let row = Claude.row(line.as_bytes(), &mut scratch);
            let ended = digest.row(&Claude, &row, line.as_bytes(), scratch.blocks());
            tokens.extend(ended.map(|(round, _)| round.tokens));
        }
        tokens.push(digest.open().unwrap().0.tokens);
        (digest.base().unwrap(), tokens)
    };
    let (base, tokens) = figures(r#""u2","a2""#);
    assert_eq!((base > 20_900, base <= 21_000, tokens[1]), (true, true, 15_000));
    assert!(tokens[2] < 100, "{tokens:?}");
}

#[test]
fn previews_are_one_line_of_whole_characters() {
    assert_eq!(preview(" a\n\t b\u{1b} c ", 80), "a b c");
    assert_eq!(preview(&"ü".repeat(80), 80), "ü".repeat(80));
    assert_eq!(preview(&"ü".repeat(81), 80), "ü".repeat(80) + "...");
    assert_eq!(preview("ab cd", 2), "ab...");
    assert_eq!(preview("ab  ", 2), "ab");
    assert_eq!(preview("", 5), "");
}

#[test]
fn a_digest_put_down_goes_on_as_if_it_had_not_been() {
    let rows = [
        user("u1", None, r#""one""#),
        agent("a1", "u1", r#"[{"type":"text","text":"x"}]"#, 1_000),
        user("u2", Some("a1"), r#""two""#),
    ];
    let mut digest = Digest::default();
    let (mut scratch, mut blocks) = (Scratch::default(), Vec::new());
    for row in &rows {
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
        let line = row.as_bytes();
        let row = Claude.row(line, &mut scratch);
        Claude.blocks(line, &row, &mut scratch, &mut blocks);
        digest.row(&Claude, &row, line, &blocks);
    }
    assert_eq!(digest.session().cwd.as_deref(), Some("/w"));
    assert_eq!(digest.seq(), 2);
}
