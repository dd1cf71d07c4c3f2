//! Holds for every transcript: nothing is lost between bytes, lines, rows, rounds and words,
//! wherever reading is interrupted.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod recorded;

use std::io::BufReader;

use proptest::prelude::*;
use serde_json::Value;

use sessions::dialect::{Claude, Dialect, Kind, Pi, Scratch};
use sessions::digest::Digest;
use sessions::line::Lines;
use sessions::round::{Round, Rounds, Words};
use sessions::span::{self, Field};
use sessions::usage;
use testing::claude::{Expected, damaged, session, sessions};
use testing::rounds::standings;

/// All rounds of a transcript.
fn digest(bytes: &[u8]) -> Vec<(Round, Words)> {
    let (mut digest, mut all) = (Digest::default(), Vec::new());
    feed(&mut digest, bytes, &mut all);
    all.extend(digest.open());
    all
}

/// Feeds whole lines.
fn feed(digest: &mut Digest, bytes: &[u8], ended: &mut Vec<(Round, Words)>) {
    let (mut scratch, mut blocks) = (Scratch::default(), Vec::new());
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let row = Claude.row(line, &mut scratch);
        Claude.blocks(line, &row, &mut Scratch::default(), &mut blocks);
        assert_eq!(blocks, scratch.blocks());
        ended.extend(digest.row(&Claude, &row, line, &blocks));
    }
}

/// Any JSON value, with texts full of JSON syntax.
fn json() -> impl Strategy<Value = Value> {
    let text = "[a-z\"\\\\{}\\[\\],: \u{1}\n\té🦀]{0,12}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(text, inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z\"\\\\é]{0,8}", json(), 0..8)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// JSON with blanks wherever they are allowed; the text so far decides how many.
fn spaced(value: &Value, out: &mut String) {
    let gap = |out: &mut String| out.push_str(&" \t\r\n"[..out.len() % 5]);
    gap(out);
    match value {
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                spaced(item, out);
            }
            gap(out);
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (n, (name, value)) in fields.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                gap(out);
                out.push_str(&serde_json::to_string(name).unwrap());
                gap(out);
                out.push(':');
                spaced(value, out);
            }
            gap(out);
            out.push('}');
        }
        leaf => out.push_str(&leaf.to_string()),
    }
    gap(out);
}

proptest! {
    #[test]
    fn fields_lie_where_a_parser_finds_them(value in object(), compact in any::<bool>()) {
        let mut text = String::new();
        if compact { text = value.to_string() } else { spaced(&value, &mut text) }
        let (bytes, mut found) = (text.as_bytes(), Vec::new());
        let end = span::fields(bytes, &mut found);
        prop_assert_eq!(end, Some(text.trim_end().len()));
        let named = |field: &Field| {
            let name = &text[field.name.start - 1..=field.name.end];
            serde_json::from_str::<String>(name).unwrap()
        };
        let mut read = serde_json::Map::new();
        for field in &found {
            let value = &text[field.value.start..field.value.end];
            prop_assert_eq!(value, value.trim());
            read.insert(named(field), serde_json::from_str(value).unwrap());
        }
        prop_assert_eq!(Value::Object(read), value);
        for end in 0..text.trim_end().len() {
            prop_assert_eq!(span::fields(&bytes[..end], &mut found), None, "{}", end);
        }
    }

    #[test]
    fn items_lie_where_a_parser_finds_them(values in prop::collection::vec(json(), 0..6)) {
        let mut text = String::new();
        spaced(&Value::from(values.clone()), &mut text);
        let mut found = Vec::new();
        prop_assert!(span::items(text.as_bytes(), &mut found).is_some());
        let read: Vec<Value> =
            found.iter().map(|s| serde_json::from_str(&text[s.start..s.end]).unwrap()).collect();
        prop_assert_eq!(read, values);
    }

    #[test]
    fn texts_are_what_a_parser_reads(text in any::<String>(), escaped in any::<bool>()) {
        let mut json = serde_json::to_string(&text).unwrap();
        if escaped {
            json = json.replace('a', "\\u0061");
        }
        let read = span::text(json.as_bytes());
        prop_assert_eq!(read.as_deref(), Some(text.as_str()));
    }

    /// Any bytes: nothing panics, and a valid object is never broken.
    #[test]
    fn rows_of_anything(bytes in prop::collection::vec(any::<u8>(), 0..80), cut in any::<prop::sample::Index>(), seed in 0..50u64) {
        let made = session(seed, 2).bytes;
        let cut = cut.index(made.len());
        for bytes in [&bytes[..], &made[cut..], &[&made[..cut], &bytes].concat()] {
            for line in bytes.split_inclusive(|b| *b == b'\n') {
                let whole = serde_json::from_slice::<serde_json::Map<String, Value>>(line).is_ok();
                for dialect in [&Claude as &dyn Dialect, &Pi] {
                    let (mut scratch, mut blocks) = (Scratch::default(), Vec::new());
                    let row = dialect.row(line, &mut scratch);
                    dialect.blocks(line, &row, &mut scratch, &mut blocks);
                    prop_assert!(!whole || row.kind != Kind::Broken, "{}", String::from_utf8_lossy(line));
                    digest_one(dialect, line);
                }
            }
        }
    }

    #[test]
    fn every_prefix_of_a_row_is_broken(seed in any::<u64>()) {
        let made = session(seed, 1).bytes;
        let mut scratch = Scratch::default();
        for line in made.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            prop_assert_ne!(Claude.row(line, &mut scratch).kind, Kind::Broken);
            for end in 0..line.len() {
                prop_assert_eq!(Claude.row(&line[..end], &mut scratch).kind, Kind::Broken);
            }
        }
    }

    #[test]
    fn lines_joined_are_the_file(seed in any::<u64>(), capacity in 1..5_000usize) {
        let bytes = damaged(seed, 3);
        let mut lines = Lines::new(BufReader::with_capacity(capacity, &bytes[..]));
        let (mut joined, mut number) = (Vec::new(), 0);
        while let Some(line) = lines.next().unwrap() {
            number += 1;
            prop_assert_eq!((line.number, line.offset), (number, joined.len() as u64));
            prop_assert_eq!(line.ended(), line.bytes.ends_with(b"\n"));
            let inner = line.bytes.strip_suffix(b"\n").unwrap_or(line.bytes);
            prop_assert!(!inner.contains(&b'\n'));
            joined.extend_from_slice(line.bytes);
        }
        prop_assert_eq!(joined, bytes);
    }

    #[test]
    fn the_digest_finds_what_was_made(made in sessions()) {
        let found = digest(&made.bytes);
        prop_assert_eq!(found.len(), made.rounds.len());
        for ((round, words), expected) in found.iter().zip(&made.rounds) {
            let seen = Expected {
                boundary: round.boundary,
                first_id: round.first_id.clone().unwrap_or_default(),
                rows: round.rows,
                ..Expected::default()
            };
            let told = Expected {
                follows: None,
                user: vec![],
                agent: vec![],
                calls: vec![],
                ..expected.clone()
            };
            prop_assert_eq!(seen, told, "round {}", round.seq);
            let joined = |texts: &[String]| {
                texts.iter().map(|t| t.trim()).collect::<Vec<_>>().join("\n\n")
            };
            prop_assert_eq!(&words.user, &joined(&expected.user));
            prop_assert_eq!(&words.agent, &joined(&expected.agent));
            prop_assert_eq!(round.tools.values().sum::<u32>() as usize, expected.calls.len());
            prop_assert_eq!(round.user, !expected.user.is_empty());
            prop_assert_eq!(round.key_tool.is_some(), !expected.calls.is_empty());
        }
    }

    /// Rewinds and compactions take rounds out of the context.
    #[test]
    fn rounds_stand_as_they_were_made(made in sessions()) {
        let mut digest = Digest::default();
        feed(&mut digest, &made.bytes, &mut Vec::new());
        let follows: Vec<(u32, bool)> =
            made.rounds.iter().map(|round| (round.follows.unwrap_or(0), round.boundary)).collect();
        let (found, cut) = digest.standings();
        let found: Vec<_> = found.iter().map(|found| (found.state, found.place)).collect();
        let expected = standings(&follows);
        let expected: Vec<_> = expected.iter().map(|made| (made.state, made.place)).collect();
        prop_assert_eq!((found, cut), (expected, None));
    }

    /// Every row belongs to one round, rounds follow each other, and a round's own counts are
    /// right.
    #[test]
    fn rounds_partition_rows(seed in any::<u64>(), rounds in 0..6usize) {
        let bytes = damaged(seed, rounds);
        let (mut placed, mut scratch, mut last) = (Rounds::default(), Scratch::default(), 0);
        let mut rows = vec![(0u32, 0u64)];
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            let seq = placed.place(&Claude.row(line, &mut scratch));
            prop_assert!(seq == last || seq == last + 1);
            if seq > last {
                rows.push((0, 0));
            }
            last = seq;
            let (count, length) = &mut rows[seq as usize];
            (*count, *length) = (*count + 1, *length + line.len() as u64);
        }
        let digested = digest(&bytes);
        prop_assert_eq!(digested.len(), last as usize);
        for (n, (round, _)) in digested.iter().enumerate() {
            prop_assert_eq!(round.seq as usize, n + 1);
            prop_assert_eq!((round.rows, round.bytes), rows[n + 1]);
            prop_assert!(round.started <= round.ended || round.boundary);
        }
    }

    #[test]
    fn a_digest_interrupted_anywhere_is_the_digest_at_once(made in sessions(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4), torn in any::<bool>()) {
        let bytes = if torn { damaged(made.rounds.len() as u64, 5) } else { made.bytes };
        let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| ends[cut.index(ends.len())]).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let (mut state, mut all) = (serde_json::to_string(&Digest::default()).unwrap(), Vec::new());
        for pair in cuts.windows(2) {
            let mut digest: Digest = serde_json::from_str(&state).unwrap();
            feed(&mut digest, &bytes[pair[0]..pair[1]], &mut all);
            let again = digest.open();
            prop_assert_eq!(&again, &digest.open());
            state = serde_json::to_string(&digest).unwrap();
        }
        let last: Digest = serde_json::from_str(&state).unwrap();
        all.extend(last.open());
        prop_assert_eq!(all, digest(&bytes));
    }

    #[test]
    fn usage_is_what_a_parser_reads(counts in prop::collection::vec(prop::option::of(0..u64::MAX), 4), more in json()) {
        let names = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];
        let mut all = serde_json::Map::new();
        all.insert("iterations".into(), more);
        for (name, count) in names.iter().zip(&counts) {
            all.insert((*name).into(), count.map_or(Value::Null, Value::from));
        }
        let text = Value::Object(all).to_string();
        let parsed = serde_json::from_str::<usage::Usage>(&text).unwrap().total();
        prop_assert_eq!(usage::total(text.as_bytes()), Some(parsed).filter(|n| *n > 0));
    }
}

fn digest_one(dialect: &dyn Dialect, line: &[u8]) {
    let (mut scratch, mut blocks) = (Scratch::default(), Vec::new());
    let row = dialect.row(line, &mut scratch);
    dialect.blocks(line, &row, &mut scratch, &mut blocks);
    let mut digest = Digest::default();
    digest.row(dialect, &row, line, &blocks);
    digest.open();
}
