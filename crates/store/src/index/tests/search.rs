//! Search.

use proptest::prelude::*;

use super::*;

#[test]
fn words_phrases_and_scripts_are_found() {
    let store = two();
    for (query, expected) in [
        ("console", &["one:1", "two:1"][..]),
        ("CONSOLE design", &["one:1"]),
        ("console elephant", &[]),
        ("\"the console\"", &["one:1", "two:1"]),
        ("\"console the\"", &[]),
        ("arch*", &["one:1"]),
        ("well-known", &["one:1"]),
        ("well-unknown", &[]),
        ("snake_case", &["one:2"]),
        ("cafe resume", &["one:2"]),
        ("CAFÉ", &["one:2"]),
        ("東京", &["one:3"]),
        ("タワー", &["one:3"]),
        ("京東", &[]),
        ("东京", &["one:3"]),
        ("console AND NOT (", &[]),
        ("-> console", &["one:1", "two:1"]),
    ] {
        assert_eq!(found(&store, query), expected, "{query}");
    }
    let hits = store.index.search("東京", &Filter::default(), 1).unwrap();
    assert_eq!(hits[0].snippet.marked("<", ">"), "<東京>タワーに行きたい");
    assert_eq!(serde_json::to_value(&hits[0]).unwrap()["snippet"], "[東京]タワーに行きたい");
    let error = store.index.search(" \"\" ", &Filter::default(), 1).unwrap_err().to_string();
    assert!(error.contains("has no word"), "{error}");
}

#[test]
fn search_is_narrowed() {
    let store = two();
    store.index.tag(&store.folder("two"), &[1], Some("other")).unwrap();
    let found = |filter: Filter, limit| {
        let hits = store.index.search("console", &filter, limit).unwrap();
        hits.into_iter().map(|hit| hit.session).collect::<Vec<_>>()
    };
    let all = Filter::default;
    assert_eq!(found(all(), 1), ["one"]);
    assert_eq!(found(Filter { session: Some(store.folder("two")), ..all() }, 9), ["two"]);
    assert!(found(Filter { session: Some(store.folder("no")), ..all() }, 9).is_empty());
    for (tagged, expected) in [
        (Tagged::As("other".into()), &["two"][..]),
        (Tagged::As("none".into()), &[]),
        (Tagged::No, &["one"]),
        (Tagged::Not("other".into()), &["one"]),
        (Tagged::Not("none".into()), &["one", "two"]),
    ] {
        assert_eq!(found(Filter { tagged: tagged.clone(), ..all() }, 9), expected, "{tagged:?}");
    }
    assert!(found(Filter { agent: Some("Explore".into()), ..all() }, 9).is_empty());
    assert_eq!(found(Filter { agent: Some("claude".into()), ..all() }, 9).len(), 2);
    let since = |text| Filter { since: Some(at(text)), ..all() };
    assert_eq!(found(since("2026-03-19T10:00:00Z"), 9).len(), 2);
    assert!(found(since("2026-03-19T10:01:01Z"), 9).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// No user's query is an error of SQLite.
    #[test]
    fn no_query_is_a_syntax_error(query in "(\\PC|[\"*()^:+{}\\-\u{2}\0]| (AND|OR|NOT|NEAR) ){0,12}") {
        thread_local!(static STORE: Store = two());
        STORE.with(|store| match store.index.search(&query, &Filter::default(), 3) {
            Ok(_) | Err(Error::Unknown(_)) => {}
            Err(e) => panic!("{query:?}: {e}"),
        });
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Each word of a text finds that text.
    #[test]
    fn every_word_of_a_text_finds_it(text in "[a-zA-Zäöüßéñ0-9日本語한글ไทย_.'\"!-]{1,12}( [a-z日本]{1,6}){0,3}") {
        let store = Store::new();
        record(&store, "s", &[round(1, &text, "")], None);
        for word in text.split_whitespace().filter(|w| query::expression(w).is_some()) {
            prop_assert_eq!(found(&store, word), ["s:1"], "{}", word);
        }
    }
}

#[test]
fn words_of_very_many_rounds_rank_the_last_of_them_and_say_so() {
    let store = Store::new();
    let rounds: Vec<_> = (1..=10_002).map(|seq| round(seq, "common", "")).collect();
    record(&store, "long", &rounds, None);
    record(&store, "rare", &[round(1, "seldom", "")], None);
    let soon = |query, filter: &Filter| {
        let (hits, ranked) = store.index.search_soon(query, filter, 20_000).unwrap();
        (hits.len(), ranked)
    };
    let all = Filter::default();
    assert_eq!(soon("common", &all), (10_002, None), "as many as are asked for");
    assert_eq!(soon("seldom", &all), (1, None));
    let (hits, ranked) = store.index.search_soon("common", &all, 5).unwrap();
    assert_eq!((hits.len(), ranked), (5, Some(10_000)));
    assert!(hits.iter().all(|hit| hit.seq > 2));
    let since = Filter { since: Some(at("2026-03-19T10:00:00Z")), ..all };
    assert_eq!(store.index.search_soon("common", &since, 5).unwrap().1, None, "it is narrowed");
}

#[test]
fn a_session_that_is_forgotten_is_found_no_more_and_its_words_leave_the_file() {
    let mut store = two();
    let origins = |store: &Store| {
        let all = store.index.imported().unwrap().into_iter().map(|origin| origin.session);
        all.collect::<Vec<_>>()
    };
    assert_eq!(origins(&store), ["one", "two"]);
    let folder = store.folder("one");
    store.index.forget(&folder).unwrap();
    store.index.forget(&folder).unwrap();
    assert_eq!(
        (found(&store, "console"), origins(&store)),
        (vec!["two:1".into()], vec!["two".into()])
    );
    store.index.compact().unwrap();
    store.reopen();
    let holds = |name: &str, word: &str| {
        let bytes = std::fs::read(store.across(name)).unwrap();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    };
    for name in ["search.db", "sessions.db"] {
        assert!(!holds(name, "snake_case") && holds(name, "console"), "{name}");
    }
}

#[test]
fn a_round_is_found_once_with_its_copies() {
    let store = two();
    let copy = |seq, of: (&str, u32)| {
        let (round, words) = round(seq, "Design the console", "again");
        let origin = Origin { session: of.0.into(), seq: of.1 };
        (Round { origin: Some(origin), ..round }, words)
    };
    let (grown, words) = copy(3, ("one", 1));
    let grown = (Round { more: true, ..grown }, Words { agent: "lighthouse".into(), ..words });
    record(&store, "three", &[copy(1, ("gone", 9)), copy(2, ("one", 1)), grown], None);
    record(&store, "four", &[copy(5, ("gone", 9))], None);
    let hits = |query: &str, filter: Filter| {
        let hits = store.index.search(query, &filter, 9).unwrap();
        let place = |session: &str, seq: u32| format!("{session}:{seq}");
        let line = |hit: Hit| {
            let copies = hit.copies.iter().map(|copy| place(&copy.session, copy.seq));
            format!("{} {}", place(&hit.session, hit.seq), copies.collect::<Vec<_>>().join(","))
        };
        let mut lines: Vec<String> = hits.into_iter().map(line).collect();
        lines.sort();
        lines
    };
    let all = hits("design console", Filter::default());
    assert_eq!(all, ["one:1 three:2,three:3", "three:1 four:5", "three:3 "]);
    let session = Some(store.folder("three"));
    let within = hits("design console", Filter { session, ..Filter::default() });
    assert_eq!(within, ["three:1 four:5", "three:2 one:1", "three:3 "]);
    // What was added to a copy is found there.
    assert_eq!(hits("lighthouse", Filter::default()), ["three:3 "]);

    store.index.tag(&store.folder("three"), &[1, 2, 3], Some("ui")).unwrap();
    store.index.tag(&store.folder("one"), &[1], Some("ui")).unwrap();
    let tagged = store.index.engagement("ui").unwrap();
    let places: Vec<_> = tagged.iter().map(|(s, r)| format!("{}:{}", s.id, r.seq)).collect();
    assert_eq!(places, ["one:1", "three:1", "three:3"]);
    assert_eq!(store.index.engagements().unwrap(), [("ui".to_owned(), 2)]);
}

#[test]
fn every_mark_of_a_match_is_closed() {
    let store = two();
    let words: Vec<String> = (0..60).map(|n| format!("w{n}")).collect();
    let long = format!("{}/", "needle/".repeat(500));
    record(&store, "many", &[round(1, &words.join(" "), "said"), round(2, &long, "said")], None);
    for query in
        [format!("\"{}\"", words[5..40].join(" ")), "w1 w2 w30 w50".into(), "needle".into()]
    {
        let found = store.index.search(&query, &Filter::default(), 9).unwrap();
        let shown = found[0].snippet.marked("[", "]");
        let (mut open, mut closed) = (0, 0);
        for c in shown.chars() {
            open += usize::from(c == '[');
            closed += usize::from(c == ']');
            assert!(open - closed <= 1, "{shown}");
        }
        assert!(open > 0 && open == closed && shown.len() < 400, "{shown}");
    }
}
