//! Every session that runs on this machine, the one that needs its user on top: for `status --all`,
//! and where a command needs to be told which of several sessions is meant.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use base::clock::Time;
use base::env::Env;
use base::paths::Places;
use base::plain;
use base::shown::{age, count_with_noun, group_thousands, tenths, tokens};
use guard::files::state;
use guard::hook::facts::Facts;
use guard::hook::standing::Standing;
use guard::session::Activity;
use guard::settings::Mode;
use surgery::table::short;

/// Columns of the bar of a context.
const BAR: usize = 10;

/// The sessions that run, the most urgent first.
#[derive(Debug, Serialize)]
pub struct Overview {
    sessions: Vec<Row>,
}

/// A session that runs.
#[derive(Debug, Serialize)]
struct Row {
    project: PathBuf,
    session: String,
    job: String,
    /// What it is doing, since when, and why.
    activity: Activity,
    since: Option<Time>,
    why: String,
    context: Option<Usage>,
    /// Words of its notes.
    words: u64,
    words_limit: u64,
    tier: String,
    mode: Mode,
    /// Agents in the background.
    agents: u32,
    /// Why nothing is blocked, if the user paused it.
    paused: Option<String>,
    #[serde(skip)]
    now: Time,
}

/// How full its context is.
#[derive(Debug, Serialize)]
struct Usage {
    used: u64,
    limit: u64,
    percent: f64,
    /// When it was measured.
    at: Time,
}

impl Overview {
    /// The sessions that run, in all projects.
    pub fn of_all(env: &Env, now: Time, here: &Places) -> Self {
        let all = here.all_states().into_iter().map(|state| here.for_state(&state));
        Self::sorted(all.flat_map(|places| rows(env, now, &places)).collect())
    }

    /// Those of one project.
    pub fn of_project(env: &Env, now: Time, places: &Places) -> Self {
        Self::sorted(rows(env, now, places))
    }

    fn sorted(mut sessions: Vec<Row>) -> Self {
        sessions.sort_by_key(|row| (row.activity, row.since));
        Self { sessions }
    }
}

fn rows(env: &Env, now: Time, places: &Places) -> Vec<Row> {
    let live = state::live(places).unwrap_or_default();
    live.iter().filter_map(|id| Row::of(env, now, &places.project, id)).collect()
}

impl Row {
    fn of(env: &Env, now: Time, project: &Path, id: &str) -> Option<Self> {
        let facts = Facts::for_session(env, now, project, id);
        let facts = facts.filter(|facts| facts.on() && !facts.unseen)?;
        let (view, standing) = (facts.view(), Standing::of(&facts));
        let usage = |reading: sessions::gauge::Reading| Usage {
            used: reading.used,
            limit: reading.limit,
            percent: tenths(reading.percent()),
            at: reading.at,
        };
        Some(Self {
            project: project.to_owned(),
            session: id.to_owned(),
            job: facts.session.job.clone(),
            activity: standing.activity,
            since: standing.since,
            why: standing.why,
            context: view.context.map(|context| usage(context.reading)),
            words: view.readings.file.map_or(0, |file| file.used),
            words_limit: facts.settings.file.words,
            tier: view.ramp.name(view.stance.effective(&view.ramp)).to_owned(),
            mode: facts.settings.mode,
            agents: facts.session.background.agents,
            paused: facts.override_reason(),
            now,
        })
    }
}

impl fmt::Display for Overview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let running = count_with_noun(self.sessions.len(), "session runs", "sessions run");
        let needing = self.sessions.iter().filter(|row| row.activity.needs_you()).count();
        match (self.sessions.len(), needing) {
            (0, _) => return f.write_str("no session with brain-guard runs on this machine"),
            (_, 0) => write!(f, "{running}, and none needs you")?,
            (_, 1) => write!(f, "{running}, and 1 needs you")?,
            (_, many) => write!(f, "{running}, and {many} need you")?,
        }
        self.sessions.iter().try_for_each(|row| write!(f, "\n\n{row}"))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.project.file_name().unwrap_or_default().to_string_lossy();
        let standing =
            Standing { activity: self.activity, since: self.since, why: self.why.clone() };
        let standing = plain::line(&standing.line(self.now), usize::MAX);
        write!(f, "{}  {}  {standing}", plain::line(&name, usize::MAX), short(&self.session))?;
        f.write_str("\n  ")?;
        match &self.context {
            Some(usage) => {
                let full = (usage.percent / 100.0 * BAR as f64).round().clamp(0.0, BAR as f64);
                let full = full as usize;
                let bar = format!("{}{}", "▓".repeat(full), "░".repeat(BAR - full));
                let (limit, ago) = (tokens(usage.limit), age(self.now - usage.at));
                write!(f, "{bar} {:.0} % of {limit}, {ago} ago", usage.percent.floor())?;
            }
            None => f.write_str("no response yet")?,
        }
        let (words, limit) = (group_thousands(self.words), group_thousands(self.words_limit));
        write!(f, "  {}  notes {words}/{limit} words  job {}", self.tier, self.job)?;
        if self.agents > 0 {
            let agents = count_with_noun(self.agents as usize, "agent", "agents");
            write!(f, "  {agents}")?;
        }
        if let Some(paused) = &self.paused {
            write!(f, "  {paused}")?;
        }
        if self.mode == Mode::Shadow { f.write_str("  shadow mode") } else { Ok(()) }
    }
}
