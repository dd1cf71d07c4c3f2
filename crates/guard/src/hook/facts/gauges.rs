//! How full the context and the compaction file are.

use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::Facts;
use crate::compaction;
use crate::policy::limit::{ClientLimit, LimitSource, Limits};
use crate::policy::ramp::Ramp;
use crate::session::Counted;
use crate::settings::Model;
use base::clock::Time;
use base::log;
use base::{atomic, tail};
use sessions::fill::{Fill, Gatherer};
use sessions::gauge::{self, Reading, Source, Window, WindowFacts, WindowSource};

/// Bytes of the compaction file that are counted, far more than it may hold; what is longer
/// is taken to go on as it began, since a call can't wait for it.
const COUNTED: u64 = 256 * 1024;

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
    /// What decided the limit.
    pub limit_source: LimitSource,
    /// The limit as the client itself reported it with this reading.
    pub reported_limit: Option<ClientLimit>,
}

#[derive(Deserialize)]
struct Snapshot {
    tokens: Option<u64>,
    window: Option<u64>,
    output: Option<u64>,
    model: Option<String>,
    limit: Option<ClientLimit>,
}

impl Facts<'_> {
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
        if let Some(Snapshot { tokens, window: reported, output, model, limit }) = snapshot {
            let used = tokens?.saturating_add(output.unwrap_or(0).min(gauge::LARGEST));
            let model = model.or_else(|| self.session.model.clone());
            let model = model.or_else(|| self.fill().and_then(|f| f.model.clone()));
            let window = self.window(model.as_deref(), reported, used);
            let context = self.reading(used, window, limit, Source::Mod, self.now);
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
        let mut context = self.reading(used, window, None, source, fill.at.unwrap_or(self.now));
        context.before = fill.before;
        if estimated > context.reading.limit / 100 {
            context.reading.source = Source::Estimated;
        }
        context.model_named = model_named;
        Some(context)
    }

    fn reading(
        &self,
        used: u64,
        window: Window,
        reported_limit: Option<ClientLimit>,
        source: Source,
        at: Time,
    ) -> Context {
        let mut limits = self.limits();
        limits.client = reported_limit.or(limits.client);
        let limit = limits.of(&window);
        Context {
            reading: Reading { used, limit: limit.tokens, source, at },
            before: None,
            window,
            model_named: true,
            reported: None,
            limit_source: limit.source,
            reported_limit,
        }
    }

    /// Everything that moves this session's limit. What the client reported counts as long as
    /// its module reports.
    pub fn limits(&self) -> Limits {
        Limits {
            environment: self.seen.auto_compact,
            configured: self.session.configured,
            client: self.session.reported_limit.filter(|_| self.seen.mod_alive),
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
        let mut limits = self.limits();
        limits.client = limits.client.filter(|_| current);
        limits.of(&self.window(model, reported, used)).tokens
    }

    fn snapshot(&self, call: &str) -> Option<Snapshot> {
        if !self.seen.mod_alive || !base::paths::safe_name(call) {
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
}
