//! Which session a verb is about; all verbs name it the same way. A name is an id, the beginning of
//! one, a session's file, or `this`. Without one it is the session this runs in, else the project's
//! latest.

mod stored;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;

use self::stored::stored_file;
use super::output::is_captured;
use super::overview::Overview;
use super::{Failure, err, import, out};
use crate::cli::SessionSelector;
use base::clock::{self, Time};
use base::env::{self, Env};
use base::paths::{Places, is_safe_name, project_root};
use guard::files::jobs::Open;
use guard::files::state;
use guard::hook::facts::Facts;
use guard::hook::jobs;
use guard::hook::standing;

/// The hint of errors: how to name a session.
pub const NAMES: &str = "name a session: its id, the beginning of it, or its file";

/// A session's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// `this`: the session this runs in, by its id.
    This(String),
    /// Its file.
    File(PathBuf),
    /// Its id, or the beginning of one.
    Id(String),
}

impl Name {
    /// Parses a name.
    ///
    /// # Errors
    /// An empty name; `this` outside a session.
    pub fn parse(env: &Env, text: &str) -> Result<Self, Failure> {
        match text {
            "" => Err(Failure::not_found("the session's name is empty").hint(NAMES)),
            "this" => match env.path(env::PI_SESSION_FILE) {
                Some(file) if env.get(env::SESSION_ID).is_none() => Ok(Self::File(file)),
                _ => this(env).map(Self::This),
            },
            path if path.contains('/') || Path::new(path).extension().is_some() => {
                Ok(Self::File(PathBuf::from(path)))
            }
            id => Ok(Self::Id(id.to_owned())),
        }
    }

    /// The id, or its beginning. For a file, the id in its name.
    pub fn id(self) -> String {
        match self {
            Self::This(id) | Self::Id(id) => id,
            Self::File(file) => import::ids(&file).pop().unwrap_or_default(),
        }
    }

    /// Whether this name may mean the session with this id.
    pub fn fits(&self, id: &str) -> bool {
        match self {
            Self::This(this) => id == this,
            Self::File(file) => import::ids(file).iter().any(|own| own == id),
            Self::Id(start) => id.starts_with(start),
        }
    }
}

/// The id of the session that this runs in.
///
/// # Errors
/// It runs in no session.
pub fn this(env: &Env) -> Result<String, Failure> {
    env.get(env::SESSION_ID).ok_or_else(|| {
        let what =
            "this runs in no session (neither CLAUDE_CODE_SESSION_ID nor PI_SESSION_FILE is set)";
        Failure::not_found(what).hint(NAMES)
    })
}

/// A name for the store and for the clients' folders: a file, an id, or the beginning of one.
///
/// # Errors
/// As [`Name::parse`]; no name, and the project has no session.
pub fn named(env: &Env, name: Option<&str>) -> anyhow::Result<String> {
    if let Some(name) = name {
        return Ok(match Name::parse(env, name)? {
            Name::This(id) | Name::Id(id) => id,
            Name::File(file) => file.to_string_lossy().into_owned(),
        });
    }
    if let Some(id) = env.get(env::SESSION_ID).or_else(|| env.get(env::PI_SESSION_FILE)) {
        return Ok(id);
    }
    let project = project(env, &SessionSelector::default())?;
    // A session that an undo left behind may be newer than the one that runs.
    let live = state::live(&places(env, &project)?).unwrap_or_default();
    if let [id] = &live[..]
        && matches!(import::find(env, id), Ok(Some(_)))
    {
        if !is_captured() {
            err(format_args!("no session was named; this is the project's running one, {id}"));
        }
        return Ok(id.clone());
    }
    let file = latest_file(env, &project).ok_or_else(|| {
        Failure::not_found(format_args!("no session of {} was found", project.display()))
            .hint(NAMES)
    })?;
    let id = import::ids(&file).pop().unwrap_or_default();
    // The viewer shows which one it is.
    if !is_captured() {
        err(format_args!("no session was named; this is the project's latest, {id}"));
    }
    Ok(id)
}

/// The session file of a project that was written last, without subagents' files.
fn latest_file(env: &Env, project: &Path) -> Option<PathBuf> {
    let files = import::of_project(env, project);
    let files = files.iter().flat_map(|folder| import::below(folder, &mut |_, _| {}));
    let main = files.filter(|file| !file.components().any(|part| part.as_os_str() == "subagents"));
    main.max_by_key(|file| {
        file.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    })
}

/// The file of a session, by any name.
///
/// # Errors
/// No such session, or several.
pub fn file(env: &Env, name: &str) -> anyhow::Result<PathBuf> {
    let id = match Name::parse(env, name)? {
        Name::File(file) => return Ok(file),
        Name::This(id) | Name::Id(id) => id,
    };
    // A file in the current folder may have a name like an id.
    if Path::new(&id).is_file() {
        return Ok(PathBuf::from(id));
    }
    let found = match import::find(env, &id)? {
        None => stored_file(env, &id)?,
        found => found,
    };
    Ok(found.ok_or_else(|| {
        let looked = import::join_paths(&import::homes(env));
        Failure::not_found(format_args!(
            "no session {id} found in\n  {looked}\n`brain-guard sessions` lists the project's; or give the path of its file"
        ))
    })?)
}

/// A project, and a session of it by id.
#[derive(Debug)]
pub struct Found {
    /// The project's root.
    pub project: PathBuf,
    /// The session.
    pub session: String,
}

/// The project a command is about: the named one, else that of the session this runs in, else the
/// current folder's.
///
/// # Errors
/// No current folder.
pub fn project(env: &Env, selector: &SessionSelector) -> anyhow::Result<PathBuf> {
    if let Some(dir) = &selector.project {
        return Ok(dir.clone());
    }
    let session = env.get(env::SESSION_ID).filter(|_| selector.session.is_none());
    let of_session = session.and_then(|id| places_of_session(env, &id));
    if let Some(project) = of_session.map(|places| places.project).filter(|path| path.is_dir()) {
        return Ok(project);
    }
    Ok(project_root(env, &env.cwd().context("the current folder is gone")?))
}

/// The sessions that run, in all projects.
pub fn running(here: &Places) -> impl Iterator<Item = Found> {
    let all = here.all_states().into_iter().map(|state| here.for_state(&state));
    all.flat_map(|places| {
        let live = state::live(&places).unwrap_or_default();
        live.into_iter().map(move |session| Found { project: places.project.clone(), session })
    })
}

/// How to find the sessions that run elsewhere, as a part of a hint.
fn elsewhere(here: &Places) -> &'static str {
    if running(here).next().is_none() {
        return "";
    }
    "; `brain-guard status --all` lists the sessions that run"
}

/// The only running session that is wanted.
fn only(here: &Places, wanted: impl Fn(&Found) -> bool) -> Option<Found> {
    let mut fitting = running(here).filter(wanted);
    let only = fitting.next()?;
    fitting.next().is_none().then_some(only)
}

/// The only live session of the projects below this one, where none is live.
fn live_below(selector: &SessionSelector, here: &Places) -> Option<Found> {
    let here_is_above =
        |other: &Found| other.project != here.project && other.project.starts_with(&here.project);
    let only = only(here, here_is_above).filter(|_| selector.project.is_none())?;
    err(format_args!("no live session here; this is the one in {}", only.project.display()));
    Some(only)
}

/// Where the state of a session is, in whatever project it began; `None` if no hook has seen it.
pub fn places_of_session(env: &Env, session: &str) -> Option<Places> {
    if !is_safe_name(session) {
        return None;
    }
    let here = Places::for_project(env, &project_root(env, &env.cwd()?))?;
    let knows = |places: &Places| places.session(session, "json").exists();
    if knows(&here) {
        return Some(here);
    }
    here.all_states().iter().map(|state| here.for_state(state)).find(knows)
}

/// The paths of a project's files and of its state.
///
/// # Errors
/// HOME is not set.
pub fn places(env: &Env, project: &Path) -> anyhow::Result<Places> {
    let places = Places::for_project(env, project)
        .context("HOME is not set, so there is no place for state; set it to your home folder")?;
    if let Err(e) = guard::files::moved::take_along(&places) {
        err(format_args!("the jobs of this folder's former path could not be taken along: {e}"));
    }
    Ok(places)
}

/// The session that a verb acts on: the named one, else the one this runs in, else the project's
/// only session with a live client.
///
/// # Errors
/// No session or several; the message lists them and says how to name one.
pub fn find(env: &Env, selector: &SessionSelector) -> anyhow::Result<Found> {
    find_wanted(env, selector, |_| true)
}

/// Like [`find`], but of several live sessions it takes the only one that is wanted.
///
/// # Errors
/// As [`find`].
pub fn find_wanted(
    env: &Env,
    selector: &SessionSelector,
    is_wanted: impl Fn(&Found) -> bool,
) -> anyhow::Result<Found> {
    let project = project(env, selector)?;
    if let Some(found) = named_session(env, selector, &project)? {
        return Ok(found);
    }
    let places = places(env, &project)?;
    let mut live = state::live(&places)?;
    match live.len() {
        1 => Ok(Found { project, session: live.remove(0) }),
        0 => {
            if let Some(found) = live_below(selector, &places) {
                return Ok(found);
            }
            let last = last(&places).map(|id| format!(" (the last one here was {id})"));
            let what = format!("no live session in {}", project.display());
            let hint = "run this in a project where Claude Code runs with the plugin, or name one with --session";
            let hint = format!("{hint}{}{}", last.unwrap_or_default(), elsewhere(&places));
            Err(Failure::not_found(what).hint(hint).into())
        }
        _ => {
            let all = live.into_iter().map(|session| Found { project: project.clone(), session });
            let mut wanted: Vec<Found> = all.filter(|found| is_wanted(found)).collect();
            if wanted.len() == 1 {
                return Ok(wanted.remove(0));
            }
            let what = format!("several live sessions in {}", project.display());
            let all = Overview::of_project(env, clock::now(), &places);
            let hint = format!("name one with --session ID:\n{all}");
            Err(Failure::not_found(what).hint(hint).into())
        }
    }
}

/// The session that a verb shows. Like [`find`], but without a single live session it takes the
/// project's latest, and prints a line that says so.
///
/// # Errors
/// A name that matches no session or several; a project without sessions.
pub fn find_or_last(env: &Env, selector: &SessionSelector) -> anyhow::Result<Found> {
    let project = project(env, selector)?;
    if let Some(found) = named_session(env, selector, &project)? {
        return Ok(found);
    }
    let places = places(env, &project)?;
    let mut live = state::live(&places)?;
    if live.len() == 1 {
        return Ok(Found { project, session: live.remove(0) });
    }
    if live.is_empty()
        && let Some(found) = live_below(selector, &places)
    {
        return Ok(found);
    }
    let session = last_at_work(&places, &live).or_else(|| last(&places)).ok_or_else(|| {
        let what = format!("no session yet in {}", project.display());
        Failure::not_found(what).hint(format!(
            "start Claude Code with the plugin there, or name a project with --project{}",
            elsewhere(&places)
        ))
    })?;
    err(match live.len() {
        0 => format!("no live session here; this is the last one, {session}"),
        _ => format!(
            "{}\n\nthis is the one that was last at work, {session}; --session names another",
            Overview::of_project(env, clock::now(), &places),
        ),
    });
    Ok(Found { project, session })
}

/// Like [`find`], but returns `None` without a live session.
///
/// # Errors
/// As [`find`], except "no live session".
pub fn find_any(env: &Env, selector: &SessionSelector) -> anyhow::Result<Option<Found>> {
    let nobody = selector.session.is_none() && env.get(env::SESSION_ID).is_none() && {
        let places = Places::for_project(env, &project(env, selector)?);
        places.is_none_or(|places| state::live(&places).is_ok_and(|live| live.is_empty()))
    };
    if nobody { Ok(None) } else { find(env, selector).map(Some) }
}

/// The named session, or the one this runs in. A name must match a session that there is, because a
/// typo would lose a note. An id from the hook is trusted.
fn named_session(
    env: &Env,
    selector: &SessionSelector,
    project: &Path,
) -> anyhow::Result<Option<Found>> {
    let here = |session: String| Some(Found { project: project.to_owned(), session });
    let Some(text) = &selector.session else {
        let this = env.get(env::SESSION_ID);
        return Ok(this.map(|id| usable(&id).map(|()| id)).transpose()?.and_then(here));
    };
    let name = Name::parse(env, text)?;
    if let Name::This(id) | Name::Id(id) = &name {
        usable(id)?;
        if selector.call.is_some() {
            return Ok(here(id.clone()));
        }
    }
    let Some(places) = Places::for_project(env, project) else { return Ok(here(name.id())) };
    let all = state::all(&places)?;
    if let Name::This(id) | Name::Id(id) = &name
        && all.contains(id)
    {
        return Ok(here(id.clone()));
    }
    let mut fitting: Vec<_> = all.iter().filter(|id| name.fits(id)).cloned().collect();
    let place = project.display();
    match fitting.len() {
        1 => Ok(fitting.pop().and_then(here)),
        0 => {
            if selector.project.is_none()
                && let Some(found) = only(&places, |other| name.fits(&other.session))
            {
                return Ok(Some(found));
            }
            let list = if all.is_empty() {
                "none".to_owned()
            } else {
                format!("\n  {}", all.join("\n  "))
            };
            let what = format!("no session {text} in {place}");
            Err(Failure::not_found(what)
                .hint(format_args!("sessions that ran with the plugin there: {list}"))
                .into())
        }
        _ => {
            let what = format!("several sessions in {place} begin with {text}");
            let list = fitting.join("\n  ");
            Err(Failure::not_found(what).hint(format_args!("write more of it:\n  {list}")).into())
        }
    }
}

/// Checks that an id is safe as a file name.
fn usable(id: &str) -> anyhow::Result<()> {
    if is_safe_name(id) {
        return Ok(());
    }
    Err(Failure::usage(format_args!("{id:?} is not a session id")).into())
}

/// Of several live sessions, the one that was last at work.
fn last_at_work(places: &Places, live: &[String]) -> Option<String> {
    let at_work = live.iter().filter_map(|id| {
        let session = state::load(places, id).ok()??;
        Some((session.turn.max(session.over), session.started, id))
    });
    at_work.max().map(|(.., id)| id.clone())
}

/// The session whose start or end of a turn is the latest, live or not.
fn last(places: &Places) -> Option<String> {
    let all = state::all(places).ok()?.into_iter();
    let at_work = all.filter_map(|id| {
        let session = state::load(places, &id).ok()??;
        Some((session.started?.max(session.over.unwrap_or_default()), id))
    });
    at_work.max().map(|(_, id)| id)
}

/// The facts of the session a command is about.
///
/// # Errors
/// As [`find`]; HOME is not set.
pub fn facts<'a>(env: &'a Env, now: Time, found: &'a Found) -> anyhow::Result<Facts<'a>> {
    Facts::for_session(env, now, &found.project, &found.session)
        .context("HOME is not set, so there is no place for state; set it to your home folder")
}

/// The same of a session that has not ended, for a verb that changes what it does next.
///
/// # Errors
/// As [`facts`]; the session has ended.
pub fn running_facts<'a>(env: &'a Env, now: Time, found: &'a Found) -> anyhow::Result<Facts<'a>> {
    let facts = facts(env, now, found)?;
    match standing::describe_end(&facts) {
        None => Ok(facts),
        Some(end) => Err(Failure::refused(format_args!("session {} {end}", found.session))
            .hint("`claude --continue` goes on with the last one; `brain-guard status --all` lists those that run")
            .into()),
    }
}

/// The job the session works on. Where no hook has run, it is the session's default job.
pub fn job(facts: &Facts) -> String {
    facts.asker().job()
}

/// Opens the file of the session's job for writing. Prints a line if notes go to another job.
///
/// # Errors
/// This session may not write it; an I/O error.
pub fn open(facts: &mut Facts) -> anyhow::Result<Open> {
    let path = facts.places.compaction(&job(facts));
    let opened = jobs::open_notes(facts)
        .with_context(|| format!("could not open {}{}", path.display(), accepted_form(facts)))?;
    let (open, instead) = opened.map_err(Failure::refused)?;
    if let Some(why) = instead {
        out(format_args!("{why}. This session works on the job {} now.", open.job));
    }
    Ok(open)
}

/// The form of a call that the hook executes, for an agent whose shell may not write the state.
fn accepted_form(facts: &Facts) -> &'static str {
    if facts.env.get(env::CLAUDECODE).is_some() && !is_captured() {
        " (run `brain-guard …` as the whole command, without pipes or expansion)"
    } else {
        ""
    }
}
