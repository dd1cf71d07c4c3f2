//! The id and file of a new session.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::cli::OutputArgs;
use base::clock::Time;
use base::env::Env;
use base::new_file;
use base::paths::{self, config_folder};
use surgery::ids;
use surgery::plan::Plan;

/// Where new sessions go.
#[derive(Debug, Clone, Copy, Default)]
pub struct Destination<'p> {
    /// A new file, or a folder; else the client's folder of the project.
    pub out: Option<&'p Path>,
    /// Whether they are only shown.
    pub dry_run: bool,
}

impl<'p> From<&'p OutputArgs> for Destination<'p> {
    fn from(args: &'p OutputArgs) -> Self {
        Self { out: args.out.as_deref(), dry_run: args.dry_run }
    }
}

/// The place of a new session.
pub struct Target {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// Whether the client finds it by its id, because it is in the project's client folder.
    pub by_id: bool,
    /// Notes about the location.
    pub notes: Vec<String>,
}

impl Target {
    /// The requested location, else the client's folder of the project. `number` distinguishes the
    /// successors of a split.
    ///
    /// # Errors
    /// An invalid location, or one that is taken.
    pub fn of(
        env: &Env,
        now: Time,
        plan: &Plan,
        number: usize,
        out: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let seed = format!("{now:?} {} {number}", std::process::id());
        let fresh = ids::Source::new(&seed, &plan.lineage.parent_session).uuid("session");
        let mut id = fresh.as_str().to_owned();
        let own = own_folder(env, plan);
        let mut notes = Vec::new();
        if let Some(gone) = cwd(plan).filter(|cwd| !Path::new(cwd).is_dir()) {
            notes.push(format!(
                "{gone}, where it goes on, is not an existing folder: make it, or move it back, before you resume the session"
            ));
        }
        let path = match out {
            None => own
                .clone()
                .context("the session's rows don't say in which folder it ran; say with --out where the new one goes")?
                .join(format!("{id}.jsonl")),
            Some(folder) if paths::is_folder(folder) => folder.join(format!("{id}.jsonl")),
            Some(file) if file.extension().is_none_or(|end| end != "jsonl") => bail!(
                "{} is neither an existing folder nor a .jsonl file: the client would not take it for a session",
                file.display()
            ),
            Some(file) => {
                let stem = file.file_stem().unwrap_or_default().to_string_lossy();
                if ids::uuid(&stem).is_some() {
                    id = stem.into_owned();
                } else {
                    notes.push(format!(
                        "the client goes on in {id}.jsonl beside the file: it names a session's file by its id"
                    ));
                }
                file.to_path_buf()
            }
        };
        let path = std::path::absolute(&path)
            .with_context(|| format!("{} can't be a file's path", path.display()))?;
        if path.to_str().is_none() {
            bail!(
                "{} is not UTF-8: what lies there could not be found again to remove it; give another place with --out",
                path.display()
            );
        }
        if path.symlink_metadata().is_ok() {
            bail!("{} exists already; choose another name", path.display());
        }
        let by_id = own.is_some_and(|own| path == own.join(format!("{id}.jsonl")));
        Ok(Self { id, path, by_id, notes })
    }
}

/// The client's folder of the session's project.
fn own_folder(env: &Env, plan: &Plan) -> Option<PathBuf> {
    client_folder(env, cwd(plan)?)
}

/// Claude Code's folder of the sessions that ran in `cwd`.
pub fn client_folder(env: &Env, cwd: &str) -> Option<PathBuf> {
    Some(config_folder(env)?.join("projects").join(new_file::project_name(cwd)))
}

/// The folder in which the new session goes on.
pub fn cwd(plan: &Plan) -> Option<&str> {
    let began = || plan.sessions.iter().find_map(|session| session.cwd.as_deref());
    plan.folder.as_deref().or_else(began)
}
