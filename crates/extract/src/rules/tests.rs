//! What is extracted and what stays: the life of a restored value, and each rule alone.

mod anew;
mod first;

use chrono::DateTime;

use super::*;
use crate::entry::tests::read;
use sessions::settings::Fixed;

fn now() -> Time {
    DateTime::parse_from_rfc3339("2026-02-20T17:30:00Z").unwrap().to_utc()
}

/// No value is protected by its position.
fn bare() -> ExtractSettings {
    ExtractSettings { keep_recent: 0, protect_turns: 0, ..ExtractSettings::default() }
}

/// What the rules say about the first value of the entry at `n`.
fn said(rows: &[String], n: usize, settings: &ExtractSettings) -> Result<(), Stays> {
    let entries = read(rows.join("\n").as_bytes());
    let at = positions(&entries)[n];
    Rules::new(settings, now()).extracted(&entries[n], &entries[n].values[0], at, None).map(|_| ())
}

/// A flat row with that many characters.
fn flat(id: &str, kind: &str, chars: usize, more: &str) -> String {
    let text = "x".repeat(chars);
    format!(r#"{{"type":"{kind}","__id":"{id}","output":"{text}"{more}}}"#)
}

/// A result that was restored that many seconds ago, alone in its session.
fn restored(seconds: i64, more: &str) -> Vec<String> {
    let at = (now() - Duration::seconds(seconds)).to_rfc3339();
    vec![flat("msg-456", "tool_result", 900, &format!(r#","_restored":"{at}"{more}"#))]
}

#[test]
fn freshly_restored_entry_is_protected() {
    assert_eq!(said(&restored(5 * 60, ""), 0, &bare()), Err(Stays::Restored));
}

#[test]
fn expired_protection_allows_extraction() {
    assert_eq!(said(&restored(15 * 60, ""), 0, &bare()), Ok(()));
}

/// The content is in the answer to the call, where the client does not put it back.
#[test]
fn an_answer_to_a_restore_is_protected_as_long() {
    let row = |seconds: i64| {
        let at = (now() - Duration::seconds(seconds)).to_rfc3339();
        let more = format!(r#","name":"purge_control","timestamp":"{at}""#);
        vec![flat("a", "tool_result", 900, &more)]
    };
    assert_eq!(said(&row(599), 0, &bare()), Err(Stays::Restored));
    assert_eq!(said(&row(600), 0, &bare()), Ok(()));
}

#[test]
fn custom_protection_duration() {
    let settings = ExtractSettings { keep_after_restore_seconds: 30, ..bare() };
    assert_eq!(said(&restored(30, ""), 0, &settings), Ok(()), "at the boundary");
    assert_eq!(said(&restored(29, ""), 0, &settings), Err(Stays::Restored));
    let forever = ExtractSettings { keep_after_restore_seconds: u64::MAX, ..bare() };
    assert_eq!(said(&restored(900_000, ""), 0, &forever), Err(Stays::Restored));
    let never = ExtractSettings { keep_after_restore_seconds: 0, ..bare() };
    assert_eq!(said(&restored(0, ""), 0, &never), Ok(()));
}

/// [`crate::restore`] tests the answer to a second restore. The time of the first is known even
/// after the value was extracted again.
#[test]
fn an_entry_keeps_the_time_of_its_restore() {
    let entries = read(restored(7 * 3_600 + 1_800, "")[0].as_bytes());
    assert_eq!(entries[0].restored.unwrap().to_rfc3339(), "2026-02-20T10:00:00+00:00");
    assert_eq!(said(&restored(7 * 3_600, ""), 0, &bare()), Ok(()));
}

#[test]
fn extractable_override_bypasses_time_protection() {
    assert_eq!(said(&restored(60, r#","_extractable":true"#), 0, &bare()), Ok(()));
}

#[test]
fn extractable_false_prevents_all_extraction() {
    assert_eq!(said(&restored(3_600, r#","_extractable":false"#), 0, &bare()), Err(Stays::Said));
}

/// Ten messages, three of which stay: the seven older ones are extracted.
#[test]
fn the_recent_messages_stay() {
    let rows: Vec<String> =
        (0..10).map(|n| flat(&format!("m{n}"), "tool_result", 600, "")).collect();
    let settings = ExtractSettings { keep_recent: 3, ..bare() };
    for n in 0..10 {
        let expected = if n < 7 { Ok(()) } else { Err(Stays::Recent) };
        assert_eq!(said(&rows, n, &settings), expected, "{n}");
        assert_eq!(said(&rows, n, &bare()), Ok(()), "keep_recent 0 is everything");
    }
}

/// Rows that are not messages, further rows of one message, and abandoned branches do not make an
/// entry older.
#[test]
fn only_messages_of_the_conversation_count() {
    let message = |id: &str, parent: &str, role: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"{role}","content":[]}}}}"#
        )
    };
    let other = r#"{"type":"model_change","id":"o","parentId":"a"}"#.to_owned();
    let rows = [
        message("a", "", "user"),
        other,
        message("b", "o", "assistant"),
        message("x", "b", "user"),
        message("y", "x", "assistant"),
        message("c", "b", "toolResult"),
    ];
    let entries = read(rows.join("\n").as_bytes());
    let behind: Vec<u32> = positions(&entries).iter().map(|at| at.from_end).collect();
    assert_eq!(behind, [2, 2, 1, 1, 1, 0]);
    let part = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","parentUuid":"{parent}","message":{{"id":"msg","role":"assistant","content":[]}}}}"#
        )
    };
    let user =
        r#"{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"x"}}"#;
    let rows = [user.to_owned(), part("a", "u"), part("b", "a"), part("c", "b")];
    let at = positions(&read(rows.join("\n").as_bytes()));
    assert_eq!(at.iter().map(|at| at.from_end).collect::<Vec<_>>(), [1, 0, 0, 0]);
    assert_eq!(at.iter().map(|at| at.turns).collect::<Vec<_>>(), [1, 0, 0, 0]);
}

/// No reader accepts a row that is not JSON: it is not a message, not the first prompt, and not a
/// part of a message.
#[test]
fn rows_that_are_no_json_count_for_nothing() {
    let rows = |broken: &str| {
        [
            flat("u1", "user", 600, broken),
            flat("u2", "user", 600, ""),
            flat("a1", "tool_result", 600, ""),
            flat("a2", "tool_result", 9, broken),
            flat("a3", "assistant", 600, broken),
            flat("a4", "tool_result", 600, ""),
        ]
    };
    let at = |broken: &str| positions(&read(rows(broken).join("\n").as_bytes()));
    let behind = |broken: &str| at(broken).iter().map(|at| at.from_end).collect::<Vec<_>>();
    let turns = |broken: &str| at(broken).iter().map(|at| at.turns).collect::<Vec<_>>();
    assert_eq!(behind(""), [5, 4, 3, 2, 1, 0]);
    assert_eq!(turns(""), [1, 1, 1, 1, 0, 0]);
    for broken in [",\"x\":\"a\tb\"", r#","x":"\y""#, r#","x":nul"#, ",\"x\":01"] {
        assert_eq!(behind(broken), [3, 2, 1, 1, 1, 0], "{broken}");
        assert_eq!(turns(broken), [0; 6], "{broken}");
        let first: Vec<bool> = at(broken).iter().map(|at| at.first).collect();
        assert_eq!(first, [false, true, false, false, false, false], "{broken}");
    }
    let settings = ExtractSettings { keep_recent: 1, ..bare() };
    assert_eq!(said(&rows(r#","x":nul"#), 2, &settings), Ok(()));
    let settings = ExtractSettings { keep_recent: 2, ..bare() };
    assert_eq!(said(&rows(r#","x":nul"#), 2, &settings), Err(Stays::Recent));
    let part = |id: &str, more: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","message":{{"id":"msg","role":"assistant","content":[]}}{more}}}"#
        )
    };
    let rows = [part("a", r#","x":nul"#), part("b", ""), part("c", "")];
    let at = positions(&read(rows.join("\n").as_bytes()));
    assert_eq!(at.iter().map(|at| at.from_end).collect::<Vec<_>>(), [1, 0, 0]);
}

/// A turn is a message of the agent with the results of its calls; a prompt starts one.
#[test]
fn the_last_turns_stay() {
    let turns = |kinds: &[&str]| {
        let rows: Vec<_> =
            kinds.iter().enumerate().map(|(n, kind)| flat(&n.to_string(), kind, 600, "")).collect();
        let at = positions(&read(rows.join("\n").as_bytes()));
        at.iter().map(|at| at.turns).collect::<Vec<_>>()
    };
    assert_eq!(
        turns(&["user", "assistant", "tool_result", "assistant", "tool_result"]),
        [2, 1, 1, 0, 0]
    );
    assert_eq!(turns(&["thinking", "user", "user", "user"]), [1, 0, 0, 0]);
    assert_eq!(turns(&["user", "assistant"]), [1, 0]);
    assert_eq!(turns(&["assistant", "user"]), [1, 0]);
    let rows = ["user", "assistant", "tool_result", "assistant", "tool_result"];
    let rows: Vec<_> =
        rows.iter().enumerate().map(|(n, k)| flat(&n.to_string(), k, 600, "")).collect();
    for (protect_turns, old, new) in [
        (0, Ok(()), Ok(())),
        (1, Ok(()), Err(Stays::Turn)),
        (2, Err(Stays::Turn), Err(Stays::Turn)),
    ] {
        let settings = ExtractSettings { protect_turns, ..bare() };
        assert_eq!(said(&rows, 2, &settings), old, "{protect_turns}");
        assert_eq!(said(&rows, 4, &settings), new, "{protect_turns}");
    }
}

/// Models reject a conversation in which the signed reasoning of the last message was touched.
#[test]
fn signed_reasoning_of_the_last_turn_stays_whatever_is_said() {
    let text = "x".repeat(900);
    let thinking = |id: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","_extractable":true,"message":{{"role":"assistant","content":[{{"type":"thinking","thinking":"{text}","thinkingSignature":"c2ln"}}]}}}}"#
        )
    };
    let rows = [thinking("a"), thinking("b")];
    assert_eq!(said(&rows, 0, &bare()), Ok(()));
    assert_eq!(said(&rows, 1, &bare()), Err(Stays::Turn));
}

#[test]
fn the_length_counts_in_characters() {
    let row = |chars| vec![flat("a", "tool_result", chars, "")];
    assert_eq!(said(&row(500), 0, &bare()), Ok(()), "at that length");
    assert_eq!(said(&row(499), 0, &bare()), Err(Stays::Short));
    let wide =
        vec![flat("a", "tool_result", 0, "").replace("\"\"", &format!("\"{}\"", "日".repeat(499)))];
    assert_eq!(said(&wide, 0, &bare()), Err(Stays::Short), "1497 bytes");
    let call = |chars| vec![flat("a", "tool_call", chars, "")];
    assert_eq!(said(&call(2_000), 0, &bare()), Ok(()), "a call's arguments stay longer");
    assert_eq!(said(&call(1_999), 0, &bare()), Err(Stays::Short));
    let all = ExtractSettings { min_value_length: 0, ..bare() };
    assert_eq!(said(&row(98), 0, &all), Err(Stays::NoGain));
    let forced = vec![flat("a", "user", 120, r#","_extractable":true"#)];
    assert_eq!(said(&forced, 0, &bare()), Ok(()), "short, of no type, the user's first");
}

#[test]
fn types_by_name_by_star_and_by_pipe() {
    let kinds = ["thinking", "tool_result", "tool_call", "user", "assistant"];
    for (types, expected) in [
        (&["thinking", "tool_result"][..], [true, true, false, false, false]),
        (&["*"], [true; 5]),
        (&["toolCall|user", "assistant"], [false, false, true, true, true]),
        (&[], [false; 5]),
    ] {
        let settings = ExtractSettings {
            trigger_types: types.iter().map(ToString::to_string).collect(),
            ..bare()
        };
        for (kind, extracted) in kinds.iter().zip(expected) {
            // The user's first message stays in any case.
            let rows = [flat("u", "user", 900, ""), flat("a", kind, 2_000, "")];
            let expected = if extracted { Ok(()) } else { Err(Stays::Type) };
            assert_eq!(said(&rows, 1, &settings), expected, "{kind} {types:?}");
            if *kind == "user" && extracted {
                assert_eq!(said(&rows, 0, &settings), Err(Stays::First));
            }
        }
    }
}

/// A number protects as `keep_recent` does, and replaces it; after that, the other rules apply.
#[test]
fn a_number_replaces_keep_recent() {
    let rows = |behind: usize, chars: usize| {
        let mut rows = vec![flat("a", "tool_result", chars, r#","_extractable":5"#)];
        rows.extend((0..behind).map(|n| flat(&n.to_string(), "tool_result", 600, "")));
        rows
    };
    for keep_recent in [0, 3, 100] {
        let settings = ExtractSettings { keep_recent, ..bare() };
        assert_eq!(said(&rows(4, 600), 0, &settings), Err(Stays::Said), "{keep_recent}");
        assert_eq!(said(&rows(5, 600), 0, &settings), Ok(()), "{keep_recent}");
    }
    assert_eq!(said(&rows(9, 300), 0, &bare()), Err(Stays::Short));
    let row = |said| flat("a", "tool_result", 600, &format!(r#","_extractable":{said}"#));
    let extractable = |said| read(row(said).as_bytes())[0].extractable;
    for (number, messages) in
        [("10.0", 10), ("1e1", 10), ("-0.0", 0), ("99999999999", u32::MAX), ("1e300", u32::MAX)]
    {
        assert_eq!(extractable(number), Some(Extractable::After(messages)), "{number}");
    }
    assert_eq!(extractable("null"), None);
    // An unclear value keeps the entry: it may have meant `false`.
    for odd in ["-1", "1.5", "\"true\"", "\"false\"", "\"10\"", "[]", "{}", "1e999"] {
        assert_eq!(said(&[row(odd)], 0, &bare()), Err(Stays::Unclear), "{odd}");
    }
}

#[test]
fn tools_are_protected_by_globs() {
    let result = |tool: &str| vec![flat("a", "tool_result", 900, &format!(r#","name":"{tool}""#))];
    let settings =
        ExtractSettings { protect: vec!["mcp__memory__*".into(), "{skill,todo}".into()], ..bare() };
    for (tool, stays) in
        [("mcp__memory__read", true), ("skill", true), ("skills", false), ("exec", false)]
    {
        let expected = if stays { Err(Stays::Tool) } else { Ok(()) };
        assert_eq!(said(&result(tool), 0, &settings), expected, "{tool}");
    }
    // A result that names only its call.
    let call = flat("c", "tool_call", 9, r#","toolCallId":"t1","name":"skill""#);
    let gave = |id: &str| flat("a", "tool_result", 900, &format!(r#","toolCallId":"{id}""#));
    assert_eq!(said(&[call.clone(), gave("t1")], 1, &settings), Err(Stays::Tool));
    assert_eq!(said(&[call, gave("t2")], 1, &settings), Ok(()));
    let calls = ExtractSettings { trigger_types: vec!["tool_call".into()], ..settings };
    let call = flat("a", "tool_call", 2_000, r#","name":"skill""#);
    assert_eq!(said(&[call], 0, &calls), Err(Stays::Tool));
}

#[test]
fn errors_are_kept() {
    let rows = vec![flat("a", "tool_result", 900, r#","isError":true"#)];
    assert_eq!(said(&rows, 0, &bare()), Err(Stays::Error));
    let settings =
        ExtractSettings { fixed: Fixed { keep_errors: false, ..Fixed::default() }, ..bare() };
    assert_eq!(said(&rows, 0, &settings), Ok(()));
}
