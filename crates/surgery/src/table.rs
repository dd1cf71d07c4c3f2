//! The index table: one line per round.

use super::ranges;
use base::shown::format_minute;
use sessions::digest::preview;
use sessions::round::{Round, Session};

/// Characters of a session's id in a reference.
const SHORT: usize = 8;
/// Characters that identify a round.
pub(crate) const BEGINS: usize = 40;

/// The head of a table.
pub const HEAD: &str = "| round | time | who | what |\n|---|---|---|---|";

/// One line of the table:
/// `| 047 | 2026-03-19T10:23Z | user→assistant | [tool_use: Agent·Read console] → "The architecture is..." |`
pub fn line(round: &Round) -> String {
    numbered(&number(round.seq), round)
}

/// A line of a merge's table: the session, its rounds, and how the first one begins:
/// `| 3f0a9d1e | 1-2 | "What is the architecture?..." |`
pub fn voice(session: &Session, seqs: &[u32]) -> String {
    let first = seqs.first().and_then(|seq| session.round(*seq));
    let words = first.map(|round| preview(&round.user_preview, BEGINS)).unwrap_or_default();
    let words = if words.is_empty() { "-".to_owned() } else { format!("\"{}\"", cell(&words)) };
    format!("| {} | {} | {words} |", short(&session.id), ranges::show(seqs))
}

/// The number of a round as shown: `047`.
pub fn number(seq: u32) -> String {
    format!("{seq:03}")
}

/// A reference to a round that works everywhere: `3f0a9d1e:047`. [`super::inject::parse`] reads it.
pub fn reference(session: &Session, seq: u32) -> String {
    format!("{}:{}", short(&session.id), number(seq))
}

/// A prefix of a session's id that tells it from others. It is longer for subagents, whose ids all
/// begin with the same word, and where an id begins with the time.
pub fn short(id: &str) -> &str {
    // Ids of pi begin with the time, which has 12 digits.
    let is_timed = id.len() == 36 && id.as_bytes()[14] == b'7';
    let word = match id {
        _ if id.starts_with("agent-") => "agent-".len(),
        _ if is_timed => "-0000".len(),
        _ => 0,
    };
    let end = id.char_indices().nth(word + SHORT).map_or(id.len(), |(at, _)| at);
    &id[..end]
}

/// Who speaks in a round: `user→assistant`.
pub fn roles(round: &Round) -> &'static str {
    match (round.user, round.assistant) {
        (true, true) => "user→assistant",
        (true, false) => "user",
        (false, true) => "assistant",
        (false, false) => "-",
    }
}

/// A round in a few words for a person who looks for it: how the user begins; without a user, its
/// key tool call and the agent's words.
pub fn summary(round: &Round) -> String {
    match round.user_preview.as_str() {
        "" => content(round),
        words => words.to_owned(),
    }
}

fn numbered(number: &str, round: &Round) -> String {
    row(number, &format_minute(round.started), roles(round), &content(round))
}

pub(crate) fn row(number: &str, time: &str, who: &str, what: &str) -> String {
    format!("| {number} | {time} | {who} | {what} |")
}

/// What a round is about: its key tool call and the agent's words, or the user's words if the agent
/// did and said nothing.
pub(crate) fn content(round: &Round) -> String {
    let tool = round.key_tool.as_ref().map(|tool| format!("[tool_use: {}]", cell(tool)));
    let words = match (round.agent_preview.as_str(), &tool) {
        ("", None) => round.user_preview.as_str(),
        (agent, _) => agent,
    };
    let words = Some(words).filter(|w| !w.is_empty()).map(|w| format!("\"{}\"", cell(w)));
    match (tool, words) {
        (Some(tool), Some(words)) => format!("{tool} → {words}"),
        (tool, words) => tool.or(words).unwrap_or_else(|| "-".to_owned()),
    }
}

/// A text that cannot end its cell or line.
pub(crate) fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' => cell.push_str("\\|"),
            '\u{2028}' | '\u{2029}' => cell.push(' '),
            c if c.is_control() => cell.push(' '),
            c => cell.push(c),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::at;

    fn round() -> Round {
        Round {
            seq: 47,
            started: Some(at("2026-03-19T10:23:45.678Z")),
            user: true,
            assistant: true,
            user_preview: "What is the architecture?".into(),
            agent_preview: "The architecture is...".into(),
            key_tool: Some("Agent·Read console".into()),
            ..Round::default()
        }
    }

    #[test]
    fn a_line_has_the_documented_form() {
        let expected = "| 047 | 2026-03-19T10:23Z | user→assistant | [tool_use: Agent·Read console] \
                        → \"The architecture is...\" |";
        assert_eq!(super::line(&round()), expected);
    }

    #[test]
    fn a_voice_is_known_by_its_first_words() {
        let session = Session {
            id: "3f0a9d1e-77b0".into(),
            rounds: vec![round(), Round { seq: 48, ..Round::default() }],
            ..Session::default()
        };
        assert_eq!(
            voice(&session, &[47, 48]),
            "| 3f0a9d1e | 47-48 | \"What is the architecture?\" |"
        );
        assert_eq!(voice(&session, &[48]), "| 3f0a9d1e | 48 | - |");
    }

    #[test]
    fn what_is_missing_is_left_out() {
        let content = |round: &Round| super::line(round).split(" | ").nth(3).unwrap().to_owned();
        assert_eq!(content(&Round { key_tool: None, ..round() }), "\"The architecture is...\" |");
        let silent = Round { agent_preview: String::new(), ..round() };
        assert_eq!(content(&silent), "[tool_use: Agent·Read console] |");
        let unanswered = Round { key_tool: None, assistant: false, ..silent };
        assert_eq!(
            super::line(&unanswered),
            "| 047 | 2026-03-19T10:23Z | user | \"What is the architecture?\" |"
        );
        assert_eq!(super::line(&Round { seq: 1234, ..Round::default() }), "| 1234 | - | - | - |");
    }

    #[test]
    fn a_summary_begins_with_the_users_words() {
        assert_eq!(summary(&round()), "What is the architecture?");
        let silent = Round { user_preview: String::new(), ..round() };
        assert_eq!(summary(&silent), "[tool_use: Agent·Read console] → \"The architecture is...\"");
    }

    #[test]
    fn nothing_in_a_text_breaks_the_line() {
        let nasty = Round {
            key_tool: Some("Bash·a | b".into()),
            agent_preview: "x\ny\u{2028}| z\u{1b}[0m\t|".into(),
            ..round()
        };
        let line = super::line(&nasty);
        assert!(line.ends_with("[tool_use: Bash·a \\| b] → \"x y \\| z [0m \\|\" |"), "{line}");
        assert!(!line.contains(|c: char| c.is_control()));
    }

    #[test]
    fn references_name_the_session() {
        let session = |id: &str| Session { id: id.into(), ..Session::default() };
        assert_eq!(reference(&session("3f0a9d1e-77b0-4a1c"), 47), "3f0a9d1e:047");
        assert_eq!(reference(&session("agent-a57d1be77952c40a2"), 1), "agent-a57d1be7:001");
        assert_eq!(reference(&session("ab"), 1000), "ab:1000");
    }
}
