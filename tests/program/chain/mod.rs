//! The chain: thirty sessions of one growing job through the real hooks and verbs. What each
//! carries over keeps all open work and does not grow.

mod agent;
mod control;
mod judge;
mod note;
mod run;
mod story;

use std::sync::OnceLock;

use agent::{Agent, FACTS, kept};
use judge::judge;
use run::{Chain, run};

const SEED: u64 = 20_260_101;
const SESSIONS: u32 = 30;

/// The share of the first ten sessions' facts that the careful agent must keep.
const KEPT: f64 = 0.8;

/// The chain of the agent that gives each seal a summary of its own.
fn chain() -> &'static Chain {
    static CHAIN: OnceLock<Chain> = OnceLock::new();
    CHAIN.get_or_init(|| run(SEED, SESSIONS, false, Agent::Summarizes))
}

#[test]
fn thirty_sessions_keep_their_open_work_and_do_not_grow() {
    assert_eq!(told(chain()), [""; 0]);
}

/// A test for each agent by how it answers the seal's question. None may carry over closed or
/// corrected facts.
macro_rules! answers {
    ($($name:ident: $agent:ident;)+) => {
        $(#[test]
        fn $name() {
            let chain = run(SEED, SESSIONS, false, Agent::$agent);
            assert_eq!(told(&chain), [""; 0]);
            assert!(chain.sessions.iter().any(|session| session.asked), "no seal asked");
            let kept = kept(&chain);
            assert_eq!(kept.stale, 0, "closed or corrected facts");
            let least = if Agent::$agent == Agent::Careful { KEPT * f64::from(FACTS) } else { 0.0 };
            assert!(kept.facts as f64 >= least, "{} of {FACTS} facts", kept.facts);
        })+
    };
}

answers! {
    a_careful_agent_keeps_most_facts: Careful;
    a_terse_agent_carries_no_stale_fact: Terse;
    a_verbose_agent_carries_no_stale_fact: Verbose;
    a_sloppy_agent_carries_no_stale_fact: Sloppy;
    a_silent_agent_carries_no_stale_fact: Silent;
}

fn told(chain: &Chain) -> Vec<String> {
    judge(chain).iter().map(ToString::to_string).collect()
}
