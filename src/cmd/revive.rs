//! `revive`: the successor of a session. Its early work becomes an index table, the rest stays
//! whole, and the client can go on there.

use anyhow::bail;

use super::surgery::make::{self, Made};
use super::surgery::source::{self, Store};
use super::surgery::start::{self, Windows};
use super::surgery::view;
use super::{Exit, out, out_json};
use crate::cli::ReviveArgs;
use crate::clock::Time;
use crate::env::Env;
use crate::surgery::plan;
use crate::surgery::when::When;
use crate::transcript::round::Session;

/// Runs the verb.
///
/// # Errors
/// What keeps the session from being made; a client that can't be started, when it is made.
pub fn run(env: &Env, now: Time, args: &ReviveArgs) -> anyhow::Result<Exit> {
    let before = args.before.as_deref().map(|text| source::when(text, now)).transpose()?;
    let store = Store::open(env)?;
    let session = store.session(env, args.session.as_deref())?;
    let before = match before {
        Some(before) => before,
        None => When::Round(cut(&session)?),
    };
    let plan = plan::compress_before(session, before, args.output.fidelity.into())?;
    let made = make::one(env, now, &store, plan, &args.output)?;
    if args.output.json {
        out_json(&view::json(&made))?;
    } else {
        out(view::text(&made));
    }
    if args.run { start(env, &made) } else { Ok(Exit::Done) }
}

/// Starts the client: in a window of its own in tmux, else in this program's place.
fn start(env: &Env, made: &Made) -> anyhow::Result<Exit> {
    if let Ok(windows) = Windows::find(env) {
        let window = windows.open(env, made, "revived")?;
        out(format_args!("opened in the tmux window {window}"));
    } else {
        start::here(env, made)?;
    }
    Ok(Exit::Done)
}

/// The round from which on the successor has everything: where the last phase of the work
/// began, else where the last third of the tokens does.
fn cut(session: &Session) -> anyhow::Result<u32> {
    let context = plan::in_context(session);
    let Some(cut) = last_third(session, &context) else {
        bail!(
            "{} has a single round in its context: there is nothing to compress; resume it as it is",
            session.id
        );
    };
    Ok(cut)
}

/// Where the last third of the tokens begins; at least one round lies before it.
fn last_third(session: &Session, context: &[u32]) -> Option<u32> {
    let tokens = |seq: &u32| session.rounds.iter().find(|r| r.seq == *seq).map_or(0, |r| r.tokens);
    let all: u64 = context.iter().map(tokens).sum();
    let mut kept = 0;
    let (_, later) = context.split_first()?;
    later.iter().rev().copied().find(|seq| {
        kept += tokens(seq);
        kept * 3 >= all
    }).or_else(|| later.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::round::Round;

    fn session(tokens: &[u64]) -> Session {
        let round = |(n, tokens): (usize, &u64)| Round {
            seq: n as u32 + 1,
            tokens: *tokens,
            ..Round::default()
        };
        let rounds = tokens.iter().enumerate().map(round).collect();
        Session { rounds, ..Session::default() }
    }

    #[test]
    fn the_last_third_of_the_tokens_stays_whole() {
        let cut = |tokens: &[u64]| {
            let session = session(tokens);
            let context: Vec<u32> = session.rounds.iter().map(|r| r.seq).collect();
            last_third(&session, &context)
        };
        assert_eq!(cut(&[100, 100, 100, 100, 100, 100]), Some(5));
        assert_eq!(cut(&[10, 10, 10, 1_000]), Some(4), "the last round always does");
        assert_eq!(cut(&[1_000, 1, 1, 1]), Some(2), "the first never does");
        assert_eq!(cut(&[0, 0]), Some(2));
        assert_eq!(cut(&[5]), None);
        assert_eq!(cut(&[]), None);
    }
}
