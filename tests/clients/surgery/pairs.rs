//! Two operations in a row on sessions that the real client wrote, each successor resumed there. The
//! sessions have thinking, parallel calls, a picture, a background agent, a rewound message, a fork
//! and a compaction. Every round is then in the request, or a line of a table names it.

use serde_json::{Value, json};

use super::block::{Block, blocks_of_request};
use super::played::{
    ALPHA, ALPHA_END, BETA, BETA_END, DELTA, DELTA_END, EPSILON, EPSILON_END, Made, NEXT, Played,
    guard, make, play_and, resume,
};
use crate::guard::step;
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const ZETA: &str = "zeta: look at the picture";
const ZETA_END: &str = "it shows a dot";
const ETA: &str = "eta: after the compaction";
const ETA_END: &str = "eta is done";
/// How the client's summary begins.
const SUMMARY: &str = "This session is being continued";

/// A picture of one dot.
const PNG: &[u8] =
    b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\
    \x00\x00\x00\x01\x08\x02\x00\x00\x00\x90\x77\x53\xde\x00\x00\x00\x0c\x49\x44\x41\
    \x54\x78\x9c\x63\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\
    \x00\x49\x45\x4e\x44\xae\x42\x60\x82";

/// A round of an original: its prompt and the agent's last text.
type Round = (&'static str, &'static str);

const FIRST: [Round; 4] =
    [(ALPHA, ALPHA_END), (BETA, BETA_END), (DELTA, DELTA_END), (EPSILON, EPSILON_END)];

/// The engagement of a round.
fn tag_of(prompt: &str) -> Option<&'static str> {
    match prompt {
        ALPHA | BETA => Some("console-work"),
        DELTA => Some("waiting"),
        _ => None,
    }
}

/// A session in a world, and the rounds in its context.
struct Original<'a> {
    world: &'a World,
    id: String,
    rounds: Vec<Round>,
}

/// The rounds of a session: number, first words, engagement.
pub fn rounds(world: &World, id: &str) -> Vec<(u64, String, Option<String>)> {
    let output = guard(world, &["rounds", id, "--json"]);
    let told: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let round = |round: &Value| {
        let number = round["round"].as_u64().expect("a number");
        (number, text(&round["summary"]).unwrap_or_default(), text(&round["engagement"]))
    };
    told["rounds"].as_array().expect("rounds").iter().map(round).collect()
}

/// The number of the round with this prompt, as text.
fn number(world: &World, id: &str, prompt: &str) -> String {
    let all = rounds(world, id);
    let found = all.iter().rfind(|(_, summary, _)| summary.starts_with(prompt));
    found.unwrap_or_else(|| panic!("no {prompt} in {all:?}")).0.to_string()
}

/// Whether each call has its result in the next message, and each result its call.
pub fn has_whole_pairs(request: &Request) -> bool {
    let ids = |message: &Value, kind: &str, name: &str| -> Vec<String> {
        let blocks = message["content"].as_array().into_iter().flatten();
        let own = blocks.filter(|block| block["type"] == kind);
        own.map(|block| block[name].as_str().unwrap_or_default().to_owned()).collect()
    };
    let all = request.messages().iter().filter(|message| message["role"] != "system");
    let all: Vec<&Value> = all.collect();
    let mut open = Vec::new();
    for message in all {
        let mut results = ids(message, "tool_result", "tool_use_id");
        results.sort();
        open.sort();
        if results != open {
            return false;
        }
        open = ids(message, "tool_use", "id");
    }
    open.is_empty()
}

/// The reference of the table line with this text, as `show` wants it.
pub fn reference(request: &Request, text: &str) -> Option<String> {
    let short: String = text.chars().take(40).collect();
    request.user_texts().into_iter().find_map(|table| {
        let line = table.lines().find(|line| line.starts_with("| ") && line.contains(&short))?;
        let (_, prefix) = table.split_once("run `brain-guard show ")?;
        let column = line.split(" | ").next()?.trim_start_matches("| ");
        Some(format!("{}{column}", prefix.split("ROUND").next()?))
    })
}

impl Original<'_> {
    /// Resumes what was made, and looks for each of these rounds.
    #[track_caller]
    fn holds(&self, made: &Made, wanted: &[Round], what: &str) {
        let request = resume(self.world, &made.id);
        let fail = |why: &str| self.world.evidence.fail(&format!("{what}: {why}: {made:?}"));
        if !has_whole_pairs(&request) {
            fail("a call without a result, or a result without a call");
        }
        // The client itself sends a user's message and a named file as two.
        let roles: Vec<&Value> = request.messages().iter().map(|m| &m["role"]).collect();
        if roles.windows(2).any(|pair| pair[0] == "assistant" && pair[1] == "assistant") {
            fail("two messages of the agent in a row");
        }
        let blocks = blocks_of_request(&request);
        let told = rounds(self.world, &made.id);
        for (prompt, end) in wanted {
            let begins =
                |block: &Block| matches!(block, Block::User(text) if text.starts_with(prompt));
            let times = blocks.iter().filter(|block| begins(block)).count();
            if times == 0 {
                let text = if end.is_empty() { prompt } else { end };
                let line = reference(&request, text);
                let Some(line) = line else { fail(&format!("{prompt} is nowhere")) };
                let page = guard(self.world, &["show", &line]).stdout;
                assert!(page.contains(prompt), "{what}: {line} of {prompt} is\n{page}");
                continue;
            }
            assert_eq!(times, 1, "{what}: {prompt} is there {times} times");
            let says =
                blocks.iter().any(|block| matches!(block, Block::Agent(text) if text == end));
            assert!(says || end.is_empty(), "{what}: {end} is missing");
            let found = told.iter().find(|(_, summary, _)| summary.starts_with(prompt));
            let tag = found.and_then(|(.., tag)| tag.as_deref());
            assert_eq!(tag, tag_of(prompt), "{what}: the tag of {prompt} among {told:?}");
        }
        if wanted.iter().any(|(prompt, _)| *prompt == ZETA && request.user_texts().contains(prompt))
        {
            assert!(request.contains("image/png"), "{what}: the picture is missing");
        }
    }

    fn all(&self, made: &Made, what: &str) {
        self.holds(made, &self.rounds, what);
    }

    #[track_caller]
    fn one(&self, arguments: &[&str]) -> Made {
        let mut made = make(self.world, arguments);
        assert_eq!(made.len(), 1, "{arguments:?}: {made:?}");
        made.remove(0)
    }

    fn cut(&self, id: &str, prompt: &str) -> Made {
        let at = format!("round:{}", number(self.world, id, prompt));
        self.one(&["surgery", "compress-before", id, &at])
    }

    /// A list or map in a file; returns its path.
    fn file(&self, text: &str) -> String {
        let path = self.world.project().join("plan.txt");
        std::fs::write(&path, text).expect("the project is writable");
        path.display().to_string()
    }

    /// Extracts long values; `None` if there are none.
    fn extract(&self, id: &str) -> Option<Made> {
        let arguments = ["extract", "run", id, "--keep-recent", "1", "--min-length", "20"];
        let told = guard(self.world, &[&arguments[..], &["--dry-run", "--json"]].concat()).stdout;
        let told: Value = serde_json::from_str(&told).expect("JSON");
        (told["tokens"].is_object()).then(|| self.one(&arguments))
    }

    fn edit(&self, id: &str, prompt: &str) -> Made {
        let list = self.file(&format!("index {}\n", number(self.world, id, prompt)));
        self.one(&["surgery", "edit", id, "--plan", &list])
    }

    /// Splits by the engagements of the rounds.
    fn split(&self, id: &str) -> Vec<Made> {
        let all = rounds(self.world, id);
        let of = |name: &str| {
            let own = all.iter().filter(|(.., tag)| tag.as_deref() == Some(name));
            own.map(|(number, ..)| number.to_string()).collect::<Vec<_>>().join(",")
        };
        let map =
            json!({"engagements": {"console-work": of("console-work"), "waiting": of("waiting")}});
        make(self.world, &["surgery", "split", id, &self.file(&map.to_string())])
    }

    /// Each successor of a split has its own rounds, and those that belong to no engagement.
    fn split_holds(&self, children: &[Made], what: &str) {
        for (child, own) in children.iter().zip(["console-work", "waiting"]) {
            let mine = |round: &&Round| tag_of(round.0).is_none_or(|tag| tag == own);
            let wanted: Vec<Round> = self.rounds.iter().filter(mine).copied().collect();
            self.holds(child, &wanted, &format!("{what}, {own}"));
        }
    }

    /// Every pair of operations.
    fn play_pairs(&self, other: &str) {
        let id = self.id.as_str();
        let last = self.rounds.last().expect("rounds").0;
        let middle = self.rounds[(self.rounds.len() - 1) / 2].0;

        let first = self.cut(id, last);
        self.all(&first, "compress");
        self.all(&self.cut(&first.id, NEXT), "compress, compress");
        let edited = self.edit(id, middle);
        self.all(&edited, "edit");
        self.all(&self.edit(&edited.id, last), "edit, edit");
        if let Some(extracted) = self.extract(id) {
            self.all(&extracted, "extract");
            self.all(&self.cut(&extracted.id, last), "extract, compress");
            if let Some(twice) = self.extract(&self.cut(id, middle).id) {
                self.all(&twice, "compress, extract");
            }
        }
        let merged = self.one(&["surgery", "merge", id, other]);
        self.all(&merged, "merge");
        self.all(&self.one(&["surgery", "merge", &merged.id, id]), "merge, merge");
        if self.rounds.iter().all(|(prompt, _)| tag_of(prompt).is_none()) {
            return;
        }
        self.split_holds(&self.split(&merged.id), "merge, split");
        let closed = self.one(&["surgery", "compress-engagement", id, "console-work"]);
        self.all(&closed, "engagement");
        let again = self.one(&["surgery", "compress-engagement", &closed.id, "waiting"]);
        self.all(&again, "engagement, engagement");
        self.all(&self.cut(&closed.id, last), "engagement, compress");
        let revived = self.one(&["surgery", "revive", id]);
        self.all(&revived, "revive");
        self.all(&self.cut(&revived.id, NEXT), "revive, compress");
        let children = self.split(id);
        self.split_holds(&children, "split");
        let joined = self.one(&["surgery", "merge", &children[0].id, &children[1].id]);
        self.all(&joined, "split, merge");
        let own: Vec<Round> =
            self.rounds.iter().copied().filter(|r| tag_of(r.0) == Some("console-work")).collect();
        let extract = |id: &str| self.one(&["surgery", "extract-engagement", id, "console-work"]);
        let part = extract(id);
        self.holds(&part, &own, "extract-engagement");
        self.holds(&extract(&part.id), &own, "extract-engagement, extract-engagement");
    }
}

/// Forks a session with one more message; returns the fork's id.
fn fork(world: &World, id: &str, prompt: &str) -> String {
    let before = world.transcripts();
    let output = world.print(&["--resume", id, "--fork-session"], prompt).finish();
    assert!(output.status.success(), "{output:?}");
    let mut after = world.transcripts();
    after.retain(|path| !before.contains(path));
    let path = after.pop().expect("a new transcript");
    path.file_stem().and_then(|stem| stem.to_str()).expect("an id").to_owned()
}

#[test]
fn any_two_operations_keep_every_round() {
    let more = vec![
        step(|_| Reply::tool("Read", json!({"file_path": "dot.png"})).tokens(30_000)),
        step(|_| Reply::text(ZETA_END).tokens(31_000)),
        step(|_| Reply::text(ETA_END).tokens(6_000)),
    ];
    let Played { world, one } = &play_and(more);
    std::fs::write(world.project().join("dot.png"), PNG).expect("the project is writable");
    let forked = fork(world, &one.id, ZETA);
    let tui = world.tui(&["--resume", &forked, "--fork-session"]);
    let before = world.transcripts();
    tui.prompt("/compact");
    tui.wait_screen("the compaction", |screen| screen.contains("Compacted"));
    tui.wait_idle();
    tui.prompt(ETA);
    tui.wait_screen("the last answer", |screen| screen.contains(ETA_END));
    tui.quit();
    let mut after = world.transcripts();
    after.retain(|path| !before.contains(path));
    let path = after.pop().expect("a new transcript");
    let compacted = path.file_stem().and_then(|stem| stem.to_str()).expect("an id").to_owned();

    for (prompt, tag) in [(ALPHA, "console-work"), (BETA, "console-work"), (DELTA, "waiting")] {
        guard(world, &["tag", &one.id, &number(world, &one.id, prompt), tag]);
    }
    let original =
        |id: &str, rounds: &[Round]| Original { world, id: id.to_owned(), rounds: rounds.to_vec() };
    let with_picture = [&FIRST[..], &[(ZETA, ZETA_END)]].concat();
    original(&forked, &with_picture).play_pairs(&one.id);
    original(&one.id, &FIRST).play_pairs(&forked);
    original(&compacted, &[(SUMMARY, ""), (ETA, ETA_END)]).play_pairs(&one.id);
}
