//! The report of a job, opened in Chromium. Its plot matches the client's transcripts, and its
//! boundary has a plausible duration.

use std::path::PathBuf;

use serde_json::Value;

use crate::report::browser::{Browser, responses};
use crate::support::world::World;

/// The limit of the default model in tokens.
const LIMIT: f64 = 967_000.0;

/// Checks the report of the only job, with these sessions, against other sources. The job reached
/// `narrow`, sealed once, and had one boundary by the module.
pub fn shows_what_happened(world: &World, sessions: [&str; 2]) {
    // The script: 5 %, 19 % … 31.5 %, then a fresh session at 6 % and 6.5 %. The client writes a
    // row shortly after showing it.
    world.wait("row of every answer", || {
        let rows = sessions.iter().map(|id| responses(&transcript(world, id)).len());
        (rows.sum::<usize>() == 10).then_some(())
    });
    let file = world.home().join("report.html");
    let path = file.to_str().expect("utf-8");
    let output = world.guard(&["report", "--job", "--html", path, "--json"]);
    let report: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("JSON: {output:?}"));
    let ids: Vec<&str> = list(&report["sessions"]).filter_map(|s| s["session"].as_str()).collect();
    assert_eq!(ids, sessions, "in order");

    let mut browser = Browser::open(&file);
    for width in [1280, 390] {
        browser.resize(width, 900);
        let dots = browser.dots("fill");
        let expected: Vec<(String, String, u64)> = sessions
            .iter()
            .flat_map(|id| {
                let read = responses(&transcript(world, id)).into_iter();
                read.map(|(at, tokens)| ((*id).to_owned(), at, tokens))
            })
            .collect();
        assert_eq!(expected.len(), 10, "{expected:?}");
        let same = |(dot, (session, at, tokens)): (
            &crate::report::browser::Dot,
            &(String, String, u64),
        )| {
            let time = |text: &str| chrono::DateTime::parse_from_rfc3339(text).expect("a time");
            dot.session == *session && time(&dot.at) == time(at) && dot.value == *tokens
        };
        assert!(dots.len() == 10 && dots.iter().zip(&expected).all(same), "{dots:?}\n{expected:?}");
        for (dot, (_, _, tokens)) in dots.iter().zip(&expected) {
            let percent = *tokens as f64 * 100.0 / LIMIT;
            let pixel = dot.max / dot.height;
            assert!((dot.drawn() - percent).abs() < pixel, "{dot:?} is not at {percent} %");
        }
        assert!(dots.windows(2).all(|d| d[0].x <= d[1].x), "{dots:?}");
    }
    let marks = |lane: &str| {
        format!(
            "[...document.querySelectorAll('#{lane} .mark')].reduce((n, m) => n + +m.dataset.count, 0)"
        )
    };
    // Read at `block-reads`; Bash, Write, Bash and Agent at `narrow`.
    assert_eq!(browser.evaluate(&marks("denials")), 5, "{}", report["totals"]);
    assert_eq!(browser.evaluate(&marks("seals")), 1);
    let bands = "[...document.querySelectorAll('#stance .band')].map(b => b.dataset.tier).join()";
    assert_eq!(browser.evaluate(bands), "coach,block-reads,narrow");
    assert_eq!(browser.requests, Vec::<String>::new(), "nothing is asked of the network");
    assert_eq!(browser.complaints, Vec::<String>::new());

    let boundary = &report["boundaries"][0];
    assert_eq!((&boundary["from"], &boundary["to"]), (&sessions[0].into(), &sessions[1].into()));
    assert_eq!((&boundary["carrier"], &boundary["step"]), (&"mod".into(), &"acknowledged".into()));
    let took = boundary["seconds"].as_f64().expect("both ends are known");
    assert!((0.0..30.0).contains(&took), "{boundary}");
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn transcript(world: &World, session: &str) -> PathBuf {
    let name = format!("{session}.jsonl");
    let mut found = world.transcripts().into_iter();
    found.find(|path| path.ends_with(&name)).expect("the session's transcript")
}
