//! What each file means, and which line makes it refused.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use notes::compaction::parse;

use super::{SLICE, fixture, job, only_adds, says, text, write};

/// The sealed file of a fixture, by section.
fn sealed(name: &str) -> Vec<(String, String)> {
    let (hook, shape) = job(name, &fixture(name));
    crate::cli::seal::seal(&hook, &[]);
    let sealed = text(&hook);
    says(&parse(&sealed, &shape))
}

fn entry(section: &str, text: &str) -> (String, String) {
    (section.to_owned(), text.to_owned())
}

#[test]
fn seal_merges_similar_sections_and_keeps_unknown_ones() {
    let renamed = sealed("renamed");
    assert!(renamed.contains(&entry("Forward State", "finish the rounding fix")), "{renamed:?}");
    assert!(
        renamed.contains(&entry("Open Threads", "what does the bank send at midnight")),
        "{renamed:?}"
    );
    let ideas = "Ideas - A paragraph about caching the rates. - cache the rates for a day";
    assert!(renamed.contains(&entry("Open Threads", ideas)), "{renamed:?}");
    let doubled: Vec<_> =
        sealed("doubled").into_iter().filter(|(section, _)| section == "Open Threads").collect();
    let expected = ["the second thread", "The first thread.", "the third thread"];
    assert_eq!(doubled.len(), 3, "said twice is once: {doubled:?}");
    assert!(
        expected[..1]
            .iter()
            .chain(&expected[2..])
            .all(|text| doubled.contains(&entry("Open Threads", text))),
        "{doubled:?}"
    );
    let bare = sealed("bare");
    assert_eq!(
        bare,
        [
            entry("Open Threads", "go on with the importer"),
            entry("Open Threads", "the export is missing")
        ]
    );
}

#[test]
fn only_headings_of_the_configured_language_count() {
    let german = sealed("german");
    assert_eq!(german[0].0, "Wie es weitergeht");
    let english =
        german.iter().find(|(_, text)| text.contains("an English heading")).expect("kept");
    assert_eq!(english.0, "Offene Fäden", "{german:?}");
}

#[test]
fn fenced_text_is_neither_heading_nor_flag() {
    let fences = sealed("fences");
    let of = |start: &str| {
        fences
            .iter()
            .find(|(_, text)| text.starts_with(start))
            .unwrap_or_else(|| panic!("{start}: {fences:?}"))
    };
    assert_eq!(of("run this first").1, "run this first ```sh cargo test ## Open Threads");
    assert_eq!(of("```markdown").0, "Forward State");
    assert_eq!(of("~~~").0, "Open Threads", "code is not closed work: {fences:?}");
    assert_eq!(of("it ends where").0, "Prior Summary");
    let tables = sealed("tables");
    assert!(
        tables.contains(&entry(
            "Forward State",
            "| step | state | |------|-------| | import | done | | export | open |"
        )),
        "{tables:?}"
    );
    assert!(
        tables.contains(&entry(
            "Process Insight",
            "a list with a table in it | a | b | |---|---| | 1 | 2 |"
        )),
        "{tables:?}"
    );
}

#[test]
fn a_note_with_a_list_and_a_paragraph_makes_several_entries() {
    let (hook, shape) = job("missing", &fixture("missing"));
    let note = "Left open:\r\n\r\n- one\r\n  ```\r\n  ## code\r\n  ```\r\n- [ ] two\r\n\r\nand a paragraph\r\n";
    assert_eq!(hook.raw(&["append"], note.as_bytes()).code, Some(0));
    let after = text(&hook);
    let threads: Vec<_> = says(&parse(&after, &shape))
        .into_iter()
        .filter(|(section, _)| section == "Open Threads")
        .map(|(_, text)| text)
        .collect();
    assert_eq!(threads[2..], ["Left open:", "one ``` ## code", "[ ] two", "and a paragraph"]);
    assert!(!after.contains('\r'), "the file's line ends, not the note's");
}

#[test]
fn headings_in_a_note_select_sections_or_are_refused() {
    let (hook, shape) = job("missing", &fixture("missing"));
    let answer = hook.raw(&["append"], b"## Risks\n- the clock\n\n## Insights\n- slow is fast\n");
    assert!(
        answer.stdout.starts_with("added to Assumptions & Risks, Process Insight: "),
        "{answer:?}"
    );
    let before = text(&hook);
    assert!(says(&parse(&before, &shape)).contains(&entry("Assumptions & Risks", "the clock")));
    for (args, note, said) in [
        (
            &["--kind", "why"][..],
            "because\n\n## Risks\n- x\n",
            "line 3 is the heading of a section (\"## Risks\"), and --kind why",
        ),
        (&[], "because\n\n## Risks\n- x\n", "line 1 is not under a section heading (\"because\")"),
        (
            &[],
            "## Risks\n- x\n\n## Git\n- abc a commit\n",
            "line 5: Git Commit Messages is written by brain-guard alone",
        ),
    ] {
        let answer = hook.raw(&[&["append"], args].concat(), note.as_bytes());
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(answer.stderr.contains(said), "{said}: {answer:?}");
    }
    assert_eq!(text(&hook), before);
}

/// Only the agent can cut a megabyte of open threads: the seal names the lines.
#[test]
fn seal_names_the_lines_to_cut_in_a_megabyte() {
    let mut source = "# big\n\n## Forward State\n\n- go on\n\n## Open Threads\n\n".to_owned();
    for number in 0..250 {
        let words: Vec<String> =
            (0..340 + number).map(|word| format!("w{number}x{word}")).collect();
        let _ = writeln!(source, "- thread {number} {}", words.join(" "));
    }
    assert!(source.len() > 900_000 && source.len() < 1_000_000, "{}", source.len());
    let (hook, _) = job("big", &source);
    let answer = hook.raw(&["append", "--kind", "risk", "it is big"], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(hook.raw(&["phase", "enter", "by hand"], b"").code, Some(0));
    let left = hook.raw(&["phase", "exit"], SLICE.as_bytes());
    assert_eq!(left.code, Some(0), "{left:?}");
    let before = text(&hook);
    assert!(only_adds(&source, &before));
    let refused = hook.raw(&["seal"], b"");
    assert_eq!(refused.code, Some(1));
    assert_eq!(text(&hook), before);
    let heaviest = refused.stderr.lines().nth(1).expect("an entry");
    let line =
        before.lines().position(|line| line.starts_with("- thread 249 ")).expect("there") + 1;
    assert!(
        heaviest.contains(&format!("line {line} "))
            && heaviest.contains("Open Threads: thread 249"),
        "{heaviest}"
    );
    let note = "word ".repeat(200_000);
    let refused = hook.raw(&["append", "--kind", "lesson"], note.as_bytes());
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("at most 1024 KB are read"), "{refused:?}");
    assert_eq!(text(&hook), before, "nothing is lost by it");
}

/// Bytes in another encoding cannot be shown, but they are kept.
#[test]
fn invalid_utf8_is_kept_before_it_is_replaced() {
    for command in [&["append", "more"][..], &["seal", "--no-clear"], &["close", "CLOSE"]] {
        let (hook, _) = job("latin", "");
        let bytes = b"## Open Threads\n- plain\n- na\xefve\n";
        write(&hook, bytes);
        let id = hook.raw(&["close"], b"").stdout.lines().next().expect("entry")[..6].to_owned();
        let args: Vec<&str> =
            command.iter().map(|arg| if *arg == "CLOSE" { &id } else { *arg }).collect();
        let answer = hook.raw(&args, b"");
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert!(answer.stdout.contains("line 3 of "), "{answer:?}");
        assert!(answer.stdout.contains("was not UTF-8"), "{answer:?}");
        let kept = fs::read_dir(hook.file().parent().expect("folder")).expect("folder").flatten();
        let kept: Vec<PathBuf> = kept
            .map(|entry| entry.path())
            .filter(|path| path.to_string_lossy().contains("compaction.bytes-"))
            .collect();
        assert_eq!(kept.len(), 1, "{args:?}: {kept:?}");
        assert_eq!(fs::read(&kept[0]).expect("kept"), bytes);
    }
}
