//! Controls: chains that are each broken in one way, which the judge must find.

use crate::agent::Agent;
use crate::args::Args;
use crate::judge::{Rule, judge};
use crate::run::{Chain, Session, run};

/// Every control by name, and whether the judge found it.
pub fn all(args: &Args, good: &Chain) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let mut check = |name: &str, rule: Rule, chain: &Chain| {
        let faults = judge(chain);
        found.push((name.to_owned(), faults.iter().any(|fault| fault.rule == rule)));
    };
    let tampered = |tamper: fn(&mut Session)| {
        let mut chain = good.clone();
        chain.sessions.last_mut().into_iter().for_each(tamper);
        chain
    };
    let without_ageing = run(args.seed, args.sessions, true, Agent::Summarizes);
    check("nothing falls out", Rule::Delivered, &without_ageing);
    check("nothing falls out of the summary", Rule::Summary, &without_ageing);
    check("a pin gone", Rule::Pin, &tampered(|s| drop_line(&mut s.delivered, &s.pins)));
    check(
        "a directive gone",
        Rule::Directive,
        &tampered(|s| drop_line(&mut s.delivered, &s.directives)),
    );
    check("a thread gone", Rule::Open, &tampered(|s| drop_line(&mut s.delivered, &s.open)));
    check(
        "a thread closed",
        Rule::Open,
        &tampered(|s| s.delivered = s.delivered.replacen("- case", "- [x] case", 1)),
    );
    check("an entry twice", Rule::Twice, &tampered(|s| twice(&mut s.delivered)));
    check("an archive gone", Rule::Archive, &without_archives(good));
    check("later ones fuller", Rule::Growth, &growing(good));
    found
}

fn drop_line(text: &mut String, wanted: &[String]) {
    let Some(wanted) = wanted.first() else { return };
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains(wanted.as_str())).collect();
    *text = kept.join("\n");
}

fn twice(text: &mut String) {
    let line = text.lines().find(|line| line.starts_with("- ")).unwrap_or_default().to_owned();
    *text = text.replacen(&line, &format!("{line}\n{line}"), 1);
}

fn without_archives(good: &Chain) -> Chain {
    let mut chain = good.clone();
    let versions = chain.sessions.iter_mut().flat_map(|session| &mut session.versions);
    versions.for_each(|version| version.removed.clear());
    chain
}

fn growing(good: &Chain) -> Chain {
    let mut chain = good.clone();
    for session in chain.sessions.iter_mut().filter(|session| session.number > 20) {
        session.delivered.insert_str(0, &"word ".repeat(100));
    }
    chain
}
