//! Sentences an agent might write about software, from a seed.

#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `low..=high`.
    pub fn within(&mut self, low: u32, high: u32) -> u32 {
        low + (self.next() % u64::from(high - low + 1)) as u32
    }

    /// True in this percentage of cases.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.within(1, 100) <= percent
    }

    /// One of these.
    pub fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.within(0, all.len() as u32 - 1) as usize]
    }
}

const PARTS: &[&str] = &[
    "the retry queue",
    "the lock file",
    "the CSV importer",
    "the session cache",
    "the schema migration",
    "the websocket bridge",
    "the invoice renderer",
    "the rate limiter",
    "the search index",
    "the upload worker",
    "the feature flags",
    "the audit log",
    "the token refresher",
    "the nightly export",
    "the thumbnail service",
    "the tenant router",
    "the config loader",
    "the mail queue",
    "the billing webhook",
    "the date parser",
    "the metrics endpoint",
    "the job scheduler",
    "the permission check",
    "the backup script",
];
const DOES: &[&str] = &[
    "drops its last item",
    "reads the file twice",
    "keeps a stale handle open",
    "swallows the error of the driver",
    "blocks for 40 ms on every call",
    "returns the rows in another order",
    "writes before the fsync is through",
    "ignores the second argument",
    "doubles its memory",
    "falls back to the old format",
    "times out after 30 seconds",
    "logs the secret in plain text",
];
const WHEN: &[&str] = &[
    "two workers start at once",
    "the clock is set back",
    "the input ends without a newline",
    "the disk is nearly full",
    "the connection is cut in the middle",
    "the tenant has no plan",
    "the batch holds more than 500 rows",
    "the locale is Turkish",
    "a retry overtakes the first try",
    "the cache is cold",
    "the path holds a space",
    "the process gets a SIGTERM",
];
const SO: &[&str] = &[
    "so the suite is run with one thread first",
    "so the fixture sets the time zone by itself",
    "which only the integration test on the small runner shows",
    "so a retry has to be idempotent",
    "and the type checker can't see it",
    "so reading the log beats reading the code there",
    "which cost two hours before a bisect found it",
    "so the mock must not answer at once",
    "and the old workaround in the build script hid it",
    "so measure first and change one thing at a time",
];
const TODO: &[&str] = &[
    "write the golden test for",
    "move the timeout of",
    "ask for a review of",
    "measure the hot path of",
    "split the error type of",
    "document the retry rules of",
    "take the dead branch out of",
    "add the missing index to",
];
const RULE: &[&str] = &[
    "never change the public interface of {} without asking first",
    "keep {} working on the oldest supported release",
    "no new dependency in {} before the release is out",
    "every change to {} needs a test that fails without it",
    "leave the formatting of {} alone, its owner does that",
];
const MORE: &[&str] = &[
    ", as the second run on the small runner showed too",
    ", also on the release branch",
    ", and it was the same in the staging logs",
    ", which the owner of the module confirmed",
];

#[derive(Debug, Clone)]
pub struct Note {
    pub kind: &'static str,
    pub text: String,
}

/// A lesson, a reason or a loop.
pub fn insight(dice: &mut Dice) -> Note {
    let kind = dice.of(&["why", "lesson", "lesson", "loop", "steering"]);
    let text =
        format!("{} {} when {}, {}", dice.of(PARTS), dice.of(DOES), dice.of(WHEN), dice.of(SO));
    Note { kind, text }
}

/// Something assumed or not checked.
pub fn risk(dice: &mut Dice) -> Note {
    let kind = dice.of(&["risk", "assumption", "missed"]);
    let tail = dice.of(&[
        "nobody has tried it",
        "only the happy path was tried",
        "the docs say otherwise",
    ]);
    let text = format!("{} {} when {}; {tail}", dice.of(PARTS), dice.of(DOES), dice.of(WHEN));
    Note { kind, text }
}

/// An open thread; the number makes it unique.
pub fn thread(dice: &mut Dice, number: u32) -> Note {
    let kind = dice.of(&["thread", "thread", "gotcha", "uncovered", "deviation"]);
    let text = format!(
        "case {number} of the suite: {} {} when {}, not understood yet",
        dice.of(PARTS),
        dice.of(DOES),
        dice.of(WHEN)
    );
    Note { kind, text }
}

/// A next step.
pub fn step(dice: &mut Dice, number: u32) -> Note {
    let (part, tail) =
        (dice.of(PARTS), dice.of(&["first", "after the migration", "and tell the reviewer"]));
    Note { kind: "scope", text: format!("step {number}: {} {part}, {tail}", dice.of(TODO)) }
}

/// A binding instruction of the user.
pub fn directive(dice: &mut Dice, number: u32) -> Note {
    let text = dice.of(RULE).replace("{}", dice.of(PARTS));
    Note { kind: "directive", text: format!("{text} (asked for in message {number})") }
}

/// A learned sentence for the summary.
pub fn sentence(dice: &mut Dice, session: u32) -> String {
    let (part, does, when) = (dice.of(PARTS), dice.of(DOES), dice.of(WHEN));
    format!(
        "Session {session} settled that {part} {does} when {when}, and fixed it with a test beside it."
    )
}

/// The same sentence in a second wording.
pub fn again(dice: &mut Dice, text: &str) -> String {
    match dice.within(0, 3) {
        0 => format!("{}{}!", text[..1].to_uppercase(), &text[1..]),
        1 => format!("{text}{}", dice.of(MORE)),
        2 => text.replacen(" when ", " whenever ", 1),
        _ => format!("seen once more: {text}"),
    }
}
