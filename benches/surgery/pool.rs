//! Texts to cut from, escaped for JSON.

use std::fmt::Write as _;

use testing::dice::Dice;

/// Escaped lines in one text, and their start positions.
#[derive(Debug)]
struct Lines {
    text: String,
    begins: Vec<usize>,
}

#[derive(Debug)]
pub struct Pool {
    prose: Lines,
    code: Lines,
    base64: String,
}

const WORDS: [&str; 40] = [
    "the",
    "parser",
    "reads",
    "rows",
    "from",
    "session",
    "and",
    "keeps",
    "what",
    "index",
    "console",
    "a",
    "round",
    "begins",
    "with",
    "prompt",
    "écriture",
    "tests",
    "fail",
    "because",
    "buffer",
    "is",
    "shorter",
    "than",
    "line",
    "we",
    "should",
    "write",
    "migration",
    "first",
    "then",
    "look",
    "at",
    "cache",
    "of",
    "architecture",
    "日本語",
    "whether",
    "it",
    "holds",
];

const CODE: [&str; 12] = [
    "    let mut fields = Vec::with_capacity(row.len());",
    "\tif (c == '\\\\' || c == '\"') { escape(c); }",
    "error[E0308]: mismatched types --> src/main.rs:12:5",
    "{\"type\":\"user\",\"message\":{\"role\":\"user\"}}",
    "    println!(\"{:>8}  {}\", count, name);",
    "test transcript::span::tests::fields ... ok",
    "  1234\t    // what is not understood stays as it is",
    "diff --git a/src/lib.rs b/src/lib.rs",
    "+    assert_eq!(spans.len(), 3);",
    "\u{1b}[32m   Compiling\u{1b}[0m serde_json v1.0.154",
    "-rw-r--r-- 1 dev dev 20480 Mar 19 10:23 Cargo.lock",
    "",
];

impl Lines {
    fn of(mut line: impl FnMut() -> String) -> Self {
        let mut lines = Self { text: String::new(), begins: Vec::new() };
        while lines.text.len() < 1 << 20 {
            lines.begins.push(lines.text.len());
            let json = serde_json::to_string(&format!("{}\n", line())).expect("a string");
            lines.text.push_str(&json[1..json.len() - 1]);
        }
        lines
    }

    /// Cuts whole lines, so that escapes stay intact.
    fn cut(&self, dice: &mut Dice, least: usize, most: usize) -> String {
        let length = least + dice.below((most - least) as u64 + 1) as usize;
        let mut out = String::with_capacity(length + 256);
        while out.len() < length {
            let from = dice.below(self.begins.len() as u64) as usize;
            let left = length - out.len();
            let to = self.begins.partition_point(|at| *at < self.begins[from] + left);
            let end = self.begins.get(to).copied().unwrap_or(self.text.len());
            out.push_str(&self.text[self.begins[from]..end]);
        }
        out
    }
}

impl Pool {
    pub fn new() -> Self {
        let mut dice = Dice(7);
        let mut number = 0;
        let prose = Lines::of(|| {
            let mut line = String::new();
            for _ in 0..4 + dice.below(20) {
                let _ = write!(line, "{} ", WORDS[dice.below(WORDS.len() as u64) as usize]);
            }
            // A rare word: one text in a thousand has it.
            number += 1;
            if number % 64 == 0 {
                let _ = write!(line, "zephyr{}", number / 64 % 97);
            }
            line
        });
        let mut dice = Dice(8);
        let code = Lines::of(|| CODE[dice.below(CODE.len() as u64) as usize].to_owned());
        let mut dice = Dice(9);
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let base64 = (0..8 << 20).map(|_| letters[dice.below(64) as usize] as char).collect();
        Self { prose, code, base64 }
    }

    pub fn prose(&self, dice: &mut Dice, least: usize, most: usize) -> String {
        self.prose.cut(dice, least, most)
    }

    pub fn code(&self, dice: &mut Dice, least: usize, most: usize) -> String {
        self.code.cut(dice, least, most)
    }

    pub fn base64(&self, dice: &mut Dice, least: usize, most: usize) -> &str {
        let length = least + dice.below((most - least) as u64 + 1) as usize;
        let from = dice.below((self.base64.len() - length) as u64) as usize;
        &self.base64[from..from + length]
    }
}
