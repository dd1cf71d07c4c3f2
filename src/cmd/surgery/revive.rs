//! `surgery revive`: makes a successor of a session. Early rounds become an index table, the rest
//! stays in full, and the client can continue there.

use anyhow::Context as _;

use super::made::Made;
use super::source::{self, Store};
use super::start::{self, Windows};
use super::{numbers, pipeline, view};
use crate::cli::ReviveArgs;
use crate::cmd::{Context, Exit, Failure, Run, out, show, succession};
use base::env::Env;
use base::when::When;
use sessions::operation::Operation;
use sessions::round::Session;
use surgery::advise::{self, Turn};

impl Run for ReviveArgs {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        let Context { env, now } = context;
        let before = self.before.as_deref().map(|text| source::when(text, now)).transpose()?;
        let store = Store::open(env)?;
        let session = store.session(env, self.session.as_deref())?;
        let before = match before {
            Some(before) => before,
            None => When::Round(cut(&session)?.seq),
        };
        let order = self.output.order(Operation::CompressBefore(before));
        let planned = pipeline::plan_sessions(context, &store, &session, &order)?;
        let mut measured = planned.plans.first().context("nothing was planned")?.clone();
        measured.carry(&mut |id| store.known(id));
        let cost = numbers::plan_cost(&measured, &store.readers(&measured)?, now)?;
        if cost.after >= cost.before {
            let what = format!("a successor would not be shorter: {}", view::context(&cost));
            let hint = "resume the session as it is; brain-guard advise says what would shorten it";
            return Err(Failure::refused(what).hint(hint).into());
        }
        if self.output.here {
            return succession::ask(context, &store, &session, order);
        }
        let made = pipeline::make(context, &store, planned, (&self.output).into())?;
        let made = made.first().context("nothing was made")?;
        show(made, self.output.json)?;
        if self.run { start(env, made) } else { Ok(Exit::Done) }
    }
}

/// Starts the client: in a new tmux window, else in place of this program.
fn start(env: &Env, made: &Made) -> anyhow::Result<Exit> {
    if let Ok(windows) = Windows::find(env) {
        let window = windows.open(env, made, "revived")?;
        out(format_args!("opened in the tmux window {window}"));
    } else {
        start::replace_process(env, made)?;
    }
    Ok(Exit::Done)
}

/// The first round that stays in full: where the last phase of the work began, as `advise` finds
/// it. Without phases, where the last third of the tokens begins.
pub(crate) fn cut(session: &Session) -> anyhow::Result<Turn> {
    advise::cut(session, &crate::cmd::advise::phases(session)).with_context(|| {
        format!(
            "{} has a single round in its context: there is nothing to compress; resume it as it is",
            session.id
        )
    })
}
