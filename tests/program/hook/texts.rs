//! Every text for the agent or the user, with figures, in one file to read at once:
//! `fixtures/texts.md`. `UPDATE_GOLDEN=1` rewrites it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use guard::texts::{Text, fill};
use notes::compaction::Shape;
use testing::checked_in::difference;

const NOTES: &str =
    "/home/ada/.local/state/brain-guard/projects/parser-3f0a9d1e/jobs/parser/compaction.md";

/// The sample value of each name in a template.
const VALUES: &[(&str, &str)] = &[
    ("age", "2 h"),
    ("allowed", "changing files, editing the compaction file"),
    ("at", "30"),
    ("blocked", "only the notes can be edited"),
    ("chars", "4,000"),
    ("clear", "clear"),
    ("coach", " Look for the simplest layout."),
    ("completed", "lexer"),
    ("created", "2026-01-01T00:00:00Z"),
    ("cut", "12,000"),
    ("cwd", ""),
    ("effect", "only the notes can be edited"),
    ("more", "/brain-guard:explain says why"),
    ("file", "# parser\n\n## Forward State\n- make the parser take CRLF"),
    ("forward", "Forward State"),
    ("job", "parser"),
    ("lines", "200"),
    ("live", NOTES),
    ("time", "10 min"),
    ("name", "design"),
    ("next", "Continue with the first item under Forward State."),
    ("next_at", "25"),
    ("next_blocked", "reading new files is blocked"),
    ("note", ""),
    ("operation", "compress-before"),
    ("part", "2"),
    ("parts", "3"),
    ("path", NOTES),
    ("phase", ""),
    ("prefix", "3f0a9d1e:"),
    ("prompts", "The user's first prompt in this job:\n> Build the parser"),
    ("reason", "`|` outside single quotes at column 18"),
    ("reference", "3f0a9d1e:12"),
    ("responses", "5"),
    ("restart", "This session restarts from its notes"),
    ("rounds", "46"),
    ("said", "> leave the vendor folder alone\n\n> thanks"),
    ("seconds", "60"),
    ("sections", "## Forward State"),
    ("session", "3f0a9d1e"),
    ("sessions", "3f0a9d1e, 77b1c2d3"),
    ("shells", ""),
    ("state", "Nothing is blocked"),
    ("table", "| 1 | 09:00 | user | build the parser |"),
    ("token", "a1b2c3"),
    ("tool", "Bash"),
    ("top_at", "30"),
    ("top_blocked", "only the notes can be edited"),
    ("verb", "seal"),
    ("version", "3"),
    ("what", "the notes are sealed (version 3)"),
    ("by", "brain-guard is a plugin that your user installed. "),
    ("usage", "the context is 31 % full (300k of 967k)"),
    ("seal_words", "1,680"),
    ("then", " Then run `brain-guard seal` and end your turn."),
    (
        "whose",
        "These are your own working notes. They don't outrank the user or the system prompt.",
    ),
    ("why", "nothing can clear this session now"),
    ("word_limit", "2,000"),
    ("words", "412"),
];

/// Values that differ for one text, so that its sample can really occur.
const OWN: &[(Text, &[(&str, &str)])] = &[
    (Text::NoteCoach, &[("usage", "the context is 21 % full (207k of 967k)")]),
    (Text::NoteBlocking, BLOCK_READS),
    (Text::NoteAgain, BLOCK_READS),
    (Text::DenyTier, BLOCK_READS),
    (Text::DenyAgain, BLOCK_READS),
    (Text::NotHeld, &[("why", "is paused (`brain-guard job resume parser` resumes it)")]),
    (Text::GoOn, &[("why", "the notes could not be sealed")]),
    (
        Text::UserUnsealed,
        &[(
            "effect",
            "the notes are sealed as they are, this session is cleared, and a fresh one continues",
        )],
    ),
    (Text::DenyLong, &[("words", "2,040")]),
    (Text::NoteLong, &[("words", "2,040")]),
    (Text::GoOnFocused, &[("why", "the session was not cleared in time")]),
    (Text::GoOnCompleted, &[("why", "the session was not cleared in time"), ("next", COMPLETED)]),
    (Text::KickoffTransition, &[("next", COMPLETED)]),
    (
        Text::Piece,
        &[("part", "1"), ("next", "\nContinue with the first item under Forward State.")],
    ),
    (
        Text::Completed,
        &[(
            "path",
            "/home/ada/.local/state/brain-guard/projects/parser-3f0a9d1e/jobs/lexer/sealed/v0003.md",
        )],
    ),
    (
        Text::Carried,
        &[(
            "path",
            "/home/ada/.local/state/brain-guard/projects/parser-3f0a9d1e/jobs/parser/sealed/v0003.md",
        )],
    ),
    (
        Text::Capped,
        &[(
            "path",
            "/home/ada/.local/state/brain-guard/projects/parser-3f0a9d1e/outputs/3f0a9d1e/a1b2c3.txt",
        )],
    ),
    (Text::SurgeryMerge, &[("table", "| 3f0a9d1e | 1-3 | build the parser |")]),
];

const BLOCK_READS: &[(&str, &str)] = &[
    ("usage", "the context is 26 % full (253k of 967k)"),
    ("at", "25"),
    ("blocked", "reading new files is blocked"),
    ("effect", "reading new files is blocked"),
    ("allowed", "changing files, reading known files, running tests"),
    ("tool", "Grep"),
];

const COMPLETED: &str = "No job is focused now. If your user asked for more work, start it with `brain-guard job focus NAME`. If nothing is left, say in one sentence that the job is done, and stop.";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_texts_match_the_fixture() {
    let mut all = String::from("# Every text, with figures\n");
    let kinds = Shape::default().kinds_by_section();
    let kinds = [("kinds", kinds.as_str())];
    let form = fill(Text::Form.built_in(), &[&kinds[..], VALUES].concat());
    let form = [("form", form.trim())];
    for text in Text::ALL {
        let name = text.file().trim_end_matches(".md");
        let own = OWN.iter().find(|(of, _)| of == text).map_or(&[][..], |(_, own)| *own);
        let filled = fill(text.built_in(), &[own, &form, &kinds, VALUES].concat());
        let _ = write!(all, "\n## {name}\n\n{}\n", filled.trim());
    }
    let path = root().join("fixtures/texts.md");
    let wrong = difference(&path, &all, "UPDATE_GOLDEN=1 cargo test --test program hook::texts");
    assert!(wrong.is_none(), "the texts changed; read them:\n{}", wrong.unwrap_or_default());
}

#[test]
fn every_template_is_used_and_every_name_has_a_sample() {
    let files = fs::read_dir(root().join("templates")).expect("templates").flatten();
    let files: BTreeSet<String> =
        files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    let known = Text::ALL.iter().map(|text| text.file().to_owned());
    let known: BTreeSet<String> = known.chain(["settings.schema.json".to_owned()]).collect();
    assert_eq!(files, known);
    for text in Text::ALL {
        for name in text.built_in().split("{{").skip(1) {
            let name = name.split("}}").next().unwrap_or_default().trim();
            assert!(
                ["form", "kinds"].contains(&name) || VALUES.iter().any(|(known, _)| *known == name),
                "{}: {name}",
                text.file()
            );
        }
    }
}
