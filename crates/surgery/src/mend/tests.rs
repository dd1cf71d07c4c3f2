use sessions::dialect::Scratch;

use super::{Finding, Mend, Survey};
use crate::validate::{Level, Validator};

const OLD: &str = "00000000-0000-4000-8000-000000000001";
const NEW: &str = "00000000-0000-4000-8000-000000000002";

fn uuid(name: &str) -> String {
    let number = name.bytes().fold(0, |number, byte| number << 8 | u64::from(byte));
    format!("00000000-0000-4000-8000-{number:012x}")
}

fn row(name: &str, parent: &str, kind: &str, content: &str) -> String {
    let parent =
        if parent.is_empty() { "null".to_owned() } else { format!("\"{}\"", uuid(parent)) };
    let agent = match kind {
        "assistant" => format!(r#","id":"msg_{}","model":"claude-opus-5-5""#, &name[1..]),
        _ => String::new(),
    };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}","message":{{"role":"{kind}","content":{content}{agent}}},"uuid":"{}","timestamp":"2026-03-19T10:23:45.678Z","cwd":"/w","sessionId":"{OLD}"}}"#,
        uuid(name)
    )
}

fn asked(name: &str, parent: &str) -> String {
    row(name, parent, "user", &format!("\"ask {name}\""))
}

fn thought(name: &str, parent: &str) -> String {
    row(name, parent, "assistant", r#"[{"type":"thinking","thinking":"","signature":"s"}]"#)
}

fn said(name: &str, parent: &str) -> String {
    row(name, parent, "assistant", &format!(r#"[{{"type":"text","text":"say {name}"}}]"#))
}

/// Two rounds with thinking.
fn sound() -> Vec<String> {
    vec![
        asked("p1", ""),
        thought("t1", "p1"),
        said("a1", "t1"),
        asked("p2", "a1"),
        thought("t2", "p2"),
        said("a2", "t2"),
    ]
}

fn survey(text: &[u8]) -> Mend {
    let mut survey = Survey::default();
    for (at, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        survey.line(at as u64 + 1, line);
    }
    survey.finish()
}

/// The findings, and each new row as `name<parent`; the new session is sound.
fn mended(text: &[u8]) -> (Vec<String>, String) {
    let mut mend = survey(text);
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        mend.line(line, NEW, &mut scratch, &mut out);
    }
    let mut validator = Validator::new(Some(NEW));
    let mut rows = Vec::new();
    for (at, line) in out.split_inclusive(|byte| *byte == b'\n').enumerate() {
        validator.line(at as u64 + 1, line);
        let row: serde_json::Value = serde_json::from_slice(line).unwrap();
        let name = |field: &str| {
            let hex =
                row[field].as_str().unwrap_or_default().rsplit('-').next().unwrap_or_default();
            let hex = hex.trim_start_matches('0');
            let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap() as char;
            (0..hex.len()).step_by(2).map(byte).collect::<String>()
        };
        assert_eq!(row["sessionId"], NEW);
        assert_eq!(row["forkedFrom"]["sessionId"], OLD);
        rows.push(format!("{}<{}", name("uuid"), name("parentUuid")));
    }
    let wrong = validator.finish().into_iter().filter(|found| found.level == Level::Error);
    assert_eq!(wrong.collect::<Vec<_>>(), []);
    let findings = mend.findings.iter().map(ToString::to_string).collect();
    (findings, rows.join(" "))
}

fn lines(rows: &[String]) -> Vec<u8> {
    (rows.join("\n") + "\n").into_bytes()
}

#[test]
fn a_sound_session_has_no_findings() {
    assert_eq!(survey(&lines(&sound())).findings, [] as [Finding; 0]);
    assert_eq!(mended(&lines(&sound())).1, "p1< t1<p1 a1<t1 p2<a1 t2<p2 a2<t2");
    // A session that ends within a call, and one that was rewound.
    let call =
        row("c", "p1", "assistant", r#"[{"type":"tool_use","id":"c","name":"Bash","input":{}}]"#);
    assert_eq!(survey(&lines(&[asked("p1", ""), call])).findings, [] as [Finding; 0]);
    let rewound = [&sound()[..], &[asked("p3", "a1")]].concat();
    assert_eq!(survey(&lines(&rewound)).findings, [] as [Finding; 0]);
}

#[test]
fn a_missing_parent_is_bridged_and_the_thinking_behind_it_left_out() {
    let mut rows = sound();
    rows.remove(2);
    let (findings, now) = mended(&lines(&rows));
    assert_eq!(now, "p1< t1<p1 p2<t1 a2<p2");
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert_eq!(
        findings[0],
        "line 3: it follows a row that is not in the file; now it follows line 2"
    );
    assert_eq!(
        findings[1],
        "line 4: from here, 1 thinking block left out: claude-opus-5-5 refuses thinking behind a change"
    );
    rows.drain(..2);
    assert_eq!(mended(&lines(&rows)).1, "p2< a2<p2");
    let older = String::from_utf8(lines(&rows)).unwrap().replace("opus-5-5", "opus-4-8");
    assert_eq!(mended(older.as_bytes()).1, "p2< t2<p2 a2<t2", "a model that takes it");
}

#[test]
fn rows_that_are_there_twice_are_left_out() {
    let rows = [&sound()[..], &sound()[..3]].concat();
    let (findings, now) = mended(&lines(&rows));
    assert_eq!(now, "p1< t1<p1 a1<t1 p2<a1 t2<p2 a2<t2");
    assert_eq!(findings, ["line 7: up to line 9, rows that are in the file already, left out"]);
}

#[test]
fn a_row_behind_a_torn_one_is_kept() {
    let rows = sound();
    let mut text = lines(&rows[..3]);
    text.truncate(text.len() - 40);
    let text = [text, lines(&rows[3..])].concat();
    let (findings, now) = mended(&text);
    assert_eq!(now, "p1< t1<p1 p2<t1 a2<p2");
    assert!(findings[0].starts_with("line 3: a row that was cut off ("), "{findings:?}");
    assert_eq!(findings.len(), 3, "{findings:?}");
    let end = &lines(&rows)[..lines(&rows).len() - 40];
    assert_eq!(mended(end).1, "p1< t1<p1 a1<t1 p2<a1 t2<p2", "nothing is behind it");
}

#[test]
fn thinking_that_the_api_refused_is_left_out_everywhere() {
    let error = r#"[{"type":"text","text":"API Error: 400 messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."}]"#;
    let error = row("e", "a2", "assistant", error).replace("claude-opus-5-5", "<synthetic>");
    let error = error.replacen('{', r#"{"isApiErrorMessage":true,"#, 1);
    let mut rows = [&sound()[..], &[error]].concat();
    let (findings, now) = mended(&lines(&rows));
    assert_eq!(now, "p1< a1<p1 p2<a1 a2<p2");
    assert_eq!(
        findings,
        [
            "line 2: from here, 2 thinking blocks left out: the API refused thinking (line 7)",
            "line 7: the API's error, left out",
        ]
    );
    // The session went on.
    rows.extend([asked("p3", "a2"), said("a3", "p3")]);
    assert_eq!(survey(&lines(&rows)).findings, [] as [Finding; 0]);
    // Thinking beside a text leaves the text.
    let both = r#"[{"type":"thinking","thinking":"","signature":"s"},{"type":"text","text":"so"}]"#;
    rows.truncate(7);
    rows[1] = row("t1", "p1", "assistant", both);
    let (_, now) = mended(&lines(&rows));
    assert_eq!(now, "p1< t1<p1 a1<t1 p2<a1 a2<p2");
}

#[test]
fn a_rewound_round_stays_rewound_behind_a_missing_parent() {
    let rows =
        [asked("p1", ""), asked("p2", "a1"), said("a2", "p2"), asked("p3", "a1"), said("a3", "p3")];
    assert_eq!(mended(&lines(&rows)).1, "p1< p2<p1 a2<p2 p3<p1 a3<p3");
}

#[test]
fn a_summary_whose_boundary_is_lost_begins_the_conversation() {
    let summary = asked("s1", "b1").replacen('{', r#"{"isCompactSummary":true,"#, 1);
    let rows = [&sound()[..], &[summary, asked("p3", "s1")]].concat();
    assert_eq!(mended(&lines(&rows)).1, "p1< t1<p1 a1<t1 p2<a1 t2<p2 a2<t2 s1< p3<s1");
}

#[test]
fn a_bookmark_of_a_missing_row_goes_with_those_before_it() {
    let bookmark = |row: &str| {
        format!(r#"{{"type":"last-prompt","leafUuid":"{}","sessionId":"{OLD}"}}"#, uuid(row))
    };
    let mut rows = sound();
    rows.extend([bookmark("a1"), bookmark("x"), bookmark("a2"), asked("p3", "y")]);
    let mut mend = survey(&lines(&rows));
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    for line in lines(&rows).split_inclusive(|byte| *byte == b'\n') {
        mend.line(line, NEW, &mut scratch, &mut out);
    }
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.matches("last-prompt").count(), 1, "{text}");
    assert!(text.contains(&bookmark("a2").replace(OLD, NEW)), "{text}");
}
