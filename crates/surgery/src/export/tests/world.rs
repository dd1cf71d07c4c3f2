//! Sessions to export, in the shapes of the real client's rows, and their exports.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::export::{Birth, Failed, Reading, Report, Text, all};
use crate::plan::{Left, Lineage, Performed, Piece, Place, Plan};
use base::clock::Time;
use sessions::dialect::{self, Dialect, Kind, Scratch};
use sessions::operation::Fidelity;
use sessions::round::{Round, Rounds, Session};
use sessions::rows::Rows;
use sessions::sent;

pub(crate) const NEW: &str = "99999999-9999-4999-8999-999999999999";
pub(crate) const OLD: &str = "11111111-1111-4111-8111-111111111111";
pub(crate) const OTHER: &str = "22222222-2222-4222-8222-222222222222";

/// Writes rows as the client does: the parent of each is the row before, unless given.
pub(crate) struct Client {
    pub id: String,
    pub text: String,
    count: u32,
    last: Option<String>,
}

impl Client {
    pub fn new(id: &str) -> Self {
        Self { id: id.to_owned(), text: String::new(), count: 0, last: None }
    }

    fn uuid(&self, count: u32) -> String {
        format!("{}-0000-4000-8000-{count:012x}", &self.id[..8])
    }

    /// Appends a row to the chain; returns its id.
    pub fn row(&mut self, kind: &str, fields: &str) -> String {
        let parent = self.last.clone();
        self.row_on(parent.as_deref(), kind, fields)
    }

    pub fn row_on(&mut self, parent: Option<&str>, kind: &str, fields: &str) -> String {
        self.count += 1;
        let uuid = self.uuid(self.count);
        let parent = parent.map_or("null".to_owned(), |p| format!("\"{p}\""));
        let (id, at) = (&self.id, stamp(self.count));
        writeln!(
            self.text,
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}",{fields},"uuid":"{uuid}","timestamp":"{at}","cwd":"/p","sessionId":"{id}","version":"2.1.329"}}"#
        )
        .unwrap();
        self.last = Some(uuid.clone());
        uuid
    }

    pub fn prompt(&mut self, words: &str) -> String {
        self.row("user", &format!(r#""message":{{"role":"user","content":"{words}"}}"#))
    }

    /// One block of the agent's message `message`.
    pub fn agent(&mut self, message: &str, block: &str) -> String {
        let fields = format!(
            r#""message":{{"id":"{message}","type":"message","role":"assistant","content":[{block}],"usage":{{"input_tokens":7,"cache_read_input_tokens":1000,"output_tokens":11}}}}"#
        );
        self.row("assistant", &fields)
    }

    pub fn call(&mut self, message: &str, id: &str) -> String {
        self.agent(
            message,
            &format!(
                r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"ls {id}"}}}}"#
            ),
        )
    }

    /// A result; its parent is its call.
    pub fn result(&mut self, call: &str, id: &str) -> String {
        let fields = format!(
            r#""message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":"gave {id} \"quoted\""}}]}},"toolUseResult":{{"stdout":"gave {id}"}},"sourceToolAssistantUUID":"{call}""#
        );
        self.row_on(Some(call), "user", &fields)
    }

    pub fn attachment(&mut self, kind: &str) -> String {
        self.row(
            "attachment",
            &format!(r#""attachment":{{"type":"{kind}"}},"rendered":[{{"content":"x"}}]"#),
        )
    }

    pub fn bookkeeping(&mut self) {
        let leaf = self.last.clone().unwrap_or_default();
        let id = &self.id;
        writeln!(self.text, r#"{{"type":"last-prompt","leafUuid":"{leaf}","sessionId":"{id}"}}"#)
            .unwrap();
    }

    /// A round with everything: thinking, parallel calls, attachments, bookkeeping.
    pub fn round(&mut self, number: u32) {
        let (a, b) = (format!("msg_{number}a"), format!("msg_{number}b"));
        let (one, two) = (format!("toolu_{number}_1"), format!("toolu_{number}_2"));
        self.prompt(&format!("question {number}"));
        self.attachment("environment");
        self.bookkeeping();
        self.agent(&a, &thinking(number));
        self.agent(&a, &format!(r#"{{"type":"text","text":"let me look {number}"}}"#));
        let first = self.call(&a, &one);
        let second = self.call(&a, &two);
        self.result(&first, &one);
        self.result(&second, &two);
        self.attachment("hook_success");
        self.agent(&b, &format!(r#"{{"type":"text","text":"answer {number}"}}"#));
        self.row("system", r#""subtype":"turn_duration","durationMs":5"#);
        self.bookkeeping();
    }

    /// What `/compact` writes; the rows with these ids stay in the context.
    pub fn compaction(&mut self, kept: &[&str]) {
        let before = self.last.clone().unwrap_or_default();
        let (kept, summary) = (serde_json::to_string(kept).unwrap(), self.uuid(self.count + 2));
        let fields = format!(
            r#""logicalParentUuid":"{before}","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{{"trigger":"manual","preservedMessages":{{"anchorUuid":"{summary}","uuids":{kept}}}}}"#
        );
        self.row_on(None, "system", &fields);
        self.row("user", r#""message":{"role":"user","content":"This session is being continued"},"isVisibleInTranscriptOnly":true,"isCompactSummary":true"#);
        self.row("user", r#""message":{"role":"user","content":"<local-command-stdout>Compacted</local-command-stdout>"}"#);
    }
}

pub(crate) fn thinking(number: u32) -> String {
    format!(r#"{{"type":"thinking","thinking":"thought {number}","signature":"c2ln{number}"}}"#)
}

pub(crate) fn stamp(count: u32) -> String {
    time(count).to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

pub(crate) fn time(count: u32) -> Time {
    chrono::DateTime::from_timestamp(1_790_000_000 + i64::from(count), 0).unwrap()
}

/// A session with that many full rounds.
pub(crate) fn session(id: &str, rounds: u32) -> Source {
    let mut client = Client::new(id);
    (1..=rounds).for_each(|number| client.round(number));
    Source::new(id, &client.text)
}

/// A session and the rows of its rounds, as the store gives them.
pub(crate) struct Source {
    pub session: Session,
    pub rounds: Vec<Rows>,
}

impl Source {
    pub fn new(id: &str, text: &str) -> Self {
        let dialect = dialect::detect(text.lines().next().unwrap_or_default().as_bytes());
        Self::of(id, text.as_bytes(), dialect)
    }

    pub fn of(id: &str, text: &[u8], dialect: &'static dyn Dialect) -> Self {
        let (mut rounds, mut scratch) = (Rounds::default(), Scratch::default());
        let mut source = Self {
            session: Session {
                id: id.to_owned(),
                agent: "claude".to_owned(),
                dialect: dialect.name().to_owned(),
                ..Session::default()
            },
            rounds: vec![Rows::default()],
        };
        let (mut sent, mut ends) = (sent::Rows::default(), Vec::new());
        for line in text.split_inclusive(|b| *b == b'\n') {
            let row = dialect.row(line, &mut scratch);
            let begins = sent.len();
            sent.row(&row, line);
            let seq = rounds.place(&row);
            if seq as usize == source.rounds.len() {
                ends.push(begins);
                source.rounds.push(Rows::default());
                source.session.rounds.push(Round {
                    seq,
                    boundary: row.kind == Kind::Boundary,
                    user: true,
                    user_preview: format!("question {seq}"),
                    tokens: 100,
                    started: Some(time(seq)),
                    ..Round::default()
                });
            }
            source.rounds[seq as usize].push(line);
        }
        let standings = sent.standings(&ends).0;
        for (round, standing) in source.session.rounds.iter_mut().zip(standings) {
            round.standing = standing;
        }
        source
    }
}

/// A plan of these pieces. Sessions count from 0.
pub(crate) fn plan(sources: &[&Source], pieces: Vec<Piece>) -> Plan {
    Plan {
        operation: Performed::Merge,
        sessions: sources.iter().map(|s| s.session.clone()).collect(),
        pieces,
        left: Left::default(),
        fidelity: Fidelity::default(),
        lineage: Lineage {
            parent_session: OLD.to_owned(),
            sources: vec![OLD.to_owned()],
            ..Lineage::default()
        },
        ..Plan::default()
    }
}

pub(crate) fn whole(session: usize, seqs: &[u32]) -> Vec<Piece> {
    seqs.iter().map(|seq| Piece::Round(Place { session, seq: *seq })).collect()
}

pub(crate) fn birth() -> Birth {
    Birth {
        id: NEW.to_owned(),
        cwd: "/p".to_owned(),
        now: time(100_000),
        tokens: 300,
        base: None,
        title: None,
    }
}

pub(crate) fn export(sources: &[&Source], plan: &Plan) -> Result<(String, Report), Failed> {
    let say = |_: Text, values: &[(&str, &str)]| {
        let of = |name| values.iter().find(|v| v.0 == name).map(|v| v.1);
        match of("sessions") {
            Some(sessions) => format!("{sessions}\n{}", of("table").unwrap()),
            None => format!("{} of {}", of("rounds").unwrap(), of("session").unwrap()),
        }
    };
    let mut read = |place: Place, rows: &mut Rows| {
        *rows = sources[place.session].rounds[place.seq as usize].clone();
        Ok(())
    };
    let reading = Reading { read: &mut read, edit: &mut |_, _| Ok(()) };
    let (report, out) = all(plan, &birth(), &say, reading, &mut || Ok(Vec::new()))?;
    Ok((String::from_utf8(out).unwrap(), report))
}

/// For each row of the chain: the id of its source row, if any, and its message.
pub(crate) fn told(text: &str) -> Vec<(String, Value)> {
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row["uuid"].is_string())
        .map(|row| {
            let from = row["forkedFrom"]["messageUuid"].as_str().unwrap_or_default();
            (from.to_owned(), row.get("message").cloned().unwrap_or(json!(null)))
        })
        .collect()
}
