//! The random choices of generated sessions, in tests and benchmarks.

/// A number generator (splitmix64): the same seed gives the same numbers everywhere.
pub struct Dice(pub u64);

impl Dice {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// `true` in that share of calls.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// An id as clients write them.
    pub fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        let (a1, a2, a3) = (a >> 32, (a >> 16) & 0xffff, a & 0xfff);
        format!(
            "{a1:08x}-{a2:04x}-4{a3:03x}-8{:03x}-{:012x}",
            (b >> 48) & 0xfff,
            b & 0xffff_ffff_ffff
        )
    }

    /// Up to that many words.
    pub fn words(&mut self, most: u64) -> String {
        const WORDS: [&str; 16] = [
            "console",
            "the",
            "größe",
            "\"quoted\"",
            "C:\\dir",
            "a|b",
            "line\nbreak",
            "}",
            "[",
            "日本語",
            "🦀",
            "engagement",
            "\u{1b}[2m",
            "tab\there",
            "architecture",
            "is",
        ];
        let count = 1 + self.below(most);
        let words = (0..count).map(|_| WORDS[self.below(16) as usize]);
        words.collect::<Vec<_>>().join(" ")
    }
}

/// A text as JSON.
pub fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a text")
}
