//! Rounds of a session: the rows of `claude.jsonl` or `pi.jsonl`, filled with texts of the lengths
//! that real sessions have. The parts of these files are: start of a session, prompt, response with
//! one call, response with two calls, end of a round.

use testing::dice::Dice;

use crate::harness::MB;

pub const CLAUDE: &str = include_str!("claude.jsonl");
pub const PI: &str = include_str!("pi.jsonl");

const WORDS: &str = "the parser reads rows from session and keeps what index console a round begins \
    with prompt écriture tests fail because buffer is shorter than line we should write migration \
    first then look at cache of architecture 日本語 whether it holds";

/// Lines of code and output, escaped for JSON.
const CODE: [&str; 8] = [
    r"    let mut fields = Vec::with_capacity(row.len());\n",
    r"\tif (c == '\\\\' || c == '\u001b') { escape(c); }\n",
    r"error[E0308]: mismatched types --> src/main.rs:12:5\n",
    r#"{\"type\":\"user\",\"message\":{\"role\":\"user\"}}\n"#,
    r"test transcript::span::tests::fields ... ok\n",
    r"diff --git a/src/lib.rs b/src/lib.rs\n",
    r"-rw-r--r-- 1 dev dev 20480 Mar 19 10:23 Cargo.lock\n",
    r"\n",
];

/// Writes round after round.
pub struct Writer {
    parts: Vec<&'static str>,
    dice: Dice,
    session: String,
    words: Vec<&'static str>,
    /// Responses so far.
    n: u64,
    /// Milliseconds since 1970.
    clock: u64,
    /// The last row's id, as JSON.
    parent: String,
    /// Tokens in the context.
    used: u64,
    /// Whether the next result has some MB.
    pub is_large: bool,
}

impl Writer {
    /// For [`CLAUDE`] or [`PI`].
    pub fn new(rows: &'static str, session: &str, seed: u64) -> Self {
        Self {
            parts: rows.split("\n\n").collect(),
            dice: Dice(seed),
            session: session.into(),
            words: WORDS.split_inclusive(' ').collect(),
            n: 0,
            clock: 1_773_915_825_000,
            parent: "null".into(),
            used: 20_000,
            is_large: false,
        }
    }

    /// The time of the last row.
    pub fn time(&self) -> String {
        let at = chrono::DateTime::from_timestamp_millis(self.clock as i64).expect("a time");
        at.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
    }

    /// The next round, a row on each line.
    pub fn round(&mut self) -> String {
        let mut out = String::new();
        if self.n == 0 {
            self.part(0, &mut out);
        }
        self.part(1, &mut out);
        for _ in 0..=self.dice.below(4) {
            let calls = self.dice.below(2) as usize;
            self.part(2 + calls, &mut out);
        }
        self.part(4, &mut out);
        out
    }

    /// A response whose call has no result yet.
    pub fn call(&mut self) -> String {
        let mut out = String::new();
        self.part(2, &mut out);
        let result = out.trim_end().rfind('\n').map_or(0, |newline| newline + 1);
        out.truncate(result);
        out
    }

    /// The tokens in the context after the last response.
    pub fn tokens(&self) -> u64 {
        self.used + 518
    }

    /// Fills the rows of a part: a name between two `$` becomes its value.
    fn part(&mut self, part: usize, out: &mut String) {
        self.n += 1;
        self.used += self.dice.below(2_000);
        for row in self.parts[part].lines() {
            self.clock += 700;
            let (id, mut result) = (self.dice.uuid(), String::new());
            let parent = self.parent.clone();
            for (n, piece) in row.split('$').enumerate() {
                if n.is_multiple_of(2) {
                    out.push_str(piece);
                    continue;
                }
                if matches!(piece, "id" | "short") {
                    let id = if piece == "id" { &id } else { &id[..8] };
                    self.parent = format!("\"{id}\"");
                }
                if piece == "result" && result.is_empty() {
                    let (least, most) = self.result();
                    result = self.lines(least, most);
                }
                out.push_str(&match piece {
                    "session" => self.session.clone(),
                    "parent" => parent.clone(),
                    "id" => id.clone(),
                    "short" => id[..8].into(),
                    "time" => self.time(),
                    "millis" => self.clock.to_string(),
                    "used" => self.used.to_string(),
                    "n" => self.n.to_string(),
                    "prose" => self.prose(),
                    "code" => self.lines(300, 2_500),
                    "signature" => "c2lnbmF0dXJl".repeat(30 + self.dice.below(40) as usize),
                    _ => result.clone(),
                });
            }
            out.push('\n');
        }
    }

    /// Words of 60 to 1,200 bytes.
    fn prose(&mut self) -> String {
        let length = 60 + self.dice.below(1_140) as usize;
        let mut text = String::new();
        while text.len() < length {
            text.push_str(self.words[self.dice.below(self.words.len() as u64) as usize]);
        }
        text
    }

    /// Whole lines, so that escapes stay intact.
    fn lines(&mut self, least: u64, most: u64) -> String {
        let length = (least + self.dice.below(most - least)) as usize;
        let mut text = String::new();
        while text.len() < length {
            text.push_str(CODE[self.dice.below(CODE.len() as u64) as usize]);
        }
        text
    }

    /// The least and the most bytes of a result.
    fn result(&mut self) -> (u64, u64) {
        if std::mem::take(&mut self.is_large) {
            return (2 * MB, 6 * MB);
        }
        match self.dice.below(4_000) {
            0 => (2 * MB, 6 * MB),
            1..100 => (60_000, 200_000),
            100..400 => (8_000, 30_000),
            400..1_600 => (1_000, 6_000),
            _ => (20, 800),
        }
    }
}
