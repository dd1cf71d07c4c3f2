//! The state around one event. Expensive parts are read on first use.

mod caps;
pub mod entry;
mod gauges;

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};

use self::entry::Entry;
use super::Program;
use super::event::{Event, Kind};
use super::select::{self, Selection};
use super::settings::load as load_settings;
use super::surroundings;
use crate::boundary::{Carrier, Token};
use crate::client;
use crate::files::jobs::{self, Asker};
use crate::files::journal::Journal;
use crate::files::{boundary, state};
use crate::journal::{Line, What};
use crate::session::{First, Override, Session, Surroundings};
use crate::settings::file::Fault;
use crate::settings::sources::{Files, Texts};
use crate::settings::{Headless, Mode, Settings};
use crate::texts::{self, Text};
use base::clock::{self, Time};
use base::env::{self, Env};
use base::paths::{Places, project_root};
use sessions::fill::Fill;

pub use caps::{View, sealed};
pub use gauges::Context;

/// The state around one event or command.
pub struct Facts<'a> {
    /// The environment.
    pub env: &'a Env,
    /// Now.
    pub now: Time,
    /// The paths of the guard's files.
    pub places: Places,
    /// The settings in force.
    pub settings: Settings,
    /// What they were made of.
    pub files: Files,
    /// The session's id.
    pub id: &'a str,
    /// The session's state as it was when the event came in.
    pub session: Session,
    /// Whether the session has no saved state yet.
    pub unseen: bool,
    /// The client around the session.
    pub seen: Surroundings,
    /// The main conversation's transcript.
    pub transcript: Option<PathBuf>,
    /// Permission mode.
    pub mode: Option<String>,
    /// The event adds nothing to the context, so the last response may be enough.
    brief: bool,
    /// What this event writes to the journal.
    pub entry: Entry,
    /// The program around the hook. `None` in verbs.
    pub program: Option<Program>,
    fill: OnceCell<Option<Fill>>,
    /// Why the state could not be kept, if it could not.
    pub unkept: OnceCell<String>,
}

impl<'a> Facts<'a> {
    /// The facts of a hook event. `None` if there is nowhere to keep state.
    pub fn for_event(env: &'a Env, now: Time, event: &Event<'a>) -> Option<Self> {
        let root = env
            .path(env::PROJECT_DIR)
            .or_else(|| event.cwd.map(|cwd| project_root(env, Path::new(cwd))))?;
        let mut facts = Self::for_session(env, now, &root, event.session)?;
        facts.transcript = event.transcript.map(PathBuf::from).or(facts.transcript);
        facts.mode = event.mode.map(str::to_owned).or(facts.mode);
        facts.brief = matches!(event.kind, Kind::PreTool(_)) && facts.session.first == First::Done;
        Some(facts)
    }

    /// The facts of a session by its id.
    pub fn for_session(env: &'a Env, now: Time, project: &Path, id: &'a str) -> Option<Self> {
        let places = Places::for_project(env, project)?;
        let loaded = state::load(&places, id).unwrap_or_else(|e| {
            let fault = What::fault("state not read", &e);
            Journal::of_session(&places, id).record(&places, now, fault);
            None
        });
        let unseen = loaded.is_none();
        let mut session = loaded.unwrap_or_default();
        if unseen {
            session.settings = before(env, &places, id);
        }
        let (settings, files) = load_settings(&places, env, session.settings.as_ref());
        let transcript = session.transcript.as_ref().map(PathBuf::from);
        let mode = session.mode.clone();
        let seen = surroundings::current(env, &session);
        Some(Self {
            env,
            now,
            places,
            settings,
            files,
            id,
            session,
            unseen,
            seen,
            transcript,
            mode,
            brief: false,
            entry: Entry::default(),
            program: None,
            fill: OnceCell::new(),
            unkept: OnceCell::new(),
        })
    }

    /// Whether the guard is active in this session.
    pub fn on(&self) -> bool {
        self.settings.mode != Mode::Off
            && (self.seen.interactive || self.settings.headless != Headless::Off)
    }

    /// Whether this is a headless run that is only coached.
    pub fn headless_only_coached(&self) -> bool {
        let crosses = || self.settings.headless == Headless::Boundary && self.input_open();
        !self.seen.interactive && !crosses()
    }

    /// Whether a headless client still takes prompts. Only a stream-json host that keeps the input
    /// open does. Every other script reads the first result as the answer.
    fn input_open(&self) -> bool {
        let pid = self.env.client_pid().or(self.session.client.map(|c| c.pid));
        pid.is_some_and(client::takes_prompts)
    }

    /// The boundary this session ends in or came from.
    pub fn token(&self) -> Option<Token> {
        boundary::load(&self.places, self.session.token.as_deref()?).ok().flatten()
    }

    /// Changes a token, and returns the result of `change`. `None` if there is none, or if it could
    /// not be changed, which is recorded.
    pub fn change_token<T>(&self, id: &str, change: impl FnOnce(&mut Token) -> T) -> Option<T> {
        boundary::update(&self.places, id, change).unwrap_or_else(|e| {
            self.fault("token not changed", &e);
            None
        })
    }

    /// Changes this session's state in memory and on disk, and merges what parallel hooks changed.
    /// If saving fails, the change holds in memory only and the fault is logged.
    pub fn update(&mut self, change: impl Fn(&mut Session)) {
        match state::changed(&self.places, self.id, &change) {
            Ok((session, ())) => self.session = session,
            Err(e) => {
                self.not_kept(&e);
                change(&mut self.session);
            }
        }
    }

    /// Changes another session's state on disk. Logs a failure.
    pub fn update_of(&self, id: &str, change: impl FnOnce(&mut Session)) {
        if let Err(e) = state::update(&self.places, id, change) {
            self.fault("state not kept", &e);
        }
    }

    /// Logs that the session's state was not kept, and remembers it for the user.
    pub fn not_kept(&self, error: &std::io::Error) {
        self.fault("state not kept", error);
        let _ = self.unkept.set(error.to_string());
    }

    /// Logs a fault of the guard's own that it ignores otherwise.
    pub fn fault(&self, what: &str, error: &dyn std::fmt::Display) {
        self.record(What::fault(what, error));
    }

    /// Appends a line to the session's journal.
    pub fn append(&self, line: &Line) {
        Journal::of_session(&self.places, self.id).append(&self.places, line);
    }

    /// Writes to the session's journal what the reply does not mention.
    pub fn record(&self, what: What) {
        self.append(&self.entry.line(self.now, what));
    }

    /// The session as the job store sees it.
    pub fn asker(&self) -> Asker<'_> {
        Asker {
            places: &self.places,
            id: self.id,
            session: &self.session,
            settings: &self.settings,
            template: texts::template(&self.places, Text::Compaction),
            now: self.now,
            date: clock::local_date(),
        }
    }

    /// Creates a job's compaction file from the template if it is missing.
    ///
    /// # Errors
    /// What the system says.
    pub fn ensure_file(&self, job: &str) -> io::Result<()> {
        if self.places.compaction(job).exists() {
            return Ok(());
        }
        jobs::make_file(&self.asker(), job)
    }

    /// [`Self::ensure_file`] for the session's job. Logs a failure.
    pub fn make_file(&self) {
        if let Err(e) = self.ensure_file(&self.session.job) {
            self.fault("compaction file not made", &e);
        }
    }

    /// Finds the terminals around the client, which only its own processes see.
    pub fn look_around(&mut self) {
        let client = self.session.client.or(self.env.client_pid().and_then(state::client));
        let Some(client) = client.filter(|_| self.seen.interactive) else { return };
        let Some(program) = self.program else { return };
        let reach = Some((program.find_terminals)(self.env, client));
        if self.session.reach != reach {
            self.update(|s| s.reach.clone_from(&reach));
        }
    }

    /// Whether a person sent a prompt or typed recently. The client's own flag stays set overnight.
    pub fn attended(&self) -> bool {
        self.attended_at(self.now)
    }

    /// [`Self::attended`] at a later time, for processes that wait.
    pub fn attended_at(&self, now: Time) -> bool {
        let lately =
            chrono::Duration::minutes(self.settings.boundary.attended_minutes.min(100_000) as i64);
        // A time far in the future was saved before the clock was set back, so it proves nothing.
        self.seen.interactive && self.last_sign().is_some_and(|at| (now - at).abs() < lately)
    }

    /// When the person at the terminal counts as gone. `None` if nobody is there.
    pub fn gone_at(&self) -> Option<Time> {
        let minutes = self.settings.boundary.attended_minutes.min(100_000) as i64;
        let at = self.last_sign().filter(|_| self.attended())?;
        Some(at + chrono::Duration::minutes(minutes))
    }

    /// When somebody last sent a prompt or typed. A prompt for the background comes from elsewhere.
    fn last_sign(&self) -> Option<Time> {
        let prompt = self.session.last_human.filter(|_| !self.seen.background);
        prompt.max(self.session.typed)
    }

    /// Remembers that somebody changed the prompt box.
    pub fn saw_typing(&mut self, at: Time) {
        if self.session.typed.is_none_or(|before| before < at) {
            self.update(|s| s.typed = Some(at));
        }
    }

    /// Why an active operator override holds a boundary back, as text for the user.
    pub fn override_reason(&self) -> Option<String> {
        let calls = || state::calls(&self.places, self.id);
        let override_ =
            self.session.override_.filter(|_| self.session.overridden(self.now, calls))?;
        let until = match override_ {
            Override::Until(at) => {
                format!(" until {}", at.with_timezone(&chrono::Local).format("%H:%M"))
            }
            Override::Calls(_) | Override::UntilClear => String::new(),
        };
        Some(format!("you paused brain-guard{until}"))
    }

    /// Selects the carrier that could perform a boundary now.
    pub fn carrier(&self) -> Selection {
        self.carrier_after(&[])
    }

    /// Selects the next carrier after those that failed.
    pub fn carrier_after(&self, tried: &[Carrier]) -> Selection {
        select::select(
            self.settings.boundary.carrier,
            &select::CarrierConditions {
                mod_alive: self.seen.mod_alive,
                interactive: self.seen.interactive,
                attended: self.attended(),
                reach: self.session.reach.as_ref(),
            },
            tried,
        )
    }
}

/// What the client's session before this one agreed to. A session inherits it before it has a
/// state of its own, so that no milder settings begin with a cleared session.
fn before(env: &Env, places: &Places, id: &str) -> Option<Texts> {
    let client = env.client_pid().and_then(state::client)?;
    let before = state::seat_before(places, client, id)?;
    state::load(places, &before).ok().flatten()?.settings
}

/// The settings that the files ask for now, and the faulty files, which have no effect.
pub fn read_settings(places: &Places, env: &Env) -> (Settings, Vec<Fault>) {
    let (settings, files) = load_settings(places, env, None);
    (settings, files.faults)
}
