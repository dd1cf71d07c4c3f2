//! The report of `settings check`, as JSON and as text.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use base::shown::group_thousands;
use guard::policy::limit::Limits;
use guard::settings::layers::{Diagnostic, Merged};
use guard::settings::{Model, Settings};
use sessions::gauge::{Window, WindowSource};

#[derive(Debug, Serialize)]
pub struct Report {
    /// The files that were read.
    files: Vec<Source>,
    /// Every key that a layer set and that is in force.
    set: Vec<Given>,
    /// The tiers, by model.
    models: Vec<Held>,
    sections: Vec<Section>,
    problems: Vec<Diagnostic>,
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
    source: String,
    line: Option<usize>,
}

/// What the settings give for one model.
#[derive(Debug, Serialize)]
pub struct Held {
    model: Option<String>,
    window: u64,
    /// Tokens at which the context counts as full.
    limit: u64,
    /// Percent by which the tiers of this session are raised.
    moved_up: f64,
    /// The indices of the `when` entries that apply.
    when: Vec<usize>,
    tiers: Vec<Tier>,
    words: Words,
}

#[derive(Debug, Serialize)]
struct Tier {
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
    /// For a model, in a session that began with `base` tokens.
    pub fn of(settings: &Settings, model: Model, limits: &Limits, base: u64) -> Self {
        let held = settings.for_model(&model);
        let window = Window { tokens: model.window, source: WindowSource::Agreed, certain: true };
        let limit = limits.for_window(&window).tokens;
        let still = held.ramp(limit);
        let ramp = still.shifted(base as f64 * 100.0 / limit.max(1) as f64);
        let first = |ramp: &guard::policy::ramp::Ramp| ramp.tier(1).map_or(0.0, |t| t.context);
        let of = |percent: f64, whole: u64| (whole as f64 * percent / 100.0).round() as u64;
        let seal = held.seal_limits();
        let tiers = ramp.tiers().iter().map(|t| Tier {
            name: t.name.clone(),
            context: t.context,
            tokens: of(t.context, limit),
            file: t.file,
            words: of(t.file, held.file.words),
            blocks: t.blocks.iter().map(|b| b.name()).collect(),
        });
        let holds = settings.when.iter().enumerate().filter(|(_, when)| when.holds_for(&model));
        Self {
            model: model.name.map(str::to_owned),
            window: model.window,
            limit,
            moved_up: first(&ramp) - first(&still),
            when: holds.map(|(index, _)| index).collect(),
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
    pub fn of(merged: &Merged, files: Vec<(&'static str, PathBuf)>, models: Vec<Held>) -> Self {
        let shape = &merged.settings.file.shape;
        let sections = shape.sections.iter().enumerate().map(|(index, section)| Section {
            name: section.name.clone(),
            role: section.role.as_str(),
            kinds: shape.kinds(index).map(str::to_owned).collect(),
            slice: section.slice,
        });
        let key = |origin: &guard::settings::layers::Origin| Given {
            key: origin.key.join("."),
            value: origin.value.clone(),
            source: origin.place.source.clone(),
            line: origin.place.line,
        };
        let found = |(layer, path): (_, PathBuf)| Source { layer, found: path.exists(), path };
        Self {
            files: files.into_iter().map(found).collect(),
            set: merged.origins.iter().map(key).collect(),
            models,
            sections: sections.collect(),
            problems: merged.diagnostics.clone(),
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
        for Given { key, value, source, line } in &self.set {
            let mut shown = value.to_string();
            if let Some((at, _)) = shown.char_indices().nth(VALUE) {
                shown.replace_range(at.., " …");
            }
            let line = line.map_or_else(String::new, |line| format!(":{line}"));
            writeln!(f, "  {:<40} {source}{line}", format!("{key} = {shown}"))?;
        }
        for held in &self.models {
            write!(f, "\n{held}")?;
        }
        writeln!(f, "\nsections")?;
        for Section { name, role, kinds, slice } in &self.sections {
            let slice = slice.map_or_else(String::new, |s| format!(", held at {s} of the file"));
            let kinds = kinds.join(", ");
            let kinds = if kinds.is_empty() { "-" } else { &kinds };
            writeln!(f, "  {name:<22} {role:<8} {kinds}{slice}")?;
        }
        writeln!(f, "\nproblems")?;
        for problem in &self.problems {
            writeln!(f, "  {}\n    -> {}", problem.message, problem.way_out)?;
        }
        if self.problems.is_empty() {
            writeln!(f, "  none")?;
        }
        Ok(())
    }
}

impl Display for Held {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let name = self.model.as_deref().map(|name| format!(" of {name}")).unwrap_or_default();
        writeln!(
            f,
            "tiers with a window of {}{name} (limit {} tokens) and {} words",
            group_thousands(self.window),
            group_thousands(self.limit),
            group_thousands(self.words.full)
        )?;
        for index in &self.when {
            writeln!(f, "  by when.{index}")?;
        }
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
