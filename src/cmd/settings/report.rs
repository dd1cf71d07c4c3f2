//! The report of `settings check`, as JSON and as text.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use base::shown::group_thousands;
use guard::policy::limit::Limits;
use guard::settings::file::Fault;
use guard::settings::sources::Files;
use guard::settings::{Settings, leaves};
use sessions::gauge::{Window, WindowSource};

#[derive(Debug, Serialize)]
pub struct Report {
    /// The files that were read.
    files: Vec<Source>,
    /// Every key that a file sets.
    set: Vec<Given>,
    /// What waits in this session for its user's next prompt.
    waits: Vec<String>,
    /// Values of the project's file that are milder than the user's, so that they have no effect.
    without_effect: Vec<String>,
    /// The tiers in force, by window.
    windows: Vec<Held>,
    sections: Vec<Section>,
    problems: Vec<Fault>,
}

#[derive(Debug, Serialize)]
struct Source {
    layer: &'static str,
    path: PathBuf,
    found: bool,
}

#[derive(Debug, Serialize)]
struct Given {
    key: String,
    value: Value,
    layer: &'static str,
}

/// What the settings give for one window.
#[derive(Debug, Serialize)]
pub struct Held {
    window: u64,
    /// Tokens at which the context counts as full.
    limit: u64,
    /// Percent by which the tiers of this session are raised.
    moved_up: f64,
    tiers: Vec<TierRow>,
    words: Words,
}

#[derive(Debug, Serialize)]
struct TierRow {
    name: String,
    context: f64,
    tokens: u64,
    file: f64,
    words: u64,
    blocks: Vec<&'static str>,
}

/// Sizes of the compaction file in words.
#[derive(Debug, Serialize)]
struct Words {
    full: u64,
    seal_target: usize,
    seal_refused_at: usize,
    summary: usize,
    commits: usize,
}

#[derive(Debug, Serialize)]
struct Section {
    name: String,
    role: &'static str,
    kinds: Vec<String>,
    /// Share of the file to which a seal limits this section.
    slice: Option<f64>,
}

impl Held {
    /// For a window, in a session that began with `base` tokens.
    pub fn of(held: &Settings, window: u64, limits: &Limits, base: u64) -> Self {
        let known = Window { tokens: window, source: WindowSource::Agreed, certain: true };
        let limit = limits.for_window(&known).tokens;
        let still = held.ramp(limit);
        let ramp = still.shifted(base as f64 * 100.0 / limit.max(1) as f64);
        let first = |ramp: &guard::policy::ramp::Ramp| ramp.tier(1).map_or(0.0, |t| t.context);
        let of = |percent: f64, whole: u64| (whole as f64 * percent / 100.0).round() as u64;
        let seal = held.seal_limits();
        let tiers = ramp.tiers().iter().map(|t| TierRow {
            name: t.name.clone(),
            context: t.context,
            tokens: of(t.context, limit),
            file: t.file,
            words: of(t.file, held.file.words),
            blocks: t.blocks.iter().map(|b| b.name()).collect(),
        });
        Self {
            window,
            limit,
            moved_up: first(&ramp) - first(&still),
            tiers: tiers.collect(),
            words: Words {
                full: held.file.words,
                seal_target: seal.target_words(),
                seal_refused_at: seal.block_words(),
                summary: seal.summary_words(),
                commits: seal.git_words(),
            },
        }
    }
}

impl Report {
    pub fn of(
        settings: &Settings,
        loaded: &Files,
        files: Vec<(&'static str, String)>,
        windows: Vec<Held>,
    ) -> Self {
        let shape = &settings.file.shape;
        let wanted = loaded.wanted();
        let sections = shape.sections.iter().enumerate().map(|(index, section)| Section {
            name: section.name.clone(),
            role: section.role.as_str(),
            kinds: shape.kinds(index).map(str::to_owned).collect(),
            slice: section.slice,
        });
        let texts = [("user", &loaded.texts.user), ("project", &loaded.texts.project)];
        let set = texts.into_iter().flat_map(|(layer, text)| {
            let json = text.as_deref().and_then(|text| serde_json::from_str(text).ok());
            let all = json.map(|json: Value| leaves(&json)).unwrap_or_default();
            all.into_iter().map(move |(key, value)| Given { key, value, layer })
        });
        let found = |(layer, path): (_, String)| {
            let path = PathBuf::from(path);
            Source { layer, found: path.exists(), path }
        };
        let limit = windows.first().map_or(u64::MAX, |held| held.limit);
        Self {
            files: files.into_iter().map(found).collect(),
            set: set.collect(),
            waits: settings.changes(&wanted, limit),
            without_effect: wanted.changes(&loaded.asked(), limit),
            windows,
            sections: sections.collect(),
            problems: loaded.faults.clone(),
        }
    }
}

/// Longer values are cut.
const VALUE: usize = 60;

impl Display for Report {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        for Source { layer, path, found } in &self.files {
            let missing = if *found { "" } else { " (not there)" };
            writeln!(f, "{layer:<9} {}{missing}", path.display())?;
        }
        writeln!(f, "\nset")?;
        if self.set.is_empty() {
            writeln!(f, "  nothing: the defaults hold")?;
        }
        for Given { key, value, layer } in &self.set {
            let mut shown = value.to_string();
            if let Some((at, _)) = shown.char_indices().nth(VALUE) {
                shown.replace_range(at.., " …");
            }
            writeln!(f, "  {layer:<8} {key} = {shown}")?;
        }
        for change in &self.waits {
            writeln!(f, "  waits for your next prompt, or for `settings apply`: {change}")?;
        }
        for change in &self.without_effect {
            writeln!(f, "  no effect, because a project can only tighten: {change}")?;
        }
        for held in &self.windows {
            write!(f, "\n{held}")?;
        }
        writeln!(f, "\nsections")?;
        for Section { name, role, kinds, slice } in &self.sections {
            let slice = slice.map_or_else(String::new, |s| format!(", held at {s} of the file"));
            let kinds = kinds.join(", ");
            let kinds = if kinds.is_empty() { "-" } else { &kinds };
            writeln!(f, "  {name:<22} {role:<9} {kinds}{slice}")?;
        }
        writeln!(f, "\nproblems")?;
        for problem in &self.problems {
            writeln!(
                f,
                "  {problem}; the file has no effect, and what is listed above holds\n    -> {}",
                problem.way_out
            )?;
        }
        if self.problems.is_empty() {
            writeln!(f, "  none")?;
        }
        Ok(())
    }
}

impl Display for Held {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(
            f,
            "tiers with a window of {} (limit {} tokens) and {} words",
            group_thousands(self.window),
            group_thousands(self.limit),
            group_thousands(self.words.full)
        )?;
        if self.moved_up > 0.0 {
            writeln!(f, "  moved up by {:.1} %: full from the start", self.moved_up)?;
        }
        for t in &self.tiers {
            let blocks =
                if t.blocks.is_empty() { "nothing".to_owned() } else { t.blocks.join(", ") };
            writeln!(
                f,
                "  {:<14} {:>5.1} % = {:>9} tokens  {:>5.1} % = {:>6} words  blocks {blocks}",
                t.name,
                t.context,
                group_thousands(t.tokens),
                t.file,
                group_thousands(t.words)
            )?;
        }
        let Words { seal_target, seal_refused_at, summary, commits, .. } = self.words;
        let words = |n: usize| group_thousands(n as u64);
        writeln!(
            f,
            "  a seal shortens the file to {} words and refuses at {}; limits: Prior Summary {}, commits {}",
            words(seal_target),
            words(seal_refused_at),
            words(summary),
            words(commits)
        )
    }
}
