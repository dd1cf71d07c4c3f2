//! The tier that both gauges ask for, and what caps it.

use super::{Context, Facts};
use crate::boundary::budget;
use crate::files::{boundary, jobs, state};
use crate::policy::decide::is_at_top;
use crate::policy::ramp::Ramp;
use crate::policy::stance::{self, Cap, Readings, Stance};
use crate::session::First;
use crate::settings::Mode;
use base::clock::Time;
use sessions::gauge::Reading;

/// How long blocks stay lifted after a note could not be written. A later successful write ends
/// this early.
const UNWRITTEN: chrono::Duration = chrono::Duration::minutes(10);

/// The current state of a session.
pub struct View {
    /// The context's gauge.
    pub context: Option<Context>,
    /// Both gauges.
    pub readings: Readings,
    /// The ramp in effect.
    pub ramp: Ramp,
    /// The tier, and what caps it.
    pub stance: Stance,
}

impl View {
    /// The bands that are blocked now.
    pub fn blocked(&self) -> Vec<&'static str> {
        let tier = self.ramp.tier(self.stance.effective(&self.ramp));
        tier.map(|t| t.blocks.iter().map(|b| b.name()).collect()).unwrap_or_default()
    }

    /// Whether only the compaction file may be changed now.
    pub fn is_at_top(&self) -> bool {
        is_at_top(&self.stance, &self.ramp)
    }
}

impl Facts<'_> {
    /// Reads the gauges between two calls, without changing state.
    pub fn view(&self) -> View {
        let context = self.context(None, 0);
        let readings = self.readings(context, self.file().map(|f| f.0));
        let ramp = self.ramp(context.map_or(u64::MAX, |c| c.reading.limit));
        let stance = self.stance(&ramp, &readings);
        View { context, readings, ramp, stance }
    }

    /// Combines both gauges, and how much of the file this session wrote.
    pub fn readings(&self, context: Option<Context>, file: Option<Reading>) -> Readings {
        let written = file.map_or(0.0, |f| {
            f.used.saturating_sub(self.session.notes.born_words) as f64 * 100.0
                / f.limit.max(1) as f64
        });
        Readings { context: context.map(|c| c.reading), file, written }
    }

    /// The tier by both gauges, with what caps it.
    pub fn stance(&self, ramp: &Ramp, readings: &Readings) -> Stance {
        let stance = stance::stance(ramp, readings, self.session.ranks, |_| self.cap(readings));
        self.entry.moment(readings, &stance, ramp.name(stance.rank));
        stance
    }

    /// The reason why nothing may be blocked now, if there is one.
    pub fn cap(&self, readings: &Readings) -> Option<Cap> {
        self.pause().or_else(|| self.cap_behind_shadow(readings))
    }

    /// The operator's override or the mode, if one of them keeps the guard from acting.
    pub fn pause(&self) -> Option<Cap> {
        let calls = || state::calls(&self.places, self.id);
        let is_overridden = self.session.overridden(self.now, calls);
        if is_overridden { Some(Cap::Override) } else { self.mode_cap() }
    }

    /// The mode, if it keeps the guard from acting.
    pub fn mode_cap(&self) -> Option<Cap> {
        match self.settings.mode {
            Mode::On => None,
            Mode::Shadow => Some(Cap::Shadow),
            Mode::Off => Some(Cap::Off),
        }
    }

    /// Why an open boundary does not begin, as text for the user.
    pub fn held_reason(&self) -> Option<String> {
        self.mode_cap().map(|cap| cap.why()).or_else(|| self.override_reason())
    }

    /// Why the session's compaction file cannot be written now, if so. Blocking would then leave
    /// the agent without a way out.
    pub fn not_writable(&self) -> Option<String> {
        if let Some((at, why)) = &self.session.notes.unwritten
            && self.now - *at < UNWRITTEN
        {
            return Some(why.clone());
        }
        let job = jobs::current_name(&self.places, &self.session.job);
        jobs::check_writable(&self.places, &job).err().map(|e| e.to_string())
    }

    /// The reason why nothing could be blocked even without the override and shadow mode.
    pub fn cap_behind_shadow(&self, readings: &Readings) -> Option<Cap> {
        let calls = || state::calls(&self.places, self.id);
        if self.headless_only_coached() {
            return Some(Cap::Headless);
        }
        if self.mode.as_deref() == Some("plan") {
            return Some(Cap::Plan);
        }
        if let Some(refusing) = &self.session.refusing {
            return Some(Cap::Refusing(refusing.rule.clone()));
        }
        if let Some((until, cap)) = &self.session.lifted
            && *until > self.now
        {
            return Some(cap.clone());
        }
        if self.carrier().chosen.is_none() {
            return Some(Cap::NoCarrier);
        }
        // A boundary that is open already comes all the same.
        let is_open = || self.token().is_some_and(|t| t.awaits_carrier_or_held(self.id));
        if let Some(why) = self.spent(&self.session.job).filter(|_| !is_open()) {
            return Some(Cap::Lifted(why));
        }
        if let Some(why) = self.not_writable() {
            return Some(Cap::NotWritable(why));
        }
        // The hook hands the project's path to the verbs as text, and a text for the agent may name
        // the program.
        if self.places.project.to_str().is_none() || self.env.program().is_none() {
            return Some(Cap::Lifted("no command can name this program and project".to_owned()));
        }
        if self.session.first == First::Grace {
            return Some(Cap::Grace);
        }
        let percent = readings.context.map_or(0.0, |r| r.percent());
        self.session.grace.filter(|g| percent < g.percent && calls() < g.calls).map(|_| Cap::Grace)
    }

    /// Why no boundary of a job may begin now, if it had too many in the last hour.
    pub fn spent(&self, job: &str) -> Option<String> {
        budget::spent(&self.earlier_boundaries(job), self.now, &self.settings.boundary)
    }

    /// When the next boundary of a job may clear, if its last one was just before.
    pub fn not_before(&self, job: &str) -> Option<Time> {
        budget::not_before(&self.earlier_boundaries(job), self.now, &self.settings.boundary)
    }

    /// When the boundaries of a job began. Those of the session's own job count for a new one:
    /// otherwise switching to one new job after another would clear without end.
    fn earlier_boundaries(&self, job: &str) -> Vec<Time> {
        let earlier = boundary::times(&self.places, job);
        if earlier.is_empty() && job != self.session.job {
            return boundary::times(&self.places, &self.session.job);
        }
        earlier
    }
}

/// Whether a valid seal waits for its boundary, and nothing prevents one.
pub fn sealed(facts: &Facts, readings: &Readings) -> bool {
    let Some(token) = facts.token() else { return false };
    token.awaits_carrier(facts.id) && matches!(facts.cap(readings), None | Some(Cap::Grace))
}
