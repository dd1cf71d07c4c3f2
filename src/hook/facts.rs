//! What is true around one event, read when it is asked for.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;

use super::account::Account;
use super::event::{Event, Kind};
use super::surroundings::Surroundings;
use crate::boundary::{Carrier, Token};
use crate::carrier::client;
use crate::carrier::select::{self, Selection};
use crate::clock::Time;
use crate::compaction;
use crate::env::{self, Env};
use crate::log;
use crate::policy::gauge::{self, Reading, Source, Window, WindowFacts, WindowSource};
use crate::policy::ramp::Ramp;
use crate::policy::stance::{self, Cap, Readings, Stance};
use crate::settings::layers::{self, Diagnostic, File};
use crate::settings::{Headless, Mode, Model, Settings};
use crate::store::paths::{Places, project_root};
use crate::store::state::{Counted, First, Session};
use crate::store::{atomic, boundary, state, tail};
use crate::transcript::fill::{Fill, Gatherer};

/// Bytes of the compaction file that are counted, far more than it may hold; what is longer
/// is taken to go on as it began, since a call can't wait for it.
const COUNTED: u64 = 256 * 1024;

/// The surroundings of one event or command.
pub struct Facts<'a> {
    /// The environment.
    pub env: &'a Env,
    /// Now.
    pub now: Time,
    /// Where things lie.
    pub places: Places,
    /// The merged settings.
    pub settings: Settings,
    /// What was wrong in them.
    pub diagnostics: Vec<Diagnostic>,
    /// The session's id.
    pub id: &'a str,
    /// The session's state as it was when the event came in.
    pub session: Session,
    /// No state of the session was there.
    pub unseen: bool,
    /// The client around the session.
    pub seen: Surroundings,
    /// Main conversation's transcript.
    pub transcript: Option<PathBuf>,
    /// Permission mode.
    pub mode: Option<String>,
    /// The event brings nothing into the context, so that the last response may be enough.
    brief: bool,
    /// What is to be accounted for of this event.
    pub account: Account,
    fill: OnceCell<Option<Fill>>,
}

/// The context's gauge with how its window became known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Context {
    /// The reading.
    pub reading: Reading,
    /// What the response before it used, where the transcript tells.
    pub before: Option<u64>,
    /// The window.
    pub window: Window,
    /// Some source named the model, known to us or not.
    pub model_named: bool,
    /// The window as the client itself reported it with this reading.
    pub reported: Option<u64>,
}

#[derive(Deserialize)]
struct Snapshot {
    tokens: Option<u64>,
    window: Option<u64>,
    output: Option<u64>,
    model: Option<String>,
}

impl<'a> Facts<'a> {
    /// The facts of a hook event; `None` without a place to keep state.
    pub fn of(env: &'a Env, now: Time, event: &Event<'a>) -> Option<Self> {
        let root = env
            .path(env::PROJECT_DIR)
            .or_else(|| event.cwd.map(|cwd| project_root(env, Path::new(cwd))))?;
        let mut facts = Self::of_session(env, now, &root, event.session)?;
        facts.transcript = event.transcript.map(PathBuf::from).or(facts.transcript);
        facts.mode = event.mode.map(str::to_owned).or(facts.mode);
        facts.brief = matches!(event.kind, Kind::PreTool(_)) && facts.session.first == First::Done;
        facts.hold_for_model();
        Some(facts)
    }

    /// The facts of a session by its id.
    pub fn for_session(env: &'a Env, now: Time, project: &Path, id: &'a str) -> Option<Self> {
        let mut facts = Self::of_session(env, now, project, id)?;
        facts.hold_for_model();
        Some(facts)
    }

    fn of_session(env: &'a Env, now: Time, project: &Path, id: &'a str) -> Option<Self> {
        let places = Places::of(env, project)?;
        let (settings, diagnostics) = super::merged::settings(&places, env);
        let loaded = state::load(&places, id).unwrap_or_else(|e| {
            let details = json!({"session": id, "what": "state not read", "error": e.to_string()});
            log::write(&places.log(), now, "fault", &details);
            None
        });
        let unseen = loaded.is_none();
        let session = loaded.unwrap_or_default();
        let transcript = session.transcript.as_ref().map(PathBuf::from);
        let mode = session.mode.clone();
        let seen = Surroundings::of(env, &session);
        Some(Self {
            env,
            now,
            places,
            settings,
            diagnostics,
            id,
            session,
            unseen,
            seen,
            transcript,
            mode,
            brief: false,
            account: Account::default(),
            fill: OnceCell::new(),
        })
    }

    /// Puts into the settings what they say of the session's model alone.
    fn hold_for_model(&mut self) {
        // Asking for the model reads the transcript: only those who need it pay for it.
        if !self.settings.when.is_empty() {
            self.settings = self.settings.held_for(&self.model());
        }
    }

    /// The model the session works with.
    pub fn model(&self) -> Model<'_> {
        let known = self.session.model.as_deref().zip(self.session.reading);
        let (name, used) = if let Some((name, reading)) = known {
            (Some(name), reading.used)
        } else {
            let fill = self.fill();
            let seen = fill.and_then(|f| f.model.as_deref());
            (self.session.model.as_deref().or(seen), fill.map_or(0, |f| f.measured))
        };
        Model { name, window: self.window(name, None, used).tokens }
    }

    /// Whether the guard does anything at all in this session.
    pub fn on(&self) -> bool {
        self.settings.mode != Mode::Off
            && (self.seen.interactive || self.settings.headless != Headless::Off)
    }

    /// A headless run that is only coached.
    pub fn headless_only_coached(&self) -> bool {
        let crosses = || self.settings.headless == Headless::Boundary && self.input_open();
        !self.seen.interactive && !crosses()
    }

    /// Whether a headless client still takes prompts: only a stream-json host that
    /// holds the input open does; every other script reads the first result as the answer.
    fn input_open(&self) -> bool {
        let pid = self.env.client_pid().or(self.session.client.map(|c| c.pid));
        pid.is_some_and(client::takes_prompts)
    }

    /// The boundary this session ends in or came from.
    pub fn token(&self) -> Option<Token> {
        boundary::load(&self.places, self.session.token.as_deref()?).ok().flatten()
    }

    /// Changes this session's state; a failure is logged and costs no call.
    pub fn update(&self, change: impl FnOnce(&mut Session)) {
        self.update_of(self.id, change);
    }

    /// Changes another session's state, likewise.
    pub fn update_of(&self, id: &str, change: impl FnOnce(&mut Session)) {
        if let Err(e) = state::update(&self.places, id, change) {
            self.fault("state not kept", &e);
        }
    }

    /// A transcript that can't be read is said once a session. One that is not
    /// there before the first reading is no fault: the client writes its rows late.
    fn transcript_fault(&self, path: &Path, error: &std::io::Error) {
        let early = error.kind() == std::io::ErrorKind::NotFound && self.session.reading.is_none();
        let kind = if early { "no-transcript-yet" } else { "fault" };
        if atomic::claim(&self.places.session(self.id, kind)).unwrap_or(true) {
            let what = format!("transcript {} not read", path.display());
            let details = json!({"session": self.id, "what": what, "error": error.to_string()});
            log::write(&self.places.log(), self.now, kind, &details);
        }
    }

    /// Logs a fault of ours that was let go.
    pub fn fault(&self, what: &str, error: &dyn std::fmt::Display) {
        let details = json!({"session": self.id, "what": what, "error": error.to_string()});
        log::write(&self.places.log(), self.now, "fault", &details);
    }

    /// Whether a person was at the terminal lately; the client's own flag says so overnight too.
    pub fn attended(&self) -> bool {
        self.attended_at(self.now)
    }

    /// The same at a later time, for what waits.
    pub fn attended_at(&self, now: Time) -> bool {
        let lately =
            chrono::Duration::minutes(self.settings.boundary.attended_minutes.min(100_000) as i64);
        // A time far ahead was written before the clock was set back: nobody knows when.
        self.seen.interactive && self.session.last_human.is_some_and(|at| (now - at).abs() < lately)
    }

    /// Which carrier could carry out a boundary now.
    pub fn carrier(&self) -> Selection {
        self.carrier_after(&[])
    }

    /// Which carrier is the next one after those that could not.
    pub fn carrier_after(&self, tried: &[Carrier]) -> Selection {
        select::select(
            self.settings.boundary.carrier,
            &select::Seen {
                mod_alive: self.seen.mod_alive,
                interactive: self.seen.interactive,
                attended: self.attended(),
                reach: self.session.reach.as_ref(),
                command: !self.settings.boundary.command.is_empty(),
            },
            tried,
        )
    }

    /// The ramp for a limit, moved by the session's base.
    pub fn ramp(&self, limit: u64) -> Ramp {
        self.settings.ramp(limit).shifted(self.session.base_percent(limit))
    }

    /// The context's gauge: the mod's snapshot of this very call, else the
    /// transcript's last response and an estimate of what came since
    /// (`new_bytes`: results that this event itself brings).
    pub fn context(&self, call: Option<&str>, new_bytes: u64) -> Option<Context> {
        // Right after a compaction the client has no figure; the transcript has.
        let sane = |s: &Snapshot| s.tokens.is_some_and(|tokens| tokens <= gauge::LARGEST);
        let snapshot = call.and_then(|id| self.snapshot(id)).filter(sane);
        if let Some(Snapshot { tokens, window: reported, output, model }) = snapshot {
            let used = tokens?.saturating_add(output.unwrap_or(0).min(gauge::LARGEST));
            let model = model.or_else(|| self.session.model.clone());
            let model = model.or_else(|| self.fill().and_then(|f| f.model.clone()));
            let window = self.window(model.as_deref(), reported, used);
            let context = self.reading(used, window, Source::Mod, self.now);
            return Some(Context { reported, model_named: model.is_some(), ..context });
        }
        let mut fill = self.fill().cloned().unwrap_or_default();
        // A reading from the future would be later than every row to come.
        let reading = self.session.reading.as_ref().filter(|r| r.at <= self.now);
        let source = if fill.lags(reading) { Source::Mod } else { Source::Transcript };
        let new = (new_bytes as f64 / fill.bytes_per_token) as u64;
        let estimated = fill.estimated + new;
        let used = fill.measured.saturating_add(estimated);
        if fill.measured == 0 || used > gauge::LARGEST {
            return None;
        }
        let model = fill.model.as_deref().or(self.session.model.as_deref());
        let window = self.window(model, None, used);
        let model_named = model.is_some();
        let mut context = self.reading(used, window, source, fill.at.unwrap_or(self.now));
        context.before = fill.before;
        if estimated > context.reading.limit / 100 {
            context.reading.source = Source::Estimated;
        }
        context.model_named = model_named;
        Some(context)
    }

    fn reading(&self, used: u64, window: Window, source: Source, at: Time) -> Context {
        let limit = gauge::limit(window.tokens, &self.seen.auto_compact);
        Context {
            reading: Reading { used, limit, source, at },
            before: None,
            window,
            model_named: true,
            reported: None,
        }
    }

    /// The window of a model, by what the client reports of it now or, of the session's
    /// own, did before.
    fn window(&self, model: Option<&str>, reported: Option<u64>, used: u64) -> Window {
        let own = self.session.model.as_deref().zip(model).is_none_or(|(own, model)| {
            let (own, model) = (gauge::variant(own).0, gauge::variant(model).0);
            own.starts_with(model) || model.starts_with(own)
        });
        let observed = self.session.window.filter(|w| own && w.source == WindowSource::Observed);
        // The event that named the model names its long variant too; the transcript never does.
        let named = self
            .session
            .model
            .as_deref()
            .filter(|m| gauge::variant(m).1 && model.is_some_and(|seen| m.starts_with(seen)));
        gauge::window(&WindowFacts {
            setting: self.settings.context.window,
            model: named.or(model),
            reported: reported.or(self.session.reported_window.filter(|_| own)),
            observed: observed.map(|w| w.tokens),
            long_disabled: self.seen.long_disabled,
            used,
        })
    }

    /// Where the context counts as full for `model`, of which so much was used.
    pub fn limit_for(&self, model: Option<&str>, used: u64) -> u64 {
        let current = self.model().name.zip(model).is_none_or(|(now, then)| now.starts_with(then));
        let reported = self.session.reported_window.filter(|_| current);
        gauge::limit(self.window(model, reported, used).tokens, &self.seen.auto_compact)
    }

    fn snapshot(&self, call: &str) -> Option<Snapshot> {
        if !self.seen.mod_alive || !crate::store::paths::safe_name(call) {
            return None;
        }
        let path = self.places.snapshots().join(format!("{call}.json"));
        let parse = |bytes: Vec<u8>| serde_json::from_slice(&bytes).ok();
        let snapshot = parse(atomic::read_record(&path).ok()??).or_else(|| {
            // The client's write is not atomic: a torn file is read again once, then given up.
            std::thread::sleep(std::time::Duration::from_millis(1));
            parse(atomic::read_record(&path).ok()??)
        });
        let _ = atomic::remove(&path);
        snapshot
    }

    /// What the transcript tells, read once.
    pub fn fill(&self) -> Option<&Fill> {
        self.fill.get_or_init(|| self.read_fill()).as_ref()
    }

    fn read_fill(&self) -> Option<Fill> {
        let mut gatherer = if self.brief { Gatherer::brief() } else { Gatherer::default() };
        let path = self.transcript.as_deref()?;
        let read = tail::lines_backwards(path, |line| gatherer.feed(line));
        if let Err(e) = read {
            self.transcript_fault(path, &e);
            return None;
        }
        gatherer.finish()
    }

    /// The compaction file's gauge, and what to remember of the count.
    pub fn file(&self) -> Option<(Reading, Counted)> {
        let path = self.places.compaction(&self.session.job);
        let meta = atomic::stat(&path)?;
        let counted = match self.session.counted {
            Some(c) if (c.modified, c.size) == meta => c,
            _ => {
                let text = atomic::read_start(&path, COUNTED).ok()??;
                let words = compaction::gauge_words(&text, &self.settings.file.shape) as u64;
                let words = words.saturating_mul(meta.1.max(COUNTED)) / COUNTED;
                Counted { modified: meta.0, size: meta.1, words }
            }
        };
        let limit = self.settings.file.words;
        let reading = Reading { used: counted.words, limit, source: Source::File, at: self.now };
        Some((reading, counted))
    }

    /// Both gauges, for the stance.
    pub fn readings(&self, context: Option<Context>, file: Option<Reading>) -> Readings {
        let written = file.map_or(0.0, |f| {
            f.used.saturating_sub(self.session.born_words) as f64 * 100.0 / f.limit.max(1) as f64
        });
        Readings { context: context.map(|c| c.reading), file, written }
    }

    /// The stance by both gauges and what caps it.
    pub fn stance(&self, ramp: &Ramp, readings: &Readings) -> Stance {
        let min_written = self.settings.file.min_written;
        let stance =
            stance::stance(ramp, readings, self.session.ranks, min_written, |_| self.cap(readings));
        self.account.moment(readings, &stance, ramp.name(stance.rank));
        stance
    }

    /// Why nothing may be blocked now, if so.
    pub fn cap(&self, readings: &Readings) -> Option<Cap> {
        let calls = || state::calls(&self.places, self.id);
        if self.session.overridden(self.now, calls) {
            return Some(Cap::Override);
        }
        if self.settings.shadow {
            return Some(Cap::Shadow);
        }
        self.cap_behind_shadow(readings)
    }

    /// Why nothing could be blocked even without the override and shadow mode.
    pub fn cap_behind_shadow(&self, readings: &Readings) -> Option<Cap> {
        let calls = || state::calls(&self.places, self.id);
        if self.headless_only_coached() {
            return Some(Cap::Headless);
        }
        if self.mode.as_deref() == Some("plan") {
            return Some(Cap::Plan);
        }
        if let Some((until, why)) = &self.session.lifted
            && *until > self.now
        {
            return Some(Cap::Lifted(why.clone()));
        }
        if self.carrier().chosen.is_none() {
            return Some(Cap::NoCarrier);
        }
        // Our verbs reach the agent as text: what that can't name it can't run.
        if self.places.project.to_str().is_none() || self.env.program().is_none() {
            return Some(Cap::Lifted("no command can name this program and project".to_owned()));
        }
        if self.session.first == First::Grace {
            return Some(Cap::Grace);
        }
        let percent = readings.context.map_or(0.0, |r| r.percent());
        self.session.grace.filter(|g| percent < g.percent && calls() < g.calls).map(|_| Cap::Grace)
    }
}

/// Reads and merges the layers of settings.
pub fn read_settings(places: &Places, env: &Env) -> (Settings, Vec<Diagnostic>) {
    let (user, project) = settings_files(places);
    layers::merge(user.as_ref(), project.as_ref(), env)
}

/// The user's and the project's settings, where there are any.
pub fn settings_files(places: &Places) -> (Option<File>, Option<File>) {
    let file = |path: &Path| {
        let text = atomic::read_text(path).ok()??;
        Some(File { path: path.display().to_string(), text })
    };
    (file(&places.user_settings), file(&places.project_settings()))
}
