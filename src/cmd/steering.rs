//! `steering`: the steering notes of all jobs, by the voice they speak of.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;

use super::{Exit, out, out_json, whose};
use crate::cli::Whose;
use base::atomic;
use base::env::Env;
use base::paths::Places;
use guard::files::{archives, jobs};
use guard::hook::facts::read_settings;
use guard::job::steering::{self, Source, Voice};
use guard::settings::trust;
use guard::texts::Text;

/// Runs the verb.
///
/// # Errors
/// No place for state. A file that can't be read is left out.
pub fn run(env: &Env, whose: &Whose, json: bool) -> anyhow::Result<Exit> {
    let project = whose::project(env, whose)?;
    let mut places = Places::of(env, &project)
        .context("HOME is not set, so there is no place for state; set it to your home folder")?;
    let (settings, _) = read_settings(&places, env);
    places.trusted = trust::accepts(&settings.trust, env.home().as_deref(), &places.project);
    let mut phases: BTreeSet<String> =
        settings.phases.names.keys().filter(|name| *name != "*").cloned().collect();
    let mut sources = Vec::new();
    for job in jobs::all(&places) {
        let record = jobs::record(&places, &job);
        phases.extend(record.phase.into_iter().map(|phase| phase.name));
        phases.extend(record.phases.into_iter().map(|phase| phase.name));
        phases.extend(record.coaching.into_keys().filter(|name| name != "*"));
        let mut take = |path: &Path| {
            if let Ok(Some(text)) = atomic::read_text(path) {
                let place = path.strip_prefix(&project).unwrap_or(path).display().to_string();
                sources.push(Source { job: job.clone(), place, text });
            }
        };
        take(&places.compaction(&job));
        for path in archives::removed(&places, &job) {
            take(&path);
        }
    }
    let templates: Vec<&str> =
        Text::ALL.iter().filter_map(|text| text.file().strip_suffix(".md")).collect();
    let groups = steering::collect(&sources, &settings.file.shape, &templates, &phases);
    if json {
        out_json(&groups)?;
        return Ok(Exit::Done);
    }
    if groups.is_empty() {
        out(
            "no steering note in any job; `brain-guard append --kind steering --about NAME 'what it did to the work'` writes one",
        );
    }
    for (index, group) in groups.iter().enumerate() {
        if index > 0 {
            out("");
        }
        let kind = match group.voice {
            Some(Voice::Template) => " (a template)",
            Some(Voice::Phase) => " (a phase)",
            Some(Voice::Other) | None => "",
        };
        out(format_args!("{}{kind}", group.about.as_deref().unwrap_or("unspecified")));
        for note in &group.notes {
            out(format_args!(
                "  - {}\n    {}, {}",
                note.text.replace('\n', "\n    "),
                note.job,
                note.place
            ));
        }
    }
    Ok(Exit::Done)
}
