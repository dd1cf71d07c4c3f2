//! `job`: which job a session works on, and the state of each.

mod view;

use std::path::Path;

use anyhow::Context as _;

use super::{Context, Exit, Failure, Run, operator, out, selector, show};
use crate::cli::{JobArgs, JobVerb, SessionSelector};
use base::clock::Time;
use base::paths::{Places, is_safe_name};
use guard::boundary::Delivery;
use guard::files::{jobs, moved};
use guard::hook::facts::{self, Facts};
use guard::hook::jobs::{self as session_jobs, Crossing};
use guard::settings::Settings;
use notes::job::Holder;
use notes::job::transition::{Done, Transition, Verb};

impl Run for JobArgs {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        if let Some(wrong) = given_name(&self.what).filter(|name| !usable(name)) {
            return Err(Failure::usage(format_args!(
                "{wrong:?} can't be a job's name: use 1 to 100 letters, digits, `-`, `_` and `.`; the first and the last must be a letter or digit"
            ))
            .into());
        }
        let change = |verb, name| change(context, &self.selector, verb, name);
        let around = || JobContext::of(context, &self.selector);
        match &self.what {
            JobVerb::Focus { name, no_clear } => {
                change(Verb::Focus { no_clear: *no_clear }, Some(name))?;
            }
            JobVerb::Pause => change(Verb::Pause, None)?,
            JobVerb::Resume { name } => change(Verb::Resume, name.as_deref())?,
            JobVerb::Complete => change(Verb::Complete, None)?,
            JobVerb::List { json } => show(&view::Jobs::of(&around()?), *json)?,
            JobVerb::Show { name, version: Some(version), .. } => {
                out(view::version(&around()?, name.as_deref(), *version)?);
            }
            JobVerb::Show { name, json, .. } => {
                show(&view::Job::of(&around()?, name.as_deref())?, *json)?;
            }
            JobVerb::Accept { name } => {
                operator::refuse_agent(context.env, "job accept")?;
                out(accept_job(&around()?.places, name)?);
            }
            JobVerb::Restore { name, version } => {
                out(restore(&around()?, name.as_deref(), *version)?);
            }
        }
        Ok(Exit::Done)
    }
}

fn given_name(what: &JobVerb) -> Option<&str> {
    match what {
        JobVerb::Focus { name, .. } | JobVerb::Accept { name } => Some(name),
        JobVerb::Resume { name } | JobVerb::Show { name, .. } | JobVerb::Restore { name, .. } => {
            name.as_deref()
        }
        JobVerb::Pause | JobVerb::Complete | JobVerb::List { .. } => None,
    }
}

/// Whether a name can be a folder's on any disk, and can be typed.
fn usable(name: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    is_safe_name(name) && name.len() <= 100 && edge(bytes.first()) && edge(bytes.last())
}

/// Runs a verb that changes the session's job.
fn change(
    Context { env, now }: Context,
    selector: &SessionSelector,
    verb: Verb,
    name: Option<&str>,
) -> anyhow::Result<()> {
    let found = selector::find(env, selector)?;
    let mut facts = selector::facts(env, now, &found)?;
    let moved = jobs::run(&facts.asker(), verb, name).with_context(|| {
        format!("could not change the jobs in {}", facts.places.project.display())
    })?;
    let moved = moved.map_err(Failure::refused)?;
    let crossing = session_jobs::begin_next_work(&mut facts, &moved.next_work);
    out(describe_transition(&facts, verb, &moved, &crossing));
    Ok(())
}

/// What was done, and what comes next.
fn describe_transition(
    facts: &Facts,
    verb: Verb,
    moved: &Transition,
    crossing: &Crossing,
) -> String {
    let file = |job: &str| facts.places.compaction(job).display().to_string();
    let done = match &moved.done {
        Done::Stays(job) => {
            return format!("{job} is this session's job already ({}); go on", file(job));
        }
        Done::Adopted { from, to } => {
            return format!(
                "this session's notes are the job {to}'s now, in {} (until now {from}'s); go on",
                file(to)
            );
        }
        Done::Paused(job) => {
            return format!(
                "paused {job}; its file stays as it is ({}). This session has no job now, and a note would begin one; `brain-guard job resume` takes {job} up again, `brain-guard job focus NAME` another one",
                file(job)
            );
        }
        Done::Created(job) => format!("began the job {job} ({})", file(job)),
        Done::Taken { job, reopened: true, .. } => {
            format!("opened the completed job {job} again ({})", file(job))
        }
        Done::Taken { job, .. } => format!("took up the job {job} ({})", file(job)),
        Done::Completed { job, version } => {
            format!("completed {job}; its last sealed version is {version}")
        }
    };
    format!("{done}; {}", next_step(verb, moved, crossing))
}

/// What the agent does next.
fn next_step(verb: Verb, moved: &Transition, crossing: &Crossing) -> String {
    let Some(delivery) = moved.crosses else {
        let read =
            verb == Verb::Focus { no_clear: true } && matches!(moved.done, Done::Taken { .. });
        let read = if read { "not cleared for it: read its file and " } else { "" };
        return format!("{read}go on with it");
    };
    let why = match (crossing, delivery) {
        (Crossing::NotAsked, _) => return "go on".into(),
        (Crossing::Opened, Delivery::Transition) => {
            return "end your turn now; a fresh session starts with only its Prior Summary".into();
        }
        (Crossing::Opened, _) => {
            return "end your turn now; a fresh session starts from its file".into();
        }
        (Crossing::Refused(why), _) => why,
    };
    match delivery {
        Delivery::Transition => format!(
            "no fresh session: {why}. This one has no job now; go on with what the user asked for next, or say that it is done"
        ),
        Delivery::Reload => format!(
            "no fresh session: {why}. This one works on it now: read its file and go on with it"
        ),
        Delivery::Template | Delivery::Sealed => {
            format!("no fresh session: {why}. This one works on it now: go on with it")
        }
    }
}

/// A project's jobs, and the session that asks, if there is one.
struct JobContext {
    now: Time,
    places: Places,
    settings: Settings,
    /// The job of the session that asks.
    own: Option<String>,
    /// That session, in the form that jobs store.
    me: Option<Holder>,
}

impl JobContext {
    fn of(Context { env, now }: Context, selector: &SessionSelector) -> anyhow::Result<Self> {
        // Several live sessions are no error: no command here needs one.
        let found = if selector.session.is_some() {
            selector::find_any(env, selector)?
        } else {
            selector::find_any(env, selector).ok().flatten()
        };
        let facts = found.as_ref().and_then(|found| selector::facts(env, now, found).ok());
        let project = selector::project(env, selector)?;
        let places = selector::places(env, &project)?;
        let (settings, _) = facts::read_settings(&places, env);
        let own = facts.as_ref().map(|facts| facts.asker().job());
        let me = facts.as_ref().map(|facts| facts.asker().holder());
        Ok(Self { now, places, settings, own, me })
    }

    fn of_session(facts: &Facts) -> Self {
        Self {
            now: facts.now,
            places: facts.places.clone(),
            settings: facts.settings.clone(),
            own: Some(facts.asker().job()),
            me: None,
        }
    }

    /// The current name of the named job, or else the session's job.
    ///
    /// # Errors
    /// There is no such job; the message lists the jobs.
    fn job(&self, name: Option<&str>) -> Result<String, Failure> {
        let named = name.map(|name| jobs::current_name(&self.places, name));
        let Some(job) = named.or_else(|| self.own.clone()) else {
            return Err(Failure::usage(format_args!("which job? {}", self.list_jobs())));
        };
        if is_safe_name(&job) && jobs::exists(&self.places, &job) {
            Ok(job)
        } else {
            Err(Failure::not_found(format_args!("there is no job {job}")).hint(self.list_jobs()))
        }
    }

    /// Names the jobs that the user can accept.
    fn unaccepted_jobs(&self) -> String {
        match moved::left_jobs(&self.places).join(", ") {
            none if none.is_empty() => "no other folder was here before".into(),
            left => format!("those of the folder that was here before: {left}"),
        }
    }

    fn list_jobs(&self) -> String {
        match jobs::all(&self.places).join(", ") {
            none if none.is_empty() => "there is none yet; the first note makes one".into(),
            known => format!("there are: {known}"),
        }
    }
}

/// Answers the slash command: `list`, `show [NAME]` and `accept NAME`.
pub fn at_the_prompt(facts: &Facts, args: &str) -> String {
    let around = JobContext::of_session(facts);
    let mut words = args.split_whitespace();
    let shown = match (words.next(), words.next()) {
        (Some("accept"), Some(name)) => {
            operator::refuse_prompt_of_agent(&facts.places, "job accept")
                .and_then(|()| accept_job(&facts.places, name))
                .unwrap_or_else(|why| why.to_string())
        }
        (Some("accept"), None) => {
            format!("name the job: /brain-guard:job accept NAME; {}", around.unaccepted_jobs())
        }
        (Some("show"), name) => match view::Job::of(&around, name) {
            Ok(job) => job.to_string(),
            Err(_) => format!("there is no such job; {}", around.list_jobs()),
        },
        _ => view::Jobs::of(&around).to_string(),
    };
    format!("brain-guard\n{}", shown.trim_end())
}

/// Takes over a job of another folder that was here before, and says what follows.
///
/// # Errors
/// No such job, or one that is here already.
fn accept_job(places: &Places, name: &str) -> Result<String, Failure> {
    if usable(name) && jobs::exists(places, name) {
        let what = format!("the job {name} is this project's");
        return Err(Failure::refused(what).hint("there is nothing to accept"));
    }
    let accepted = if usable(name) { moved::accept(places, name) } else { Ok(false) };
    match accepted {
        Ok(true) => {
            Ok(format!("accepted the job {name}. To work on it: /brain-guard:job focus {name}"))
        }
        Ok(false) => {
            let (name, place) = (base::plain::line(name, 100), places.project.display());
            let what = format!("no other folder that was at {place} before has a job {name}");
            Err(Failure::not_found(what))
        }
        Err(e) => Err(Failure::refused(format_args!("the job {name} can't be accepted: {e}"))),
    }
}

/// Makes a sealed version the job's file again, and says where the replaced file is kept.
fn restore(around: &JobContext, name: Option<&str>, number: u64) -> anyhow::Result<String> {
    let job = around.job(name)?;
    let JobContext { places, settings, .. } = around;
    if let Some(by) = jobs::holder(places, &job)
        && around.me.as_ref().is_none_or(|me| !by.is_same_worker(me))
    {
        let by = notes::job::refusal::describe_holder(&by);
        return Err(Failure::refused(format_args!("{by} works on the job {job}"))
            .hint("restore there, or `brain-guard job pause` there first")
            .into());
    }
    let Some(text) = jobs::version(places, &job, number)? else {
        return Err(view::no_version(around, &job, number).into());
    };
    let live = places.compaction(&job);
    let kept = jobs::restore(places, &job, &text, &settings.file.shape, around.now)
        .with_context(|| format!("could not restore {}", live.display()))?;
    let live = live.display();
    Ok(match kept.as_deref().map(Path::display) {
        Some(kept) => {
            format!("version {number} is {live} again; what was there until now: {kept}")
        }
        None => format!("{live} is version {number}"),
    })
}
