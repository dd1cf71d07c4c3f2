//! The rounds of recorded sessions.

use sessions::dialect::{self, Scratch};
use sessions::digest::Digest;
use sessions::round::{Round, Words};
use testing::RECORDED;

/// The session with that name.
fn read(name: &str) -> &'static [u8] {
    RECORDED.iter().find(|(known, _)| *known == name).unwrap().1
}

/// A digest of a session, and its rounds.
fn digest(bytes: &[u8]) -> (Digest, Vec<(Round, Words)>) {
    let (mut digest, mut scratch, mut all) = (Digest::default(), Scratch::default(), Vec::new());
    let dialect = dialect::detect(bytes.split(|b| *b == b'\n').next().unwrap());
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let row = dialect.row(line, &mut scratch);
        all.extend(digest.row(dialect, &row, line, scratch.blocks()));
    }
    all.extend(digest.open());
    for ((round, _), standing) in all.iter_mut().zip(digest.standings().0) {
        round.standing = standing;
    }
    (digest, all)
}

/// A round on one line: number, its place in the context or `-`, rows, tokens (`=` if measured),
/// key tool call, the user's words, the agent's.
fn told(round: &Round) -> String {
    let place = round.standing.place.map_or("-".into(), |place| place.to_string());
    let short = |text: &str| text.chars().take(30).collect::<String>();
    format!(
        "{} @{place}{} {} rows, {}{} tokens, {}, ‹{}› ‹{}›",
        round.seq,
        if round.boundary { " compaction" } else { "" },
        round.rows,
        if round.measured { "=" } else { "" },
        round.tokens,
        round.key_tool.as_deref().unwrap_or("no call"),
        short(&round.user_preview),
        short(&round.agent_preview),
    )
}

const ROUNDS: [(&str, &[&str]); 10] = [
    // A paste after /clear.
    (
        "cleared",
        &["1 @0 32 rows, 160 tokens, no call, ‹# Handover - item 0: w0_0 w0_1› ‹GOT PAYLOAD›"],
    ),
    // A requested compaction, then a resume.
    (
        "compaction",
        &[
            "1 @- 34 rows, 50065 tokens, Bash·echo one, ‹first prompt› ‹FIRST DONE›",
            "2 @0 compaction 11 rows, 218 tokens, no call, ‹This session is being continue› ‹›",
            "3 @1 20 rows, 14 tokens, no call, ‹after compact prompt› ‹SECOND›",
            "4 @2 5 rows, 12 tokens, no call, ‹after resume› ‹THIRD›",
        ],
    ),
    // Thinking, parallel calls, an agent, its notification.
    ("main", &["1 @0 45 rows, 539 tokens, Agent·sub work, ‹Do the lab thing› ‹SCENARIO-END›"]),
    // Started by a notification after /clear.
    ("notified", &["1 @0 23 rows, 30 tokens, no call, ‹› ‹AFTER REWAKE›"]),
    // A fork, commands, images, unknown rows and blocks, torn lines, an older subagent.
    (
        "odd",
        &[
            "1 @0 2 rows, 17 tokens, no call, ‹a forked prompt› ‹answered before the fork›",
            "2 @1 2 rows, 25 tokens, no call, ‹! git status› ‹›",
            "3 @2 3 rows, =5000 tokens, no call, ‹/review src› ‹Reviewed.›",
            "4 @3 8 rows, =2000 tokens, no call, ‹› ‹A picture.›",
            r#"5 @4 4 rows, =3000 tokens, mcp__db__query·select 1, ‹what is this? a|b "c" \ d› ‹›"#,
            "6 @5 4 rows, 24 tokens, no call, ‹# always test› ‹API Error: 529›",
        ],
    ),
    // Results of parallel calls in another order.
    ("parallel", &["1 @0 39 rows, 30 tokens, Bash·echo one, ‹first prompt› ‹FIRST DONE›"]),
    // pi: an abandoned branch, a compaction.
    (
        "pi",
        &[
            "1 @- 6 rows, 171 tokens, exec·ls -l, ‹list files› ‹Here are the files.›",
            "2 @- 3 rows, =400 tokens, no call, ‹thanks, now the other› ‹A way that is left.›",
            "3 @1 3 rows, =200 tokens, no call, ‹another way› ‹The way it is.›",
            "4 @0 compaction 2 rows, 5 tokens, no call, ‹We listed files.› ‹›",
            "5 @2 3 rows, 11 tokens, no call, ‹after it› ‹Yes.›",
        ],
    ),
    // A prompt while the agent was working.
    (
        "queued",
        &[
            "1 @0 39 rows, 30 tokens, Bash·sleep 6; echo slept, ‹first prompt KICKOFF go on› ‹THIRD›",
        ],
    ),
    // A rewind, and an agent in the background.
    (
        "rewound",
        &[
            "1 @0 33 rows, 1106 tokens, Bash·Look at the console, ‹alpha: read the console› ‹The architecture is three laye›",
            "2 @1 12 rows, =3000 tokens, Agent·Read console, ‹beta: ask an agent› ‹this goes nowhere›",
            "3 @- 4 rows, =1000 tokens, Bash·step, ‹gamma: a wrong way› ‹›",
            "4 @2 3 rows, 17 tokens, no call, ‹gamma: another way› ‹the other way it is›",
        ],
    ),
    // A subagent's own file.
    ("subagent", &["1 @0 19 rows, 72 tokens, Bash·echo in-sub, ‹SUBPROMPT do it› ‹sub result›"]),
];

#[test]
fn recorded_sessions_have_their_rounds() {
    for (name, expected) in ROUNDS {
        let (_, rounds) = digest(read(name));
        let seen: Vec<String> = rounds.iter().map(|(round, _)| told(round)).collect();
        assert_eq!(seen, expected, "{name}");
        for (round, words) in &rounds {
            assert_eq!(round.user && !round.user_preview.is_empty(), !words.user.is_empty());
            assert_eq!(round.agent_preview.is_empty(), words.agent.is_empty());
        }
    }
}

#[test]
fn recorded_sessions_say_what_they_are() {
    let told = |name| {
        let (digest, _) = digest(read(name));
        let facts = digest.session();
        [&facts.id, &facts.subagent, &facts.parent].map(Clone::clone)
    };
    let id = |id: &str| Some(id.to_owned());
    let main = "f9c5fc05-a55f-4e0a-8c8c-0334817c94c0";
    assert_eq!(told("main"), [id(main), None, None]);
    assert_eq!(told("subagent"), [id(main), id("a57d1be77952c40a2"), None]);
    assert_eq!(told("odd"), [id("7c0e5a52-3b1f-4d7c-9a51-6a8f7f2b1d90"), None, id(main)]);
    let before = id("/home/dev/sessions/before.jsonl");
    assert_eq!(told("pi"), [id("3f2c1a44-7a1e-4a55-9e8f-0b1f6a2d9c01"), None, before]);
}

/// The first response after a requested compaction is in a later round.
#[test]
fn a_compaction_has_a_base_of_its_own() {
    let (digest, rounds) = digest(read("compaction"));
    let weight = rounds[1].0.tokens + rounds[2].0.tokens;
    assert_eq!(digest.base(), Some(20_060 - weight));
}

/// A prompt sent while the agent was working is part of the round, and search finds it.
#[test]
fn what_was_queued_is_said() {
    let (_, rounds) = digest(read("queued"));
    assert_eq!(rounds[0].1.user, "first prompt\n\nKICKOFF go on");
}

#[test]
fn calls_are_counted_with_their_files() {
    let (_, rounds) = digest(read("main"));
    let round = &rounds[0].0;
    let tools: Vec<_> = round.tools.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(tools, [("Agent", 1), ("Bash", 2), ("Read", 1), ("Write", 1)]);
    assert_eq!(round.files.iter().collect::<Vec<_>>(), ["/etc/hostname", "/home/dev.txt"]);
}
