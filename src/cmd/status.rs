//! `status`: the context usage, the tier, what is blocked, and what prevents blocking.

mod share;

use std::fmt;
use std::path::{Path, PathBuf};

use chrono::TimeDelta;
use serde::Serialize;

use super::output::out_folded;
use super::overview::Overview;
use super::{Context, Exit, Run, doctor, out_json, selector, show};
use crate::cli::StatusArgs;
use base::clock::Time;
use base::shown::{clock_time, group_thousands, tenths};
use guard::boundary::plan::unsealed_status;
use guard::boundary::{Carrier, Step, Token};
use guard::files::journal::Journal;
use guard::files::state;
use guard::hook::boundary_flow;
use guard::hook::facts::{Context as Usage, Facts, View};
use guard::hook::messages::Messages;
use guard::hook::standing::{self, Standing};
use guard::policy::bands::join_names;
use guard::policy::coach::figure_in_full;
use guard::policy::limit::LimitSource;
use guard::policy::ramp::Ramp;
use guard::policy::stance::Cap;
use guard::session::Override;
use guard::settings::Mode;
use sessions::fill::BYTES_PER_TOKEN;
use sessions::gauge::{Reading, Source, WindowSource};
use share::Share;

/// The status of a session.
#[derive(Debug, Serialize)]
pub struct Status {
    /// What is in force, in one sentence.
    now: String,
    session: String,
    job: String,
    context: Option<ContextUsage>,
    file: FileUsage,
    /// What it is doing, since when, and why: as `status --all` says it.
    doing: String,
    stance: String,
    tier: String,
    capped: Option<String>,
    blocked: Vec<&'static str>,
    attended: bool,
    #[serde(rename = "override")]
    override_: Option<Override>,
    boundary: Option<Token>,
    carrier: Option<&'static str>,
    mode: Mode,
    added: Share,
    /// Why the state can't be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    settings_problems: Vec<String>,
    /// What in the client's settings keeps the plugin from running.
    #[serde(skip_serializing_if = "Option::is_none")]
    switched_off: Option<String>,
    #[serde(skip)]
    for_people: ForPeople,
}

#[derive(Debug, Serialize)]
struct ContextUsage {
    used: u64,
    window: u64,
    limit: u64,
    limit_source: String,
    percent: f64,
    source: Source,
    age_ms: i64,
    window_source: WindowSource,
    window_certain: bool,
}

#[derive(Debug, Serialize)]
struct FileUsage {
    path: PathBuf,
    words: u64,
    limit: u64,
    percent: f64,
}

/// Values that only the text form shows.
#[derive(Debug)]
struct ForPeople {
    context: Option<(String, String)>,
    file: Option<String>,
    tiers: String,
    moved_up: Option<String>,
    override_: Option<String>,
    boundary: Option<String>,
    /// How the session ended, if it did.
    end: Option<String>,
}

impl Status {
    /// What is in force, in one sentence.
    pub fn now(&self) -> &str {
        &self.now
    }

    /// Whether the session has ended.
    pub fn has_ended(&self) -> bool {
        self.for_people.end.is_some()
    }

    /// What waits in a session that has ended.
    pub fn waiting_notes(&self) -> Option<&str> {
        self.for_people.boundary.as_deref().filter(|_| self.has_ended())
    }

    /// The present status of a session.
    pub fn of(facts: &Facts, view: &View) -> Self {
        let age = |r: &Reading| (facts.now - r.at).num_milliseconds().max(0);
        let context = view.context.map(|c| ContextUsage {
            used: c.reading.used,
            window: c.window.tokens,
            limit: c.reading.limit,
            limit_source: c.limit_source.to_string(),
            percent: tenths(c.reading.percent()),
            source: c.reading.source,
            age_ms: age(&c.reading),
            window_source: c.window.source,
            window_certain: c.window.certain,
        });
        let file = FileUsage {
            path: facts.places.compaction(&facts.session.job),
            words: view.readings.file.map_or(0, |f| f.used),
            limit: facts.settings.file.words,
            percent: view.readings.file.map_or(0.0, |f| tenths(f.percent())),
        };
        let calls = || state::calls(&facts.places, facts.id);
        let holds = |_: &&Override| facts.session.overridden(facts.now, calls);
        let end = standing::describe_end(facts);
        let for_people = ForPeople {
            context: view
                .context
                .map(|c| (figure_in_full(&c.reading, "tokens", facts.now), limit(c))),
            file: view.readings.file.map(|f| figure_in_full(&f, "words", facts.now)),
            tiers: tiers(&view.ramp),
            moved_up: moved_up(facts, view),
            override_: facts
                .session
                .override_
                .as_ref()
                .filter(holds)
                .map(|o| override_text(o, calls(), facts.now)),
            boundary: facts.token().and_then(|token| match &end {
                None => Some(at_boundary(facts, &token).unwrap_or_else(|| boundary(&token))),
                Some(_) if token.awaits_carrier_or_held(facts.id) => {
                    Some(format!("{}: `claude --continue` goes on from there", token.what()))
                }
                Some(_) => None,
            }),
            end,
        };
        let messages = Messages::new(facts, &view.ramp, &view.readings, &view.stance);
        let switched_off = doctor::switched_off(facts.env, &facts.places.project);
        let (usage, effect) = (messages.usage(), messages.effect());
        Self {
            now: match (&for_people.end, &switched_off) {
                (Some(end), _) => format!("this session {end}; its last figures: {usage}"),
                (None, Some(why)) => format!(
                    "{why}, so brain-guard stops when this session reloads its plugins; until then: {usage}: {effect}"
                ),
                (None, None) => format!("{usage}: {effect}"),
            },
            session: facts.id.to_owned(),
            job: facts.session.job.clone(),
            context,
            file,
            doing: match for_people.end {
                Some(_) => "ended".to_owned(),
                None => Standing::of(facts).line(facts.now),
            },
            stance: view.ramp.name(view.stance.effective(&view.ramp)).to_owned(),
            tier: view.ramp.name(view.stance.rank).to_owned(),
            capped: view.stance.cap.as_ref().map(Cap::why),
            blocked: view.blocked(),
            attended: facts.attended(),
            override_: facts.session.override_,
            boundary: facts.token(),
            carrier: facts.carrier().chosen.map(guard::boundary::Carrier::name),
            mode: facts.settings.mode,
            state: state::obstacle(&facts.places).map(|obstacle| obstacle.why),
            added: added(facts, view),
            switched_off,
            settings_problems: facts.files.faults.iter().map(ToString::to_string).collect(),
            for_people,
        }
    }

    fn mode(&self) -> Option<&'static str> {
        match self.mode {
            Mode::Shadow => {
                Some("shadow: what would be blocked is logged, nothing is blocked or cleared")
            }
            Mode::On => None,
            Mode::Off => Some(
                "off in the settings: nothing is measured, said or blocked; below is what would hold",
            ),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.now)?;
        let mut line = |name: &str, value: &str| writeln!(f, "{name:<9} {value}");
        line("session", &self.session)?;
        if let Some(mode) = self.mode() {
            line("mode", mode)?;
        }
        if let Some(why) = &self.state {
            line("state", &format!("{why}: nothing is blocked and no session is continued"))?;
        }
        line("doing", &self.doing)?;
        line("job", &self.job)?;
        match (&self.context, &self.for_people.context) {
            (Some(c), Some((figure, limit))) => {
                let sure = if c.window_certain { "" } else { ", not certain" };
                line("context", figure)?;
                let (tokens, by) = (group_thousands(c.window), window_source_text(c.window_source));
                line("window", &format!("{tokens} tokens ({by}{sure})"))?;
                line("limit", limit)?;
            }
            _ => line("context", "unknown: no response with a token count yet")?,
        }
        let path = self.file.path.display();
        match &self.for_people.file {
            Some(figure) => line("notes", &format!("{figure} {path}"))?,
            None => line("notes", &format!("none yet ({path})"))?,
        }
        if self.has_ended() {
            self.waiting_notes().map_or(Ok(()), |notes| line("boundary", notes))?;
            return line("added", &self.added.to_string());
        }
        let blocked = match self.blocked.join(", ") {
            none if none.is_empty() => "nothing blocked".to_owned(),
            tools => format!("blocked: {tools}"),
        };
        line("tier", &format!("{}, {blocked}", self.stance))?;
        if let Some(why) = &self.capped {
            line("", &format!("{} would hold, but {why}", self.tier))?;
        }
        line("tiers", &self.for_people.tiers)?;
        if let Some(why) = &self.for_people.moved_up {
            line("", why)?;
        }
        line("user", if self.attended { "here" } else { "away" })?;
        if let Some(until) = &self.for_people.override_ {
            line("override", until)?;
        }
        if let Some(next) = &self.for_people.boundary {
            line("boundary", next)?;
        }
        line("carrier", self.carrier.unwrap_or("none"))?;
        line("added", &self.added.to_string())?;
        self.settings_problems.iter().try_for_each(|problem| line("settings", problem))
    }
}

/// Where the client compacts by itself, and what sets that.
fn limit(context: Usage) -> String {
    let tokens = group_thousands(context.reading.limit);
    match context.limit_source {
        source @ (LimitSource::OffByVariable | LimitSource::Off(_)) => {
            format!("{tokens} tokens, the whole window: {source}")
        }
        source => format!("{tokens} tokens are 100 %, where the client compacts ({source})"),
    }
}

fn window_source_text(source: WindowSource) -> &'static str {
    match source {
        WindowSource::Settings => "from the settings",
        WindowSource::Environment => "from the environment",
        WindowSource::Agreed => "by the model's name and the client's report",
        WindowSource::Client => "by the client's report",
        WindowSource::Model => "by the model's name",
        WindowSource::Observed => "more was used than the smaller one holds",
        WindowSource::Assumed => "assumed",
    }
}

fn kebab(source: impl serde::Serialize) -> String {
    serde_json::to_value(source)
        .ok()
        .and_then(|v| v.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn tiers(ramp: &Ramp) -> String {
    let one = |t: &guard::policy::ramp::Tier| {
        let blocks = if t.blocks.is_empty() {
            String::new()
        } else {
            format!(" ({})", join_names(t.blocks.iter().copied()))
        };
        format!("{} {:.0} %/{:.0} %{blocks}", t.name, t.context, t.file)
    };
    ramp.tiers().iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Why the tiers are higher than in the settings.
fn moved_up(facts: &Facts, view: &View) -> Option<String> {
    let limit = view.context?.reading.limit;
    let still = facts.settings.ramp(limit);
    let up = view.ramp.tier(1)?.context - still.tier(1)?.context;
    let base = facts.session.base_percent(limit);
    (up > 0.0).then(|| {
        format!("moved up by {up:.0} %, because the session began with {base:.0} % in use")
    })
}

fn override_text(value: &Override, calls: u64, now: Time) -> String {
    match value {
        Override::Until(at) => format!("until {}", clock_time(*at, now)),
        Override::Calls(end) => format!("for {} more calls", end.saturating_sub(calls)),
        Override::UntilClear => "until the session is cleared".into(),
    }
}

/// Why nothing is blocked, as short as the strip needs it.
pub(super) fn cap_in_short(facts: &Facts, cap: &Cap) -> String {
    match (cap, &facts.session.override_) {
        (Cap::Override, Some(Override::Until(at))) => {
            format!("paused until {}", at.with_timezone(&chrono::Local).format("%H:%M"))
        }
        (Cap::Override, _) => "paused by you".to_owned(),
        (Cap::Failed(_), _) => "the last clear failed".to_owned(),
        (Cap::Grace, _) => "it was full at its start".to_owned(),
        (Cap::Shadow, _) => "shadow mode".to_owned(),
        (Cap::Headless, _) => "headless".to_owned(),
        (Cap::NoCarrier, _) => "nobody can clear it".to_owned(),
        _ => cap.why(),
    }
}

fn boundary(token: &Token) -> String {
    let waits = token.waits.as_ref().filter(|_| token.step <= Step::Clearing);
    let waits = waits.map(|w| format!("; it waits: {w}")).unwrap_or_default();
    let why = token.why.as_ref().map_or(waits, |w| format!(": {w}"));
    format!("{} by {}: {}{why}", kebab(token.step), token.carrier.name(), token.what())
}

/// What the user may answer to a boundary that waits.
const ANSWERS: &str = " /brain-guard:now restarts it at once, /brain-guard:later keeps it (in a terminal: brain-guard now, brain-guard later).";

/// What the session's boundary waits for, or why it failed.
pub(super) fn at_boundary(facts: &Facts, token: &Token) -> Option<String> {
    if token.step == Step::Failed {
        return token.why.as_ref().map(|why| format!("The session was not cleared: {why}."));
    }
    if token.step == Step::Unsealed && token.carrier != Carrier::Manual {
        let left = facts.gone_at().map_or(TimeDelta::zero(), |gone| gone - facts.now);
        let (held, has_notes) = (facts.held_reason(), boundary_flow::wrote_notes(facts));
        let status = unsealed_status(left, held.as_deref(), has_notes);
        let ways = if has_notes && held.is_none() { ANSWERS } else { "" };
        return Some(format!("{status}.{ways}"));
    }
    if !token.awaits_carrier_or_held(facts.id) {
        return None;
    }
    let what = token.what();
    if let Some(why) = facts.held_reason() {
        let ways = match facts.mode_cap() {
            Some(_) => "",
            None => " /brain-guard:now restarts it; /brain-guard:override --off ends the pause.",
        };
        return Some(format!("This session does not restart: {why}.{ways}"));
    }
    if facts.session.turn.is_some() {
        return Some(format!("{} once this turn is over: {what}.", token.restart()));
    }
    if token.hold.is_some() {
        return Some(format!(
            "{} after your next prompt's turn: {what}. /brain-guard:now restarts it at once.",
            token.restart()
        ));
    }
    let left = token.notice_until.map(|until| (until - facts.now).num_seconds());
    let left = left.filter(|left| *left > 0);
    let left =
        left.map_or_else(String::new, |left| format!(" in {left} s{}", token.delay_reason()));
    Some(match &token.waits {
        Some(waits) => {
            format!("{what}; the clear waits: {waits}. /clear, typed by you, does as well.")
        }
        None if token.carrier == Carrier::Manual => {
            format!("{what}: type /clear, and the fresh session gets the notes.")
        }
        None => format!("{}{left}: {what}.{ANSWERS}", token.restart()),
    })
}

/// What the guard has added to this session's context.
fn added(facts: &Facts, view: &View) -> Share {
    let lines = Journal::of_session(&facts.places, facts.id).lines();
    let bytes_per_token =
        facts.transcript_usage().map_or(BYTES_PER_TOKEN, |fill| fill.bytes_per_token);
    let limit = view.context.map(|c| c.reading.limit);
    Share { added: guard::journal::added(&lines), bytes_per_token, limit }
}

impl Run for StatusArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        if self.all {
            show(&Overview::of_all(env, now, &selector::places(env, Path::new("/"))?), self.json)?;
            return Ok(Exit::Done);
        }
        let found = selector::find_or_last(env, &self.session.selector())?;
        let facts = selector::facts(env, now, &found)?;
        let status = Status::of(&facts, &facts.view());
        if self.json {
            out_json(&status)?;
        } else {
            out_folded(status.to_string().trim_end());
        }
        Ok(Exit::Done)
    }
}

/// The answer to the slash command.
pub fn at_the_prompt(facts: &Facts, args: &str) -> String {
    if args.trim() == "--all" {
        return format!("brain-guard: {}", Overview::of_all(facts.env, facts.now, &facts.places));
    }
    format!("brain-guard: {}", Status::of(facts, &facts.view())).trim_end().to_owned()
}
