//! The report on a run, as text and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::args::Args;
use super::judge::Crossing;
use super::session::Run;

/// The report as text.
pub fn text(args: &Args, run: &Run) -> String {
    let verdict = &run.verdict;
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}, window {}: {} sessions, {} responses, {} s\ntokens      {} in ({} of them cached), {} out\n\
         work        {} of {} chapters in the index\nended       {}",
        args.model,
        args.window,
        verdict.sessions,
        verdict.requests,
        run.seconds,
        verdict.input_tokens,
        verdict.cached_tokens,
        verdict.output_tokens,
        run.indexed,
        args.chapters,
        run.ended
    );
    for (at, crossing) in verdict.crossings.iter().enumerate() {
        let _ = write!(text, "\nsession {}\n{}", at + 1, words(crossing));
    }
    for failure in &verdict.failures {
        let _ = writeln!(text, "failure     {failure}");
    }
    for fault in &verdict.faults {
        let _ = writeln!(text, "fault       {fault}");
    }
    if let Some(screen) = &run.screen {
        let lines: Vec<&str> = screen.lines().filter(|line| !line.trim().is_empty()).collect();
        let _ = writeln!(
            text,
            "\nthe model never answered; the client's last screen:\n{}",
            lines.join("\n")
        );
    }
    let on = if verdict.went_on() {
        "it sealed, and the next session went on"
    } else {
        "it did not go on"
    };
    let _ = writeln!(text, "\nverdict     {on}");
    text
}

fn words(crossing: &Crossing) -> String {
    let tokens = |at: Option<u64>| at.map_or("never".to_owned(), |n| format!("at {n} tokens"));
    let list =
        |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let mut lines = vec![
        ("first note", tokens(crossing.tokens_at_note)),
        ("seal", tokens(crossing.tokens_at_seal)),
    ];
    if let Some(calls) = crossing.calls_to_seal {
        lines.push(("calls", format!("{calls} from the first note to the seal")));
    }
    let denied = crossing.denied.iter().map(|(tool, n)| format!("{tool} {n}")).collect::<Vec<_>>();
    lines.push(("denied", list(&denied)));
    let evasions: Vec<String> =
        crossing.evasions.iter().map(|e| format!("{}: {}", e.kind, e.call)).collect();
    lines.push((
        "evasions",
        if evasions.is_empty() { "none".into() } else { evasions.join("\n            ") },
    ));
    if let Some(count) = crossing.words {
        let entries =
            crossing.entries.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>();
        lines.push(("file", format!("{count} words; entries: {}", entries.join(", "))));
        lines.push(("empty", list(&crossing.empty)));
        lines.push(("with reason", list(&crossing.none)));
    }
    if let Some(whole) = crossing.delivered {
        lines.push(("delivered", if whole { "whole" } else { "not whole" }.to_owned()));
    }
    lines.push(match &crossing.next {
        None => ("went on", "not seen".to_owned()),
        Some(next) => (
            "went on",
            format!(
                "{} calls; files read again: {}; first: {}",
                next.calls,
                next.read_again,
                next.first.join(" | ")
            ),
        ),
    });
    lines.iter().fold(String::new(), |text, (name, words)| format!("{text}{name:<11} {words}\n"))
}

/// The report as JSON.
pub fn json(args: &Args, run: &Run) -> Value {
    json!({
        "model": args.model, "window": args.window, "seconds": run.seconds, "ended": run.ended,
        "indexed": run.indexed, "chapters": args.chapters, "went_on": run.verdict.went_on(),
        "run": run.verdict,
    })
}
