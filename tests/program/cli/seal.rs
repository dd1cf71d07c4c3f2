//! `seal`: eight steps on an untidy file of 3,000 words.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::hook::{Answer, Hook, fixtures, percent_in};

fn messy() -> String {
    fs::read_to_string(fixtures().join("compaction/hand-made-3000-words.md")).expect("fixture")
}

/// A session whose job has this file, and the job's folder.
fn job(text: &str) -> (Hook, PathBuf) {
    let hook = Hook::begun();
    let file = hook.file();
    let folder = file.parent().expect("folder").to_owned();
    fs::create_dir_all(&folder).expect("folder");
    fs::write(file, text).expect("file");
    (hook, folder)
}

/// Every file below a folder, except locks and `job.json`.
pub fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(tree(&path));
        } else if path.file_name().is_some_and(|n| n != ".lock" && n != "job.json") {
            files.insert(path.clone(), fs::read(&path).expect("file"));
        }
    }
    files
}

/// Seals with these flags; if the seal asks a question, seals again without an answer.
pub fn seal(hook: &Hook, flags: &[&str]) -> Answer {
    let seal = || hook.raw(&[&["seal"], flags].concat(), b"");
    let first = seal();
    if first.stderr.starts_with("brain-guard: not sealed yet") { seal() } else { first }
}

#[test]
fn a_dry_run_reports_every_step_and_changes_nothing() {
    let (hook, folder) = job(&messy());
    let before = tree(&folder);
    let report = seal(&hook, &["--dry-run", "--json"]).json();
    assert_eq!(tree(&folder), before);
    let steps: Vec<&str> = report["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .map(|s| s["step"].as_str().expect("name"))
        .collect();
    let all = ["normalize", "dedup", "fold", "organize", "summarize", "shrink", "stamp", "verify"];
    assert_eq!(steps, all);
    for step in &all[1..6] {
        let found = report["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .find(|s| s["step"] == *step)
            .expect("step");
        let busy =
            ["moved", "removed"].iter().any(|k| !found[k].as_array().expect("list").is_empty());
        assert!(busy, "{step} has nothing to do: the fixture tests nothing");
    }
    assert_eq!(
        (&report["verdict"], &report["dry_run"], &report["path"]),
        (&"sealed".into(), &true.into(), &Value::Null)
    );
    // The target is 800 words; each section keeps its newest entry.
    let words = |key: &str| report[key].as_u64().expect("words");
    assert!(
        (2_900..3_200).contains(&words("words_before")) && words("words_after") <= 900,
        "{report}"
    );
}

/// A line without list marker, checkbox, pin and indentation.
fn bare(line: &str) -> &str {
    let mut rest = line.trim();
    loop {
        let before = rest;
        for prefix in ["- ", "+ ", "* ", "[x] ", "[ ] ", "! ", "~~", "closed: ", "thread: ", "#"] {
            rest = rest.strip_prefix(prefix).unwrap_or(rest).trim_start();
        }
        let numberless = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if numberless.len() < rest.len() {
            rest = numberless.strip_prefix(". ").map_or(rest, str::trim_start);
        }
        if rest == before {
            return rest.trim_end_matches("~~");
        }
    }
}

#[test]
fn seal_archives_removed_text_word_for_word() {
    let source = messy();
    let (hook, folder) = job(&source);
    let answer = seal(&hook, &[]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect(name);
    let sealed = read("sealed/v0001.md");
    assert_eq!(read("compaction.md"), sealed);
    assert_eq!(read("sealed/v0001.raw.md"), source);
    let kept = sealed + &read("sealed/v0001.removed.md");
    let body = source.splitn(3, "---\n").nth(2).expect("body");
    let lost: Vec<&str> = body.lines().map(bare).filter(|line| !kept.contains(line)).collect();
    // A section heading in another spelling is replaced by the standard one.
    assert_eq!(lost, ["open threads"]);

    let report = seal(&hook, &["--dry-run", "--json"]).json();
    assert_eq!(report["verdict"], "already-sealed");
}

#[test]
fn seal_keeps_open_and_pinned_entries() {
    let (hook, folder) = job(&messy());
    seal(&hook, &[]);
    let sealed = fs::read_to_string(folder.join("compaction.md")).expect("sealed");
    for kept in [
        "Finish the rounding fix",
        "the failing input is kept as tests/data/graz.csv",
        "do not merge the migration before Thursday",
        "The bank's feed is the source of truth",
        "second line; ## not a heading",
        "the retention of raw feed files was never decided",
        "This heading belongs to nobody",
    ] {
        assert!(sealed.contains(kept), "{kept}");
    }
    // Not a commit of this session: somebody wrote it by hand.
    let removed = fs::read_to_string(folder.join("sealed/v0001.removed.md")).expect("archive");
    let by_hand = "Round half to even";
    assert!(!sealed.contains(by_hand) && removed.contains(by_hand), "{removed}");
    assert_eq!(sealed.to_lowercase().matches("ask petra about access").count(), 1);
    assert_eq!(sealed.matches("\n## ").count(), 6, "each section once");
}

#[test]
fn a_second_seal_changes_nothing() {
    let (hook, folder) = job(&messy());
    seal(&hook, &[]);
    let without_request = |mut files: BTreeMap<PathBuf, Vec<u8>>| {
        files.retain(|path, _| path.file_name().is_some_and(|n| n != "request.json"));
        files
    };
    let before = without_request(tree(&folder));
    let answer = seal(&hook, &[]);
    assert_eq!(answer.code, Some(0));
    assert!(answer.stdout.starts_with("already sealed as version 1"), "{}", answer.stdout);
    assert_eq!(without_request(tree(&folder)), before);
}

/// Open and pinned entries are never removed, so only the agent can cut them.
#[test]
fn seal_refuses_a_file_that_stays_too_big() {
    let mut text = "# big\n\n## Forward State\n\n- go on\n\n## Open Threads\n\n".to_owned();
    for n in 0..60 {
        let words: Vec<String> = (0..30 + n).map(|w| format!("w{n}x{w}")).collect();
        let _ = writeln!(text, "- thread {n} {}", words.join(" "));
    }
    let (hook, folder) = job(&text);
    let before = tree(&folder);
    let answer = seal(&hook, &[]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert_eq!(tree(&folder), before);
    assert!(
        answer.stderr.contains("Cut at least") && answer.stderr.contains("the heaviest entries"),
        "{answer:?}"
    );
    let heaviest = answer.stderr.lines().nth(1).expect("an entry");
    assert!(heaviest.contains("91 words  Open Threads: thread 59"), "{heaviest}");
    let json = seal(&hook, &["--json"]);
    assert_eq!((json.code, json.stderr.as_str()), (Some(1), ""));
    let report: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((&report["verdict"], &report["boundary"]), (&"refused".into(), &false.into()));
    assert!(
        report["cut"].as_u64().expect("cut") > 1_000 && report["heaviest"][0]["words"] == 91,
        "{report}"
    );
}

/// An agent that is short of context tends to seal notes it never wrote.
#[test]
fn a_seal_without_notes_opens_no_boundary() {
    let hook = Hook::climbed(percent_in("narrow"));
    let answer = hook.agent("brain-guard seal");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(
        answer.stdout.contains("no boundary: no new notes were written in this session"),
        "{answer:?}"
    );
    for section in ["Forward State", "Open Threads", "Assumptions & Risks", "Process Insight"] {
        assert!(answer.stdout.contains(section), "{section}: {}", answer.stdout);
    }
    assert_eq!(hook.opened().len(), 0);
    assert_eq!(hook.journal("no-boundary").len(), 1);
    assert_eq!(hook.bash("ls").verdict(), "deny", "and blocks on");

    hook.agent("brain-guard append --kind next 'none: nothing was begun'");
    assert!(hook.agent("brain-guard seal").stdout.contains("end your turn now"));
    assert_eq!(hook.opened().len(), 1);
}

#[test]
fn below_the_tiers_only_a_request_opens_a_boundary() {
    let hook = Hook::begun();
    hook.agent("brain-guard append --kind next 'one'");
    assert!(hook.agent("brain-guard seal").stdout.contains("no tier is reached"));
    assert_eq!(hook.opened().len(), 0);
    assert!(hook.agent("brain-guard seal --clear").stdout.contains("end your turn now"));
    assert_eq!(hook.opened().len(), 1);

    let hook = Hook::climbed(percent_in("narrow"));
    hook.agent("brain-guard append --kind next 'one'");
    hook.agent("brain-guard seal --no-clear");
    assert_eq!(hook.opened().len(), 0);
}

#[test]
fn seal_prints_a_file_without_a_job() {
    let hook = Hook::new();
    let path = hook.project.join("notes.md");
    fs::write(&path, messy()).expect("file");
    let answer = seal(&hook, &["--file", path.to_str().expect("utf-8")]);
    assert_eq!(answer.code, Some(0));
    assert!(answer.stdout.starts_with("---\n") && answer.stdout.contains("## Forward State"));
    assert_eq!(fs::read_to_string(&path).expect("file"), messy());
    assert_eq!(seal(&hook, &["--file", "missing.md"]).code, Some(1));
}

/// A file rewritten without its front matter does not overwrite sealed versions.
#[test]
fn a_version_is_never_given_twice() {
    let (hook, folder) = job("# j\n\n## Forward State\n\n- one\n");
    seal(&hook, &[]);
    let first = fs::read_to_string(folder.join("sealed/v0001.md")).expect("sealed");
    fs::write(folder.join("compaction.md"), "# j\n\n## Forward State\n\n- two\n").expect("file");
    seal(&hook, &[]);
    assert_eq!(fs::read_to_string(folder.join("sealed/v0001.md")).expect("kept"), first);
    let second = fs::read_to_string(folder.join("sealed/v0002.md")).expect("the next version");
    assert!(second.contains("- two") && second.contains("version: 2"), "{second}");
}

/// A headless agent that is told to end its turn ends the whole run.
#[test]
fn a_headless_seal_does_not_ask_to_end_the_turn() {
    let (mut hook, _) = job("# j\n\n## Forward State\n\n- one\n");
    hook.set("CLAUDE_CODE_SESSION_ATTENDED", "0");
    let answer = seal(&hook, &["--clear"]);
    assert!(answer.stdout.contains("no boundary: this is a headless run"), "{answer:?}");
    assert!(answer.stdout.contains("go on with the work"), "{answer:?}");
}
