//! `steering`: the steering notes of all jobs, grouped by what they are about.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::{Context, Exit, Run, selector, show};
use crate::cli::{SessionSelector, SteeringArgs};
use base::atomic;
use base::env::Env;
use guard::files::{archives, jobs};
use guard::hook::facts::read_settings;
use guard::texts::Text;
use notes::job::steering::{self, Group, Source, Voice};

impl Run for SteeringArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        show(&Groups { groups: collect(env, &self.selector)? }, self.json)?;
        Ok(Exit::Done)
    }
}

/// Steering notes, grouped by what they are about.
#[derive(Debug, Serialize)]
struct Groups {
    groups: Vec<Group>,
}

/// The notes of all jobs of a project. Unreadable files are left out.
fn collect(env: &Env, selector: &SessionSelector) -> anyhow::Result<Vec<Group>> {
    let project = selector::project(env, selector)?;
    let places = selector::places(env, &project)?;
    let (settings, _) = read_settings(&places, env);
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
                let place = path.strip_prefix(places.jobs()).unwrap_or(path).display().to_string();
                sources.push(Source { job: job.clone(), place, text });
            }
        };
        take(&places.compaction(&job));
        for path in archives::list_archives(&places, &job) {
            take(&path);
        }
    }
    let templates: Vec<&str> =
        Text::ALL.iter().filter_map(|text| text.file().strip_suffix(".md")).collect();
    Ok(steering::collect(&sources, &settings.file.shape, &templates, &phases))
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.groups.is_empty() {
            return f.write_str(
                "no steering note in any job; `brain-guard append --kind steering --about NAME 'what it did to the work'` writes one",
            );
        }
        for (index, group) in self.groups.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            let kind = match group.voice {
                Some(Voice::Template) => " (a template)",
                Some(Voice::Phase) => " (a phase)",
                Some(Voice::Other) | None => "",
            };
            writeln!(f, "{}{kind}", group.about.as_deref().unwrap_or("unspecified"))?;
            for note in &group.notes {
                let text = note.text.replace('\n', "\n    ");
                writeln!(f, "  - {text}\n    {}, {}", note.job, note.place)?;
            }
        }
        Ok(())
    }
}
