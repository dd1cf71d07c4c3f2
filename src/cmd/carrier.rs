//! `carrier …`: which carrier would be used here and why, and a harmless test of them.

pub mod scratch;
pub mod trial;

use std::fmt;

use serde::Serialize;

use super::{Context, Exit, Run, selector, show};
use crate::cli::{CarrierVerb, SessionSelector};
use base::clock::Time;
use base::env::Env;
use base::paths::Places;
use carrier::reach;
use guard::boundary::Carrier;
use guard::files::state;
use guard::hook::facts::read_settings;
use guard::hook::select::{self, Selection};

impl Run for CarrierVerb {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        match self {
            Self::Probe(args) => {
                show(&Probe::of(context, &args.selector)?, args.json)?;
                Ok(Exit::Done)
            }
            Self::Test(args) => {
                let trial = trial::Trial::run(context, &args.selector)?;
                show(&trial, args.json)?;
                Ok(if trial.failed() { Exit::Refused } else { Exit::Done })
            }
        }
    }
}

/// Which carrier would be used, and why not the others.
#[derive(Debug, Serialize)]
struct Probe {
    session: Option<String>,
    chosen: Option<&'static str>,
    carriers: Vec<Look>,
    #[serde(skip)]
    explained: String,
}

#[derive(Debug, Serialize)]
struct Look {
    carrier: &'static str,
    usable: bool,
    why: String,
}

impl Probe {
    /// Probes the session. If none is live in the project, probes the terminal this runs in.
    fn of(Context { env, now }: Context, selector: &SessionSelector) -> anyhow::Result<Self> {
        let found = selector::find_any(env, selector)?;
        let selection = match &found {
            Some(found) => of_session(env, now, found)?,
            None => of_terminal(env, selector)?,
        };
        let explained = selection.explain();
        let Selection { chosen, looked } = selection;
        let carriers = looked
            .into_iter()
            .map(|(carrier, usable, why)| Look { carrier: carrier.name(), usable, why })
            .collect();
        let session = found.map(|found| found.session);
        Ok(Self { session, chosen: chosen.map(Carrier::name), carriers, explained })
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.session {
            Some(session) => writeln!(f, "session {session}")?,
            None => writeln!(
                f,
                "this terminal, as a client started in it would see it (no session lives in this project)"
            )?,
        }
        writeln!(f, "{}", self.explained.trim_end())?;
        match self.chosen {
            Some(carrier) => write!(f, "would be used: {carrier}"),
            None => f.write_str("would be used: none, so nothing is blocked"),
        }
    }
}

fn of_session(env: &Env, now: Time, found: &selector::Found) -> anyhow::Result<Selection> {
    let mut facts = selector::facts(env, now, found)?;
    // Only the client's own processes have its environment. For others, use what its hooks
    // recorded.
    if let Some(client) = env.client_pid().and_then(state::client) {
        facts.session.reach = Some(reach::look(env, client));
    }
    Ok(facts.carrier())
}

/// What a client started here would find, with the settings in force here. This shell stands in for
/// that client.
fn of_terminal(env: &Env, selector: &SessionSelector) -> anyhow::Result<Selection> {
    let places = Places::for_project(env, &selector::project(env, selector)?);
    let boundary = places.map(|p| read_settings(&p, env).0.boundary).unwrap_or_default();
    let shell = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get() as u32);
    let reach = shell.and_then(state::client).map(|shell| reach::look(env, shell));
    let seen = select::CarrierConditions {
        mod_alive: false,
        interactive: true,
        attended: true,
        reach: reach.as_ref(),
        command: !boundary.command.is_empty(),
    };
    Ok(select::select(boundary.carrier, &seen, &[]))
}
