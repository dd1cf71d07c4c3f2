//! A compaction file from an agent: parsing round-trips, the seal loses nothing, and a second seal
//! changes nothing.
#![no_main]

use std::collections::{BTreeSet, HashMap};

use chrono::DateTime;
use notes::compaction::{EditError, Shape, append, close, parse, render};
use notes::seal::{Input, Limits, Sealed, Verdict, seal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &str| {
    let shape = Shape::default();
    let document = parse(data, &shape);
    assert_eq!(render(&document), data);
    let mut end = 0;
    for block in document.blocks() {
        assert_eq!(block.range.start, end);
        end = block.range.end;
    }
    assert_eq!(end, data.len());

    if let Ok(more) = append(data, &shape, "Open Threads", "one more thread") {
        assert_eq!(parse(&more, &shape).entries().count(), document.entries().count() + 1);
    }
    if let Some(entry) = document.entries().next() {
        let closed = close(data, &shape, &entry.id.to_string());
        assert!(!matches!(closed, Err(EditError::EmptyEntry)));
    }

    // Small files get a low limit, so that the steps have work to do.
    let theta = if data.len() % 2 == 0 { 60 } else { 2_000 };
    let Some(sealed) = sealed(data, &shape, theta, 1_000_000_000) else { return };
    assert_eq!(render(&parse(&sealed.text, &shape)), sealed.text);
    kept(data, &shape, &sealed);
    let again = self::sealed(&sealed.text, &shape, theta, 2_000_000_000).expect("sealed before");
    assert_eq!(again.report.verdict, Verdict::AlreadySealed, "{}", sealed.text);
    assert_eq!(again.text, sealed.text);
    assert_eq!(again.removed_markdown, "");
});

fn sealed(source: &str, shape: &Shape, theta_words: usize, now: i64) -> Option<Sealed> {
    seal(&Input {
        source,
        shape,
        job: "a job",
        limits: Limits { theta_words, ..Limits::default() },
        now: DateTime::from_timestamp(now, 0).expect("a time"),
        summary: None,
        inherited: &BTreeSet::new(),
        past: None,
        last_version: 0,
        replaces: &[],
        git: None,
    })
    .ok()
}

/// Word counts. Markers of an entry (`closed:`, a kind) may change in a seal, so words that end in
/// a colon do not count.
fn words<'a>(texts: impl Iterator<Item = &'a str>) -> HashMap<String, usize> {
    let mut words = HashMap::new();
    for run in texts.flat_map(str::split_whitespace).filter(|run| !run.ends_with(':')) {
        let word: String = run.chars().filter(|letter| letter.is_alphanumeric()).collect();
        // `[x]` is a marker, too.
        if !word.is_empty() && !run.contains(['[', ']', ':', '~', '!']) {
            *words.entry(word).or_default() += 1;
        }
    }
    words
}

fn kept(source: &str, shape: &Shape, sealed: &Sealed) {
    let (before, after) = (parse(source, shape), parse(&sealed.text, shape));
    let removed = sealed.removed.iter().map(|removed| removed.text.as_str());
    let there = words(after.entries().map(|entry| entry.text.as_str()).chain(removed));
    for (word, times) in words(before.entries().map(|entry| entry.text.as_str())) {
        let found = there.get(&word).copied().unwrap_or(0);
        assert!(found >= times, "{word:?} is there {found} times instead of {times}");
    }
}
