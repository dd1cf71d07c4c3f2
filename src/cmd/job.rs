//! `job`: which job a session works on, and what became of each.

mod view;

use std::path::Path;

use anyhow::Context as _;

use super::{Context, Exit, Failure, Run, operator, out, selector, show};
use crate::cli::{JobArgs, JobVerb, SessionSelector};
use base::clock::Time;
use base::paths::{Places, safe_name};
use guard::boundary::Delivery;
use guard::files::jobs;
use guard::files::origin::{self, Origin};
use guard::hook::boundary_flow;
use guard::hook::facts::{self, Facts};
use guard::job::Holder;
use guard::job::refusal::Refusal;
use guard::job::transition::{Done, Transition, Verb};
use guard::settings::{Settings, trust};

impl Run for JobArgs {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        if let Some(wrong) = named(&self.what).filter(|name| !usable(name)) {
            return Err(Failure::usage(format_args!(
                "{wrong:?} can't be a job's name: it is a folder's as well, so letters, digits, `-`, `_` and `.`, at most 100 of them, the first and the last a letter or digit"
            ))
            .into());
        }
        let change = |verb, name| change(context, &self.selector, verb, name);
        let around = || Around::of(context, &self.selector);
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
                out(accepted(&around()?.places, name)?);
            }
            JobVerb::Restore { name, version } => {
                out(restore(&around()?, name.as_deref(), *version)?);
            }
        }
        Ok(Exit::Done)
    }
}

fn named(what: &JobVerb) -> Option<&str> {
    match what {
        JobVerb::Focus { name, .. } | JobVerb::Accept { name } => Some(name),
        JobVerb::Resume { name } | JobVerb::Show { name, .. } | JobVerb::Restore { name, .. } => {
            name.as_deref()
        }
        JobVerb::Pause | JobVerb::Complete | JobVerb::List { .. } => None,
    }
}

/// Whether a name may become a folder's, on any disk, and can be typed.
fn usable(name: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    safe_name(name) && name.len() <= 100 && edge(bytes.first()) && edge(bytes.last())
}

/// A verb that moves the session's job.
fn change(
    Context { env, now }: Context,
    selector: &SessionSelector,
    verb: Verb,
    name: Option<&str>,
) -> anyhow::Result<()> {
    let found = selector::find(env, selector)?;
    let facts = selector::facts(env, now, &found)?;
    let moved = jobs::run(&facts.asker(), verb, name).with_context(|| {
        format!("could not change the jobs in {}", facts.places.project.display())
    })?;
    out(told(&facts, verb, &moved.map_err(Failure::refused)?));
    Ok(())
}

/// What was done, and what comes next.
fn told(facts: &Facts, verb: Verb, moved: &Transition) -> String {
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
    format!("{done}; {}", next(facts, verb, moved))
}

/// What the agent does now.
fn next(facts: &Facts, verb: Verb, moved: &Transition) -> String {
    let Some(delivery) = moved.crosses else {
        let read =
            verb == Verb::Focus { no_clear: true } && matches!(moved.done, Done::Taken { .. });
        let read = if read { "not cleared for it: read its file and " } else { "" };
        return format!("{read}go on with it");
    };
    let (Done::Taken { job, .. } | Done::Created(job) | Done::Completed { job, .. }) = &moved.done
    else {
        return "go on".into();
    };
    match (boundary_flow::why_no_boundary(facts, job, Some(true), true), delivery) {
        (None, Delivery::Transition) => {
            "end your turn now; a fresh session begins, and its Prior Summary is all that crosses"
                .into()
        }
        (None, _) => "end your turn now; a fresh session starts from its file".into(),
        (Some(refusal), Delivery::Transition) => format!(
            "no fresh session: {}. This one has no job now; go on with what the user asked for next, or say that it is done",
            refusal.why
        ),
        (Some(refusal), Delivery::Reload) => format!(
            "no fresh session: {}. This one works on it now: read its file and go on with it",
            refusal.why
        ),
        (Some(refusal), Delivery::Template | Delivery::Sealed) => {
            format!("no fresh session: {}. This one works on it now: go on with it", refusal.why)
        }
    }
}

/// A project's jobs, and the session that asks where there is one.
struct Around {
    now: Time,
    places: Places,
    settings: Settings,
    /// The job of the session that asks.
    own: Option<String>,
    /// That session, as jobs know who works on them.
    me: Option<Holder>,
}

impl Around {
    fn of(Context { env, now }: Context, selector: &SessionSelector) -> anyhow::Result<Self> {
        // With several live sessions none is meant, and none is needed.
        let found = if selector.session.is_some() {
            selector::find_any(env, selector)?
        } else {
            selector::find_any(env, selector).ok().flatten()
        };
        let facts = found.as_ref().and_then(|found| selector::facts(env, now, found).ok());
        let project = selector::project(env, selector)?;
        let mut places = selector::places(env, &project)?;
        let (settings, _) = facts::read_settings(&places, env);
        places.trusted = trust::accepts(&settings.trust, env.home().as_deref(), &places.project);
        let own = facts.as_ref().and_then(|facts| facts.asker().job());
        let me = facts.as_ref().map(|facts| facts.asker().holder());
        Ok(Self { now, places, settings, own, me })
    }

    fn of_session(facts: &Facts) -> Self {
        Self {
            now: facts.now,
            places: facts.places.clone(),
            settings: facts.settings.clone(),
            own: facts.asker().job(),
            me: None,
        }
    }

    /// The job that is named, by the name it goes by now, or the session's.
    ///
    /// # Errors
    /// There is none; the message says which there are.
    fn job(&self, name: Option<&str>) -> Result<String, Failure> {
        let named = name.map(|name| jobs::name_now(&self.places, name));
        let Some(job) = named.or_else(|| self.own.clone()) else {
            return Err(Failure::usage(format_args!("which job? {}", self.known())));
        };
        if safe_name(&job) && jobs::exists(&self.places, &job) {
            Ok(job)
        } else {
            Err(Failure::not_found(format_args!("there is no job {job}")).hint(self.known()))
        }
    }

    /// The jobs that wait for the user to accept them.
    fn brought(&self) -> String {
        match origin::found(&self.places).join(", ") {
            none if none.is_empty() => "the repository brought none".into(),
            found => format!("the repository brought: {found}"),
        }
    }

    fn known(&self) -> String {
        match jobs::all(&self.places).join(", ") {
            none if none.is_empty() => "there is none yet; the first note makes one".into(),
            known => format!("there are: {known}"),
        }
    }
}

/// `list`, `show [NAME]` and `accept NAME` as the answer to the slash command.
pub fn at_the_prompt(facts: &Facts, args: &str) -> String {
    let around = Around::of_session(facts);
    let mut words = args.split_whitespace();
    let shown = match (words.next(), words.next()) {
        (Some("accept"), Some(name)) => {
            operator::refuse_prompt_of_agent(&facts.places, "job accept")
                .and_then(|()| accepted(&facts.places, name))
                .unwrap_or_else(|why| why.to_string())
        }
        (Some("accept"), None) => {
            format!("name the job: /brain-guard:job accept NAME; {}", around.brought())
        }
        (Some("show"), name) => match view::Job::of(&around, name) {
            Ok(job) => job.to_string(),
            Err(_) => format!("there is no such job; {}", around.known()),
        },
        _ => view::Jobs::of(&around).to_string(),
    };
    format!("brain-guard\n{}", shown.trim_end())
}

/// Accepts a job as its files stand, and says what follows.
///
/// # Errors
/// There is no such job, or nothing to accept.
fn accepted(places: &Places, name: &str) -> Result<String, Failure> {
    let job = jobs::name_now(places, name);
    if !usable(&job) || !jobs::exists(places, &job) {
        let name = base::plain::line(name, 100);
        let place = places.project.display();
        return Err(Failure::not_found(format_args!("there is no job {name} in {place}")));
    }
    let before = origin::origin(places, &job);
    if before == Origin::Own {
        let what = format!("the job {job} was made here");
        return Err(Failure::refused(what).hint("there is nothing to accept"));
    }
    jobs::check(places, &job)
        .and_then(|()| places.ensure_state())
        .and_then(|()| origin::accept(places, &job))
        .map_err(|e| Failure::refused(format_args!("the job {job} can't be accepted: {e}")))?;
    Ok(match before {
        Origin::Changed => format!("the notes of the job {job} count as yours again"),
        _ => format!(
            "accepted the job {job}; its notes are handed to the agent as text of the repository. To work on it: /brain-guard:job focus {job}"
        ),
    })
}

/// Makes a sealed version the job's file again, and says what was there.
fn restore(around: &Around, name: Option<&str>, number: u64) -> anyhow::Result<String> {
    let job = around.job(name)?;
    let Around { places, settings, .. } = around;
    if let Some(by) = jobs::holder(places, &job)
        && around.me.as_ref().is_none_or(|me| !by.is(me))
    {
        let by = guard::job::refusal::named(&by);
        return Err(Failure::refused(format_args!("{by} works on the job {job}"))
            .hint("restore there, or `brain-guard job pause` there first")
            .into());
    }
    let Some(text) = jobs::version(places, &job, number)? else {
        return Err(view::no_version(around, &job, number).into());
    };
    if origin::is_found(places, &job) {
        return Err(Failure::refused(Refusal::Found { job }).into());
    }
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
