//! Measures the context usage and the size of the compaction file.

use std::path::Path;

use serde::Deserialize;

use super::Facts;
use crate::policy::limit::{ClientLimit, LimitSource, Limits};
use crate::policy::ramp::Ramp;
use crate::session::Counted;
use base::clock::Time;
use base::{atomic, tail};
use notes::compaction;
use sessions::fill::{Fill, Gatherer};
use sessions::gauge::{self, Reading, Source, Window, WindowFacts, WindowSource};

/// How many bytes of the compaction file are counted, far more than it may hold. Words of a longer
/// file are extrapolated, because a call cannot wait for it.
const COUNTED: u64 = 256 * 1024;

/// The context usage, with the sources of its window and limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Context {
    /// The reading.
    pub reading: Reading,
    /// Tokens of the response before it, if the transcript has one.
    pub before: Option<u64>,
    /// The model's window.
    pub window: Window,
    /// Whether some source named the model, even an unknown one.
    pub model_named: bool,
    /// The window that the client reported with this reading.
    pub reported: Option<u64>,
    /// The source of the limit.
    pub limit_source: LimitSource,
    /// The limit that the client reported with this reading.
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
    /// The session's model, if known, and its window in tokens.
    pub fn model(&self) -> (Option<&str>, u64) {
        let known = self.session.model.as_deref().zip(self.session.reading);
        let (name, used) = if let Some((name, reading)) = known {
            (Some(name), reading.used)
        } else {
            let fill = self.transcript_usage();
            let seen = fill.and_then(|f| f.model.as_deref());
            (self.session.model.as_deref().or(seen), fill.map_or(0, |f| f.measured))
        };
        (name, self.window(name, None, used).tokens)
    }

    /// The ramp for a limit, shifted by what filled the context from the start.
    pub fn ramp(&self, limit: u64) -> Ramp {
        self.settings.ramp(limit).shifted(self.session.base_percent(limit))
    }

    /// Measures the context usage. Prefers the plugin module's snapshot of this call. Otherwise
    /// takes the transcript's last response and estimates what came since. `new_bytes`: size of the
    /// results that this event adds.
    pub fn context(&self, call: Option<&str>, new_bytes: u64) -> Option<Context> {
        // Right after a compaction the client reports no figure, but the transcript has one.
        let sane = |s: &Snapshot| s.tokens.is_some_and(|tokens| tokens <= gauge::LARGEST);
        let snapshot = call.and_then(|id| self.snapshot(id)).filter(sane);
        if let Some(Snapshot { tokens, window: reported, output, model, limit }) = snapshot {
            let used = tokens?.saturating_add(output.unwrap_or(0).min(gauge::LARGEST));
            let model = model.or_else(|| self.session.model.clone());
            let model = model.or_else(|| self.transcript_usage().and_then(|f| f.model.clone()));
            let window = self.window(model.as_deref(), reported, used);
            let context = self.reading(used, window, limit, Source::Mod, self.now);
            return Some(Context { reported, model_named: model.is_some(), ..context });
        }
        let mut fill = self.transcript_usage().cloned().unwrap_or_default();
        // A reading from the future would count as later than every coming row.
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
        let limit = limits.for_window(&window);
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

    /// Everything that moves this session's limit. The client's report counts only while its module
    /// is alive.
    pub fn limits(&self) -> Limits {
        Limits {
            environment: self.seen.auto_compact,
            configured: self.session.limits.configured,
            client: self.session.limits.reported_limit.filter(|_| self.seen.mod_alive),
        }
    }

    /// The window of a model. Uses what the client reports now, or reported before for the
    /// session's own model.
    fn window(&self, model: Option<&str>, reported: Option<u64>, used: u64) -> Window {
        let own = self.session.model.as_deref().zip(model).is_none_or(|(own, model)| {
            let (own, model) = (gauge::variant(own).0, gauge::variant(model).0);
            own.starts_with(model) || model.starts_with(own)
        });
        let observed =
            self.session.limits.window.filter(|w| own && w.source == WindowSource::Observed);
        // Events name the long variant of a model. The transcript never does.
        let named = self
            .session
            .model
            .as_deref()
            .filter(|m| gauge::variant(m).1 && model.is_some_and(|seen| m.starts_with(seen)));
        gauge::window(&WindowFacts {
            setting: self.settings.context.window,
            model: named.or(model),
            reported: reported.or(self.session.limits.reported_window.filter(|_| own)),
            observed: observed.map(|w| w.tokens),
            long_disabled: self.seen.long_disabled,
            used,
        })
    }

    /// The limit for `model` after `used` tokens.
    pub fn limit_for(&self, model: Option<&str>, used: u64) -> u64 {
        let current = self.model().0.zip(model).is_none_or(|(now, then)| now.starts_with(then));
        let reported = self.session.limits.reported_window.filter(|_| current);
        let mut limits = self.limits();
        limits.client = limits.client.filter(|_| current);
        limits.for_window(&self.window(model, reported, used)).tokens
    }

    fn snapshot(&self, call: &str) -> Option<Snapshot> {
        if !self.seen.mod_alive || !base::paths::is_safe_name(call) {
            return None;
        }
        let path = self.places.snapshots().join(format!("{call}.json"));
        let parse = |bytes: Vec<u8>| serde_json::from_slice(&bytes).ok();
        let snapshot = parse(atomic::read_record(&path).ok()??).or_else(|| {
            // The client's write is not atomic, so a torn file is read once more.
            std::thread::sleep(std::time::Duration::from_millis(1));
            parse(atomic::read_record(&path).ok()??)
        });
        let _ = atomic::remove(&path);
        snapshot
    }

    /// The usage by the transcript, read once.
    pub fn transcript_usage(&self) -> Option<&Fill> {
        self.fill.get_or_init(|| self.read_transcript_usage()).as_ref()
    }

    fn read_transcript_usage(&self) -> Option<Fill> {
        let mut gatherer = if self.brief { Gatherer::brief() } else { Gatherer::default() };
        let path = self.transcript.as_deref()?;
        let read = tail::lines_backwards(path, |line| gatherer.feed(line));
        if let Err(e) = read {
            self.transcript_fault(path, &e);
            return None;
        }
        gatherer.finish()
    }

    /// Measures the compaction file. Also returns the word count to cache.
    pub fn file(&self) -> Option<(Reading, Counted)> {
        let path = self.places.compaction(&self.session.job);
        let meta = atomic::stat(&path)?;
        let counted = match self.session.notes.counted {
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

    /// Logs an unreadable transcript once a session. A missing one before the first reading is not
    /// a fault, because the client writes its rows late.
    fn transcript_fault(&self, path: &Path, error: &std::io::Error) {
        let early = error.kind() == std::io::ErrorKind::NotFound && self.session.reading.is_none();
        if !early && atomic::claim(&self.places.session(self.id, "fault")).unwrap_or(true) {
            self.fault(&format!("transcript {} not read", path.display()), error);
        }
    }
}
