use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset};

use super::*;
use crate::journal::Call;
use crate::policy::bands::Band as Class;
use crate::policy::ramp;
use sessions::gauge::{Reading, Source as From};

const HOSTILE: &str =
    "</script><script>document.title='x'</script>\"'><img src=x onerror=1>&amp;\u{1b}[2J\u{202e}";

fn at(second: i64) -> Time {
    DateTime::from_timestamp(1_800_000_000 + second, 0).unwrap()
}

fn zone() -> FixedOffset {
    FixedOffset::east_opt(0).unwrap()
}

fn ramp() -> Ramp {
    let tier = |name: &str, context, file, blocks: &[Class]| ramp::Tier {
        name: name.into(),
        context,
        file,
        blocks: blocks.iter().copied().collect::<BTreeSet<_>>(),
    };
    Ramp::new(vec![
        tier("coach", 20.0, 70.0, &[]),
        tier("block-reads", 25.0, 85.0, &[Class::Read]),
        tier("narrow", 30.0, 100.0, &[Class::Write, Class::Shell]),
    ])
}

fn reading(used: u64, limit: u64) -> Reading {
    Reading { used, limit, source: From::Transcript, at: at(0) }
}

fn event(second: i64, what: What, tier: &str, percent: u64) -> Line {
    Line {
        tier: tier.into(),
        context: Some(reading(percent, 100)),
        to_agent: "35 bytes of words said to the agent".into(),
        ..Line::new(at(second), what)
    }
}

fn note() -> What {
    What::Note { event: "PostToolBatch".into() }
}

fn call(tool: &str) -> Call {
    Call { tool: tool.into(), band: "read".into(), ..Call::default() }
}

fn source(points: &[(i64, u64)], events: Vec<Line>) -> Source {
    let model = Some("claude-opus-5-5".to_owned());
    let point = |(second, tokens): &(i64, u64)| {
        Point::new(at(*second), *tokens, 1_000_000, model.clone(), false)
    };
    Source {
        id: "5e550000-0000-4000-8000-000000000001".into(),
        job: "parser".into(),
        parent: None,
        started: Some(at(0)),
        ended: None,
        ramp: ramp(),
        points: points.iter().map(point).collect(),
        events,
        seals: Vec::new(),
        bytes_per_token: 3.5,
        missing: Vec::new(),
    }
}

fn report(sources: Vec<Source>) -> Report {
    let subject = Subject::Job("parser".into());
    Report::of(subject, "/home/dev/project".into(), sources, Vec::new(), at(9_999))
}

fn climb() -> Source {
    let events = vec![
        event(20, note(), "coach", 21),
        event(30, What::Deny(call("Read")), "block-reads", 26),
        event(31, What::Deny(call("Grep")), "block-reads", 26),
        event(32, What::Deny(call("Read")), "block-reads", 26),
        event(40, What::Pass(call("Bash")), "narrow", 31),
    ];
    source(&[(0, 50_000), (10, 190_000), (19, 210_000), (29, 260_000), (39, 310_000)], events)
}

#[test]
fn stances_follow_the_fill_and_the_journal() {
    let bands = |source: Source| -> Vec<(String, i64, i64, bool)> {
        let report = report(vec![source]);
        let second = |t: Time| t.timestamp() - 1_800_000_000;
        let bands = report.sessions[0].stances.iter();
        bands.map(|b| (b.tier.clone(), second(b.from), second(b.to), b.cap.is_some())).collect()
    };
    let expected =
        [("coach", 19, 29, false), ("block-reads", 29, 39, false), ("narrow", 39, 40, false)];
    assert_eq!(bands(climb()), expected.map(|(n, a, b, c)| (n.to_owned(), a, b, c)));
    let file = event(20, What::Pass(call("Bash")), "narrow", 12);
    let capped = Line { cap: Some("shadow".into()), ..event(30, note(), "narrow", 12) };
    let by_file = source(&[(10, 100_000), (25, 120_000), (40, 130_000)], vec![file, capped]);
    let expected = [("narrow", 20, 30, false), ("narrow", 30, 40, true)];
    assert_eq!(bands(by_file), expected.map(|(n, a, b, c)| (n.to_owned(), a, b, c)));
    assert_eq!(bands(source(&[(1, 50_000)], Vec::new())), []);
}

#[test]
fn a_compaction_ends_a_stance() {
    let mut source = climb();
    source.points.push(Point::new(at(50), 30_000, 1_000_000, None, true));
    let report = report(vec![source]);
    assert_eq!(report.sessions[0].stances.last().map(|b| b.to), Some(at(50)));
}

#[test]
fn what_it_comes_to() {
    let delivered = event(50, What::Delivered { bytes: 700 }, "", 5);
    let delivered = Line { to_agent: String::new(), ..delivered };
    let report = report(vec![climb(), source(&[(50, 60_000)], vec![delivered])]);
    let t = &report.totals;
    assert_eq!((t.responses, t.notes, t.denied, t.would_deny), (6, 1, 3, 0));
    let denials: Vec<(&str, u64)> = t.denials.iter().map(|d| (d.tool.as_str(), d.denied)).collect();
    assert_eq!(denials, [("Read", 2), ("Grep", 1)]);
    assert_eq!((t.added.bytes, t.added.tokens), (175, 50));
    assert_eq!((t.added.delivered_bytes, t.added.delivered_tokens), (700, 200));
    let kinds = report.sessions[0].events.iter().filter(|e| matches!(e.what, What::Pass(_)));
    assert_eq!(kinds.count(), 0, "calls that just passed are not told");
}

#[test]
fn the_files_words_are_told_where_they_change() {
    let read = |second, words| Line {
        file: Some(reading(words, 2_000)),
        ..event(second, note(), "coach", 21)
    };
    let mut source =
        source(&[(1, 210_000)], vec![read(1, 100), read(2, 100), read(3, 900), read(9, 400)]);
    source.seals.push(Seal {
        at: at(5),
        job: "j".into(),
        version: 1,
        before: Some(900),
        after: 400,
    });
    let report = report(vec![source]);
    let words: Vec<u64> = report.sessions[0].words.iter().map(|w| w.words).collect();
    assert_eq!(words, [100, 900, 400, 400]);
}

/// The values of an attribute in all elements of a class, in order.
fn attributes(page: &str, class: &str, name: &str) -> Vec<String> {
    let elements = page.split('<').filter(|e| e.contains(&format!("class=\"{class}")));
    let value = |e: &str| {
        let rest = e.split(&format!(" {name}=\"")).nth(1)?;
        Some(rest.split('"').next()?.to_owned())
    };
    elements.filter_map(value).collect()
}

#[test]
fn heights_are_percentages() {
    let page = page(&report(vec![climb()]), zone()).unwrap();
    let numbers = |name: &str| -> Vec<f64> {
        attributes(&page, "dot", name)
            .iter()
            .map(|v| v.trim_end_matches('%').parse().unwrap())
            .collect()
    };
    assert_eq!(numbers("data-percent"), [5.0, 19.0, 21.0, 26.0, 31.0]);
    assert_eq!(numbers("data-value"), [50_000.0, 190_000.0, 210_000.0, 260_000.0, 310_000.0]);
    let max: f64 = attributes(&page, "plot", "data-max")[0].parse().unwrap();
    for (percent, y) in numbers("data-percent").iter().zip(numbers("cy")) {
        assert!((y - 260.0 * (1.0 - percent / max)).abs() < 0.01, "{percent} {y}");
    }
    let x = numbers("cx");
    assert!(x.windows(2).all(|x| x[0] < x[1]) && x[0] == 0.0 && x[4] < 100.0, "{x:?}");
    assert_eq!(attributes(&page, "tier\"", "data-percent"), ["20", "25", "30"]);
}

#[test]
fn nothing_from_outside_becomes_markup() {
    let mut source = climb();
    source.events.push(Line {
        to_agent: HOSTILE.into(),
        cap: Some(HOSTILE.into()),
        ..event(33, What::Deny(call(HOSTILE)), HOSTILE, 26)
    });
    (source.id, source.missing) = (HOSTILE.into(), vec![HOSTILE.into()]);
    source.seals.push(Seal { at: at(5), job: HOSTILE.into(), version: 1, before: None, after: 1 });
    source.points[0].model = Some(HOSTILE.into());
    let report =
        Report::of(Subject::Job(HOSTILE.into()), HOSTILE.into(), vec![source], Vec::new(), at(0));
    let page = page(&report, zone()).unwrap();
    assert!(!page.contains("<img") && !page.contains('\u{1b}') && !page.contains('\u{202e}'));
    assert_eq!(page.matches("<script").count(), 2, "the data and ours");
    assert_eq!(page.matches("</script").count(), 2);
    assert!(
        page.contains("Content-Security-Policy")
            && !page.contains("http:")
            && !page.contains("https:")
    );
    let text = text(&report, zone());
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
}

#[test]
fn the_pages_data_are_the_json() {
    let report = report(vec![climb()]);
    let page = page(&report, zone()).unwrap();
    let data = page.split("id=\"report\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data, serde_json::to_value(&report).unwrap());
}

#[test]
fn the_text_tells_the_story() {
    let mut source = climb();
    source.seals.push(Seal {
        at: at(40),
        job: "parser".into(),
        version: 3,
        before: Some(1_200),
        after: 640,
    });
    let mut report = report(vec![source]);
    report.boundaries.push(Crossing {
        token: "t".into(),
        job: "parser".into(),
        from: "5e550000".into(),
        to: Some("77770000".into()),
        carrier: "mod".into(),
        step: "acknowledged".into(),
        why: None,
        version: 3,
        opened: at(41),
        turn_ended: Some(at(42)),
        first_request: Some(at(43)),
        seconds: Some(0.41),
    });
    let text = text(&report, zone());
    for part in [
        "job parser, /home/dev/project",
        "limit 1,000,000 tokens; coach 20 %, block-reads 25 %, narrow 30 %",
        "  08:00:00    5.0 %    50,000  #####                                       ",
        "Read denied",
        "  sealed parser v3 at 08:00:40: 1,200 words before, 640 after",
        "boundary 01-15 08:00:41 5e550000 → 77770000 by mod: acknowledged; 0.41 s from the turn's end to the first request",
        "5 responses, highest context usage 31.0 %; 1 note, 3 denials",
        "denied  Read (read) ×2 at block-reads",
        "added   175 bytes of notes and denials, about 50 tokens",
    ] {
        assert!(text.contains(part.trim_end()), "{part}\n{text}");
    }
}

#[test]
fn in_shadow_mode_it_tells_what_would_have_been_blocked_and_when() {
    let cap = Some("shadow mode is on in the settings".to_owned());
    let would = |second, tool| Line {
        cap: cap.clone(),
        ..event(second, What::WouldDeny(call(tool)), "narrow", 31)
    };
    let report = report(vec![source(&[(1, 310_000)], vec![would(2, "Read"), would(61, "Bash")])]);
    let text = text(&report, zone());
    assert!(text.contains("nothing was blocked; these calls would have been:"), "{text}");
    assert!(text.contains("  08:01:01  Bash (read), narrow at 31.0 %"), "{text}");
    assert!(
        text.contains("* nothing was blocked, because shadow mode is on in the settings"),
        "{text}"
    );
    let page = page(&report, zone()).unwrap();
    assert!(page.contains("<b>2 calls</b> would have been"));
}

#[test]
fn a_session_without_anything_is_no_error() {
    let mut empty = source(&[], Vec::new());
    empty.missing.push("its journal is empty: below the first tier nothing is written".into());
    let report = report(vec![empty]);
    assert!(text(&report, zone()).contains("its journal is empty"));
    assert!(page(&report, zone()).unwrap().contains("its journal is empty"));
    let none =
        Report::of(Subject::Session("s".into()), String::new(), Vec::new(), Vec::new(), at(0));
    assert!(page(&none, zone()).is_ok() && text(&none, zone()).contains("session s"));
}
