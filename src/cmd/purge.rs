//! `brain-guard purge`: lists the stored data, and removes what the user chooses.

mod project;
mod remove;
pub(super) mod size;
mod state;
mod stored;
mod stores;

use base::shown::age;
use base::shown::size;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;

use self::project::Project;
pub(super) use self::remove::{RemovalFailure, remove_all};
use self::stored::{Choice, choose};
pub(super) use self::stored::{KeepReason, Stored};
use self::stores::Owners;
use super::import::{self, count};
use super::selector::Name;
use super::surgery::source;
use super::{Context, Exit, Run, confirmed, err, operator, out, out_json, selector};
use crate::cli::{PurgeArgs, PurgeKind, SessionSelector};
use base::clock::Time;
use base::env::Env;
use base::paths::Places;
use guard::report::clean;
use store::blocks::Root;

const NO_HOME: &str = "HOME is not set, so there is no place for state; set it to your home folder";

/// The report for programs.
#[derive(Serialize)]
struct PurgeReport<'a> {
    items: &'a [Stored],
    /// What is or would be removed.
    total: Total,
    removed: bool,
    failed: &'a [RemovalFailure],
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Total {
    things: usize,
    files: u64,
    bytes: u64,
}

impl Run for PurgeArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        operator::refuse_agent(env, "purge")?;
        let selection = Selection::find(env, self, now)?;
        if !self.json {
            list(&selection.chosen, now);
        }
        let total = total(&selection.chosen);
        let agreed = !self.dry_run && total.things > 0 && ask_user(self, total)?;
        let failed = if agreed { selection.remove() } else { Vec::new() };
        if self.json {
            let removed = agreed && failed.is_empty();
            out_json(&PurgeReport { items: &selection.chosen, total, removed, failed: &failed })?;
        } else {
            print_outcome(self, total, agreed, &failed);
        }
        let refused = !self.dry_run && total.things > 0 && !agreed;
        Ok(if refused || !failed.is_empty() { Exit::Refused } else { Exit::Done })
    }
}

/// What a purge lists and removes.
pub(super) struct Selection {
    /// The store, if it is usable.
    pub store: Option<Root>,
    /// The chosen data, with what stays of it.
    pub chosen: Vec<Stored>,
}

impl Selection {
    /// Finds the chosen data.
    ///
    /// # Errors
    /// HOME is not set, or the choice matches nothing.
    pub fn find(env: &Env, args: &PurgeArgs, now: Time) -> anyhow::Result<Self> {
        let choice = choice(env, args, now)?;
        let projects = projects(env, args)?;
        let mut found: Vec<Stored> =
            projects.iter().flat_map(|project| project.kept(now)).collect();
        let store = store(env);
        if let Some(root) = &store {
            let owners = Owners::new(env, &projects, args.all_projects);
            found.extend(stores::extracted(root, &owners));
            match stores::imported(root, &owners) {
                Ok(imported) => found.extend(imported),
                Err(e) => err(format_args!("imported sessions are left out: {e:#}")),
            }
        }
        let chosen = choose(found, &choice)?;
        Ok(Self { store, chosen })
    }

    /// Removes it.
    pub fn remove(&self) -> Vec<RemovalFailure> {
        remove::remove(self.store.as_ref(), &self.chosen)
    }
}

fn choice(env: &Env, args: &PurgeArgs, now: Time) -> anyhow::Result<Choice> {
    let before = args.older_than.as_deref();
    let before = before.map(|text| source::since("--older-than", text, now)).transpose()?;
    let name = args.session.as_deref().map(|text| Name::parse(env, text)).transpose()?;
    Ok(Choice {
        session: name.map(Name::id),
        job: args.job.clone(),
        before,
        only: args.only.clone(),
        forget: args.forget,
    })
}

fn projects(env: &Env, args: &PurgeArgs) -> anyhow::Result<Vec<Project>> {
    if !args.all_projects {
        let asked = SessionSelector { project: args.project.clone(), ..SessionSelector::default() };
        let places = selector::places(env, &selector::project(env, &asked)?)?;
        return Ok(vec![Project::of(places)]);
    }
    let here = Places::for_project(env, Path::new("/")).context(NO_HOME)?;
    let project = |state: PathBuf| {
        let mut places = here.for_state(&state);
        // A project whose folder is unknown is listed by its state.
        if places.project.as_os_str().is_empty() {
            places.project = state;
        }
        Project::of(places)
    };
    Ok(here.all_states().into_iter().map(project).collect())
}

fn store(env: &Env) -> Option<Root> {
    import::root(env).inspect_err(|e| err(format_args!("the store is left out: {e:#}"))).ok()
}

/// A path on one line, without terminal codes.
pub(super) fn shown(path: &Path) -> String {
    clean(&path.display().to_string()).replace(['\n', '\t'], "\u{fffd}")
}

/// Prints the chosen data.
pub(super) fn list(chosen: &[Stored], now: Time) {
    if chosen.is_empty() {
        return;
    }
    out(format_args!("{:<10} {:>6} {:>11} {:>7}  path", "kind", "files", "size", "age"));
    for kept in chosen {
        let kind = serde_json::to_value(kept.kind).unwrap_or_default();
        let stays = match kept.keep_reason {
            None => String::new(),
            Some(KeepReason::Open) => "  (stays: its session is open)".to_owned(),
            Some(KeepReason::UnderWay) => "  (stays: its boundary is under way)".to_owned(),
            Some(KeepReason::Needed)
                if matches!(kept.kind, PurgeKind::Notes | PurgeKind::Sealed) =>
            {
                "  (stays: notes go only with --only, --job or --forget)".to_owned()
            }
            Some(KeepReason::Needed) => {
                let session = kept.session.as_deref().unwrap_or_default();
                format!("  (stays: session {session} may need it; --forget removes it)")
            }
        };
        out(format_args!(
            "{:<10} {:>6} {:>11} {:>7}  {}{}",
            kind.as_str().unwrap_or_default(),
            kept.count,
            size(kept.bytes),
            kept.written.map_or_else(|| "-".to_owned(), |at| age(now - at)),
            shown(&kept.path),
            clean(&stays),
        ));
    }
}

fn total(chosen: &[Stored]) -> Total {
    let going = chosen.iter().filter(|kept| kept.keep_reason.is_none());
    going.fold(Total::default(), |total, kept| Total {
        things: total.things + 1,
        files: total.files + kept.count,
        bytes: total.bytes + kept.bytes,
    })
}

fn format_total(total: Total) -> String {
    format!(
        "{}, {}",
        count(usize::try_from(total.files).unwrap_or(usize::MAX), "file"),
        size(total.bytes)
    )
}

fn ask_user(args: &PurgeArgs, total: Total) -> anyhow::Result<bool> {
    if args.yes {
        return Ok(true);
    }
    if args.json {
        err("nothing was removed; --yes removes what does not stay");
        return Ok(false);
    }
    Ok(confirmed(&format!("{} would be removed", format_total(total)), "--yes removes them")?)
}

fn print_outcome(args: &PurgeArgs, total: Total, agreed: bool, failed: &[RemovalFailure]) {
    for RemovalFailure { path, why } in failed {
        err(format_args!("{} could not be removed: {}", shown(path), clean(why)));
    }
    match (total.things, agreed, failed.len()) {
        (0, ..) => out("there is nothing to remove"),
        (_, true, 0) => out(format_args!("{} removed", format_total(total))),
        (things, true, left) => out(format_args!("{left} of {things} could not be removed")),
        (_, false, _) if args.dry_run => {
            out(format_args!("{} would be removed", format_total(total)));
        }
        _ => {}
    }
}
