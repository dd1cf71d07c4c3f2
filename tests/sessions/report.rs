//! The chain as a table and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::agent::{Agent, FACTS, kept};
use crate::args::Args;
use crate::judge::{Delivered, Fault, Rule, SLICE, TARGET, judge, mean};
use crate::run::{Chain, Session, words};

/// For each earlier session, how many of its facts are in the delivered text.
fn remembered(chain: &Chain, session: &Session, delivered: &Delivered) -> BTreeMap<u32, usize> {
    let mut remembered = BTreeMap::new();
    for fact in chain.facts.iter().filter(|fact| fact.session <= session.number) {
        if delivered.says(&fact.text, |_| true) {
            *remembered.entry(fact.session).or_default() += 1;
        }
    }
    remembered
}

fn open_words(delivered: &Delivered) -> usize {
    delivered.words_of("Forward State") + delivered.words_of("Open Threads")
}

pub fn table(args: &Args, chain: &Chain, faults: &[Fault]) -> String {
    let mut out = String::from(
        "session  wrote  delivered  of it kick-off  open work  tidied  Prior Summary  still there (session:facts)\n",
    );
    for session in &chain.sessions {
        let delivered = Delivered::parse(&session.delivered);
        let there: Vec<String> = remembered(chain, session, &delivered)
            .iter()
            .map(|(session, facts)| format!("{session}:{facts}"))
            .collect();
        let _ = writeln!(
            out,
            "{:>7}  {:>5}  {:>9}  {:>14}  {:>9}  {:>6}  {:>13}  {}",
            session.number,
            session.written,
            delivered.words,
            delivered.kick_off,
            open_words(&delivered),
            session.tidied,
            delivered.words_of("Prior Summary"),
            there.join(" ")
        );
    }
    if let (Some(early), Some(late)) = (mean(chain, 5, 14), mean(chain, 21, 30)) {
        let _ = writeln!(
            out,
            "mean of sessions 5–14: {early:.1}, of 21–30: {late:.1} ({:.3})",
            late / early
        );
    }
    for (rule, says) in Rule::ALL {
        let of = faults.iter().filter(|fault| fault.rule == rule).count();
        let _ = writeln!(
            out,
            "{:<48} {}",
            says,
            if of == 0 { "ok".to_owned() } else { format!("{of} FAULTS") }
        );
    }
    for fault in faults.iter().take(12) {
        let _ = writeln!(out, "  {fault}");
    }
    let _ = write!(out, "seed {}, target {TARGET} words, slice {SLICE} words", args.seed);
    if args.control { out + ", without ageing" } else { out }
}

pub const FACTS_HEAD: &str =
    "agent       facts kept  corrected  stale  asked  mean words 5–14, 21–30 (ratio)  other faults";

/// The share of facts that the careful agent must keep.
const KEPT: f64 = 0.8;

/// How an agent kept the facts of the first ten sessions, and whether that passes. No agent may
/// carry over closed or corrected facts or break another rule; the careful one keeps most facts.
pub fn facts(agent: Agent, chain: &Chain) -> (String, bool) {
    let kept = kept(chain);
    let faults = judge(chain);
    let (early, late) =
        (mean(chain, 5, 14).unwrap_or_default(), mean(chain, 21, 30).unwrap_or_default());
    let asked = chain.sessions.iter().filter(|session| session.asked).count();
    let enough = agent != Agent::Careful || kept.facts as f64 >= KEPT * f64::from(FACTS);
    let good = enough && kept.stale == 0 && faults.is_empty();
    let mut line = format!(
        "{:<10}  {:>4} of {FACTS}  {:>4} of 3  {:>5}  {asked:>5}  {early:.1}, {late:.1} ({:.3})  {}{}",
        format!("{agent:?}"),
        kept.facts,
        kept.corrected,
        kept.stale,
        late / early,
        faults.len(),
        if good { "" } else { "  FAULT" },
    );
    for fault in faults.iter().take(3) {
        let _ = write!(line, "\n  {fault}");
    }
    (line, good)
}

pub fn json(args: &Args, chain: &Chain, faults: &[Fault]) -> Value {
    let sessions: Vec<Value> = chain
        .sessions
        .iter()
        .map(|session| {
            let delivered = Delivered::parse(&session.delivered);
            json!({
                "session": session.number,
                "written": session.written,
                "delivered": delivered.words,
                "kick_off": delivered.kick_off,
                "tidied": session.tidied,
                "open_work": open_words(&delivered),
                "prior_summary": delivered.words_of("Prior Summary"),
                "removed": session.versions.iter().map(|v| words(&v.removed)).sum::<usize>(),
                "versions": session.versions.len(),
                "pins": session.pins.len(),
                "directives": session.directives.len(),
                "open": session.open.len(),
                "still_there": remembered(chain, session, &delivered),
            })
        })
        .collect();
    let faults: Vec<Value> = faults
        .iter()
        .map(|fault| json!({"session": fault.session, "rule": format!("{:?}", fault.rule), "what": fault.what}))
        .collect();
    json!({
        "seed": args.seed,
        "without_ageing": args.control,
        "target": TARGET,
        "mean_5_14": mean(chain, 5, 14),
        "mean_21_30": mean(chain, 21, 30),
        "sessions": sessions,
        "faults": faults,
    })
}
