//! Controls: chains that are each broken in one way, which the judge must find.

use crate::chain::agent::Agent;
use crate::chain::judge::{Rule, judge};
use crate::chain::run::{Chain, Session, run};
use crate::chain::{SEED, SESSIONS, chain};

fn finds(rule: Rule, chain: &Chain) {
    assert!(judge(chain).iter().any(|fault| fault.rule == rule), "{rule:?} is not found");
}

#[test]
fn control_finds_what_never_falls_out() {
    let chain = run(SEED, SESSIONS, true, Agent::Summarizes);
    finds(Rule::Delivered, &chain);
    finds(Rule::Summary, &chain);
}

#[test]
fn control_finds_what_was_tampered_with() {
    let tampered = |tamper: fn(&mut Session)| {
        let mut chain = chain().clone();
        chain.sessions.last_mut().into_iter().for_each(tamper);
        chain
    };
    finds(Rule::Pin, &tampered(|s| drop_line(&mut s.delivered, &s.pins)));
    finds(Rule::Directive, &tampered(|s| drop_line(&mut s.delivered, &s.directives)));
    finds(Rule::Open, &tampered(|s| drop_line(&mut s.delivered, &s.open)));
    let closed = |s: &mut Session| s.delivered = s.delivered.replacen("- case", "- [x] case", 1);
    finds(Rule::Open, &tampered(closed));
    finds(Rule::Twice, &tampered(|s| twice(&mut s.delivered)));
    finds(Rule::Archive, &without_archives(chain()));
    finds(Rule::Growth, &growing(chain()));
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
