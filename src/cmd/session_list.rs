//! `sessions`: lists sessions, the newest first. Figures come from the index; of files that are not
//! imported, only the beginning is read.

mod files;
mod view;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::files::{find_files, head};
use super::look::Look;
use super::surgery::source::Store;
use super::{Context, Exit, Run, import, selector, show};
use crate::cli::{SessionSelector, SessionsArgs};
use base::clock::Time;
use base::env::Env;
use base::paths;
use sessions::round::Session;
use store::index::Figures;

/// A session of the list.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Row {
    pub(crate) session: String,
    pub(crate) agent: Option<String>,
    pub(crate) project: Option<PathBuf>,
    pub(crate) started: Option<Time>,
    /// The time of its last row; if it is not imported, when its file was written.
    pub(crate) ended: Option<Time>,
    imported: bool,
    #[serde(flatten)]
    pub(crate) figures: Option<Numbers>,
    /// The session it was made from; for a subagent, the one that started it.
    pub(crate) made_from: Option<String>,
    pub(crate) file: Option<PathBuf>,
    /// Bytes of the file, if it is not imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

impl Row {
    /// Whether a subagent ran the session.
    pub(crate) fn is_subagent(&self) -> bool {
        is_of_subagent(&self.session, self.file.as_deref())
    }
}

/// The figures of an imported session.
#[derive(Debug, Serialize)]
pub(crate) struct Numbers {
    pub(crate) rounds: u32,
    /// Tokens of the context.
    pub(crate) tokens: u64,
    pub(crate) engagements: BTreeSet<String>,
}

/// The sessions of a project, or all.
#[derive(Debug, Serialize)]
pub struct SessionList {
    /// How many there are.
    total: usize,
    not_imported: usize,
    pub(crate) sessions: Vec<Row>,
    /// The project, unless all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<PathBuf>,
    #[serde(skip)]
    home: Option<PathBuf>,
    #[serde(skip)]
    look: Look,
}

/// What a line of the list is about.
enum Item {
    Imported(Box<Session>),
    File { path: PathBuf, written: Time, bytes: u64 },
}

impl Item {
    fn newest(&self) -> Option<Time> {
        match self {
            Self::Imported(session) => session.ended.or(session.started),
            Self::File { written, .. } => Some(*written),
        }
    }
}

impl Run for SessionsArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        show(&SessionList::of(env, self, Look::of(env))?, self.json)?;
        Ok(Exit::Done)
    }
}

impl SessionList {
    /// The sessions that the arguments name.
    ///
    /// # Errors
    /// An unreadable index; no current folder.
    pub fn of(env: &Env, args: &SessionsArgs, look: Look) -> anyhow::Result<Self> {
        let here = || selector::project(env, &SessionSelector::default());
        let project = if args.all { None } else { Some(paths::resolve(&here()?)) };
        let folders = match &project {
            Some(project) => import::of_project(env, project),
            None => import::homes(env),
        };
        let folders: Vec<PathBuf> = folders.iter().map(|folder| paths::resolve(folder)).collect();
        let store = Store::open(env)?;
        store.tell_unknown()?;
        let imported = store.index.sessions()?;
        let known: HashSet<&str> = imported.iter().map(|session| session.id.as_str()).collect();
        let files = find_files(&folders, args.agents, &known);
        let not_imported = files.len();
        let is_here = |session: &Session| match &project {
            None => true,
            Some(project) => {
                let source = session.source.as_deref().map(Path::new);
                let is_below = |path: &Path| folders.iter().any(|folder| path.starts_with(folder));
                source.is_some_and(is_below)
                    || session.cwd.as_deref().is_some_and(|cwd| Path::new(cwd) == project)
            }
        };
        let mut items: Vec<Item> = files;
        items.extend(
            imported
                .into_iter()
                .filter(|session| is_here(session) && (args.agents || !is_subagent(session)))
                .map(|session| Item::Imported(Box::new(session))),
        );
        let total = items.len();
        items.sort_by_key(|item| std::cmp::Reverse(item.newest()));
        items.truncate(args.limit);
        let sessions = rows(&store, items)?;
        Ok(Self { total, not_imported, sessions, project, home: env.home(), look })
    }
}

/// How many sessions of any project are not imported.
///
/// # Errors
/// An unreadable index.
pub(crate) fn not_imported(env: &Env, store: &Store) -> anyhow::Result<usize> {
    let folders: Vec<PathBuf> =
        import::homes(env).iter().map(|home| paths::resolve(home)).collect();
    let imported = store.index.sessions()?;
    let known = imported.iter().map(|session| session.id.as_str()).collect();
    Ok(find_files(&folders, false, &known).len())
}

/// Whether a subagent ran the session.
fn is_subagent(session: &Session) -> bool {
    is_of_subagent(&session.id, session.source.as_deref().map(Path::new))
}

fn is_of_subagent(id: &str, file: Option<&Path>) -> bool {
    id.starts_with("agent-") || file.is_some_and(files::is_subagents)
}

/// The rows of a list, with the figures of what is imported.
fn rows(store: &Store, items: Vec<Item>) -> anyhow::Result<Vec<Row>> {
    let imported: Vec<&Session> = items
        .iter()
        .filter_map(|item| match item {
            Item::Imported(session) => Some(&**session),
            Item::File { .. } => None,
        })
        .collect();
    let mut figures = store.index.figures(&imported)?.into_iter();
    let row = |item| match item {
        Item::Imported(session) => imported_row(*session, figures.next().unwrap_or_default()),
        Item::File { path, written, bytes } => head(path, written, bytes),
    };
    Ok(items.into_iter().map(row).collect())
}

fn imported_row(session: Session, figures: Figures) -> Row {
    let Figures { rounds, tokens, engagements } = figures;
    let tokens = session.used.unwrap_or_else(|| session.base.unwrap_or(0) + tokens);
    Row {
        session: session.id,
        agent: Some(session.agent),
        project: session.cwd.map(PathBuf::from),
        started: session.started,
        ended: session.ended,
        imported: true,
        figures: Some(Numbers { rounds, tokens, engagements }),
        made_from: session.parent.map(files::id_of_parent),
        file: session.source.map(PathBuf::from),
        bytes: None,
    }
}
