//! `revive`: the successor of a session. Its early work becomes an index table, the rest stays
//! whole, and the client can go on there.

use anyhow::bail;

use super::surgery::made::Made;
use super::surgery::make;
use super::surgery::source::{self, Store};
use super::surgery::start::{self, Windows};
use super::surgery::view;
use super::{Exit, out, out_json};
use crate::cli::ReviveArgs;
use base::clock::Time;
use base::env::Env;
use base::when::When;
use sessions::round::Session;
use surgery::{advise, plan};

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
/// began, as `advise` finds it, else where the last third of the tokens does.
fn cut(session: &Session) -> anyhow::Result<u32> {
    let Some(turn) = advise::cut(session, &super::advise::phases(session)) else {
        bail!(
            "{} has a single round in its context: there is nothing to compress; resume it as it is",
            session.id
        );
    };
    Ok(turn.seq)
}
