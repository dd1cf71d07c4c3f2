//! What overrides everything else: signatures, rows that must not be changed, the user's own rules,
//! and what may go early.

use super::*;

/// Unanswered prompts are not answers: a model checks its own last message.
#[test]
fn signed_reasoning_of_the_last_answer_stays_behind_unanswered_prompts() {
    let text = "x".repeat(900);
    let thinking = |id: &str, more: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","_extractable":true,"message":{{"role":"assistant","content":[{{"type":"thinking","thinking":"{text}","thinkingSignature":"c2ln"}}{more}]}}}}"#
        )
    };
    let user = |id: &str| {
        format!(r#"{{"type":"message","id":"{id}","message":{{"role":"user","content":"go on"}}}}"#)
    };
    let call = r#",{"type":"toolCall","id":"c","name":"exec","arguments":{}}"#;
    let gave = r#"{"type":"message","id":"r","message":{"role":"toolResult","toolCallId":"c","content":[]}}"#;
    let rows = [thinking("a", ""), thinking("b", ""), user("u"), user("v")];
    assert_eq!(said(&rows, 0, &bare()), Ok(()));
    assert_eq!(said(&rows, 1, &bare()), Err(Stays::Turn));
    let rows = [thinking("a", call), gave.to_owned(), user("u")];
    assert_eq!(said(&rows, 0, &bare()), Err(Stays::Turn));
    // An abandoned branch has a later answer; on this branch it does not count.
    let left = thinking("b", "").replace(r#""id":"b""#, r#""id":"b","parentId":"u""#);
    let on = user("v").replace(r#""id":"v""#, r#""id":"v","parentId":"a""#);
    let rows = [thinking("a", ""), user("u"), left, on];
    assert_eq!(said(&rows, 0, &bare()), Err(Stays::Turn));
}

#[test]
fn a_row_that_is_no_valid_json_stays_whatever_is_said() {
    let row = flat("a", "tool_result", 900, r#","_extractable":true,"x":"a	b""#);
    assert_eq!(said(&[row], 0, &bare()), Err(Stays::Broken));
}

/// It may go before it is old, but every other rule still applies.
#[test]
fn what_stands_again_is_only_let_off_its_age() {
    let early = |row: &str, settings: &ExtractSettings| {
        let rows = [flat("u", "user", 9, ""), row.to_owned(), flat("v", "user", 9, "")];
        let entries = read(rows.join("\n").as_bytes());
        let at = positions(&entries)[1];
        let rules = Rules::new(settings, now());
        rules.extracted(&entries[1], &entries[1].values[0], at, Some(Goes::Again))
    };
    let recent = ExtractSettings { keep_recent: 9, ..bare() };
    let result = |more: &str| flat("a", "tool_result", 900, more);
    assert_eq!(early(&result(""), &recent), Ok(Goes::Again));
    assert_eq!(early(&result(""), &bare()), Ok(Goes::Old), "it is old besides");
    for (row, stays) in [
        (result(r#","_extractable":false"#), Stays::Said),
        (result(r#","_extractable":4"#), Stays::Said),
        (result(r#","isError":true"#), Stays::Error),
        (result(&format!(r#","_restored":"{}""#, now().to_rfc3339())), Stays::Restored),
        (flat("a", "assistant", 900, ""), Stays::Type),
        (flat("a", "tool_result", 400, ""), Stays::Short),
    ] {
        assert_eq!(early(&row, &recent), Err(stays), "{row:.90}");
    }
    let turn = ExtractSettings { protect_turns: 2, ..recent };
    assert_eq!(early(&result(""), &turn), Err(Stays::Turn));
}
