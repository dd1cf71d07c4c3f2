//! Whether a run may be in progress in a session of pi or `OpenClaw`, by the file alone. Since
//! 2026.5.17 the gateway releases its lock while the model works, and a file that changes then
//! costs the turn.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use super::Stamp;
use crate::flat::parse_author;
use crate::settings::Trigger;
use crate::span;
use base::clock::Time;
use base::tail;

/// A turn without a new row for this long was given up: a tool in the gateway ends after half an
/// hour, unless configured otherwise.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// How far another clock, such as a file server's, may be ahead of ours. A later time says nothing:
/// a clock was set back, or somebody set the file's time.
const AHEAD: Duration = Duration::from_secs(60);

/// The age of a time in nanoseconds since 1970; `None` if it is in the future.
fn age(at: i128, now: i128) -> Option<Duration> {
    match u64::try_from(now - at) {
        Ok(age) => Some(Duration::from_nanos(age)),
        Err(_) => (at - now <= AHEAD.as_nanos().cast_signed()).then_some(Duration::ZERO),
    }
}

/// When the file was last changed in any way: nobody can set that.
fn changed(path: &Path) -> io::Result<i128> {
    let meta = fs::metadata(path)?;
    Ok(i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec()))
}

/// Why the session may be in use; `None` if it is not. `idle`: how long it must have been quiet.
///
/// # Errors
/// I/O errors.
pub fn busy_reason(
    path: &Path,
    stamp: Stamp,
    idle: Duration,
    now: Time,
) -> io::Result<Option<String>> {
    let now = i128::from(now.timestamp_nanos_opt().unwrap_or(i64::MAX));
    let age = match age(stamp.modified, now) {
        None => age(changed(path)?, now),
        known => known,
    };
    if let Some(age) = age.filter(|age| *age < idle) {
        return Ok(Some(format!(
            "{} was written {} s ago, so a run may be in progress. Try again when nothing was written for {} s",
            path.display(),
            age.as_secs(),
            idle.as_secs(),
        )));
    }
    if age.is_some_and(|age| age >= ABANDONED.max(idle)) {
        return Ok(None);
    }
    let mut turn = None;
    tail::lines_backwards(path, |line| {
        turn = turn_of(line);
        if turn.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let open = turn == Some(Turn::Open);
    Ok(open.then(|| match age {
        Some(age) => format!(
            "{}: its last turn is not over, and the file was written {} min ago. Try again after the agent's answer, or {} min after the last row",
            path.display(),
            age.as_secs() / 60,
            ABANDONED.as_secs() / 60,
        ),
        None => format!(
            "{}: its last turn is not over, and the file's time is in the future, so its age is unknown. Try again after the agent's answer, or set the time to now with `touch`",
            path.display(),
        ),
    }))
}

/// The state of a turn after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Open,
    Over,
}

/// What a row says about the turn; `None`: nothing.
fn turn_of(line: &[u8]) -> Option<Turn> {
    // The row is too long for an answer.
    if line.is_empty() {
        return Some(Turn::Open);
    }
    let field = |of, name| span::find(of, name).and_then(span::plain);
    // Flat rows say who wrote them by their type.
    let message = span::find(line, "message").filter(|m| m.starts_with(b"{"));
    let who = match (field(line, "type")?, message) {
        ("message", Some(message)) => field(message, "role")?,
        (kind, _) => kind,
    };
    match parse_author(who)? {
        (_, Trigger::Assistant) => {
            let asks = message.is_some_and(|m| field(m, "stopReason") == Some("toolUse"));
            Some(if asks { Turn::Open } else { Turn::Over })
        }
        _ => Some(Turn::Open),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = r#"{"type":"message","id":"a","message":{"role":"assistant","content":[],"stopReason":"stop"}}"#;
    const ASKS: &str = r#"{"type":"message","id":"a","message":{"role":"assistant","content":[],"stopReason":"toolUse"}}"#;
    const GAVE: &str =
        r#"{"type":"message","id":"r","message":{"role":"toolResult","content":[]}}"#;
    const USER: &str = r#"{"type":"message","id":"u","message":{"role":"user","content":"go"}}"#;

    fn why(rows: &[&str], age: u64) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, rows.join("\n")).unwrap();
        let stamp = Stamp::of(&std::fs::metadata(&path).unwrap());
        let now = Time::from_timestamp_nanos(stamp.modified as i64) + Duration::from_secs(age);
        busy_reason(&path, stamp, Duration::from_secs(30), now).unwrap()
    }

    #[test]
    fn a_quiet_session_behind_an_answer_is_idle() {
        let custom = r#"{"type":"custom","id":"c","customType":"openclaw.cache-ttl","data":{}}"#;
        let shell =
            r#"{"type":"message","id":"b","message":{"role":"bashExecution","command":"ls"}}"#;
        assert_eq!(why(&[USER, SAID, custom, shell, "{\"torn"], 30), None);
        assert_eq!(why(&[], 30), None);
        assert!(why(&[USER, SAID], 29).unwrap().contains("was written 29 s ago"));
    }

    #[test]
    fn a_turn_that_is_open_is_waited_for_and_at_last_given_up() {
        let long = format!("{{\"type\":\"message\",\"x\":\"{}\"}}", "x".repeat(3_000_000));
        for last in [ASKS, GAVE, USER, &long] {
            assert!(
                why(&[USER, last], 31).unwrap().contains("its last turn is not over"),
                "{last:.80}"
            );
            assert_eq!(why(&[USER, last], 3600), None, "{last:.80}");
        }
    }

    /// A clock that was set back, and a file whose time was set.
    #[test]
    fn a_time_that_lies_ahead_keeps_no_session_in_use() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let why = |rows: &[&str], ahead: u64, later: i64| {
            fs::write(&path, rows.join("\n")).unwrap();
            let file = fs::File::options().append(true).open(&path).unwrap();
            let written = std::time::SystemTime::now();
            file.set_modified(written + Duration::from_secs(ahead)).unwrap();
            let stamp = Stamp::of(&fs::metadata(&path).unwrap());
            let now = Time::from(written) + chrono::TimeDelta::seconds(later);
            busy_reason(&path, stamp, Duration::from_secs(30), now).unwrap()
        };
        // Judged by when it was changed.
        assert!(
            why(&[USER, SAID], 86_400, 20).unwrap().contains("ago, so a run may be in progress")
        );
        assert_eq!(why(&[USER, SAID], 86_400, 40), None);
        assert!(why(&[USER], 86_400, 40).unwrap().contains("min ago"));
        assert_eq!(why(&[USER], 86_400, 7_200), None);
        // Judged by nothing, because that is in the future as well.
        assert_eq!(why(&[USER, SAID], 0, -86_400), None);
        assert!(why(&[USER], 0, -86_400).unwrap().contains("`touch`"));
        // A server's clock may differ a little.
        assert!(why(&[USER, SAID], 0, -50).unwrap().contains("was written 0 s ago"));
    }

    #[test]
    fn flat_rows_are_read_too() {
        let flat = |kind: &str| format!(r#"{{"__id":"e","id":"m","type":"{kind}","text":"x"}}"#);
        assert_eq!(why(&[&flat("tool_result"), &flat("assistant_message")], 60), None);
        for open in ["tool_result", "tool", "toolCall", "tool_use", "thinking", "user_message"] {
            assert!(why(&[&flat("assistant_message"), &flat(open)], 60).is_some(), "{open}");
        }
    }
}
