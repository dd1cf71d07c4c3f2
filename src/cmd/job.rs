//! `job`: which job a session works on, and what became of each.

mod view;

use std::path::Path;

use anyhow::Context as _;

use super::whose;
use super::{Exit, err, out};
use crate::cli::{JobVerb, Whose};
use base::clock::Time;
use base::env::Env;
use base::paths::{Places, safe_name};
use guard::boundary::Delivery;
use guard::files::jobs;
use guard::files::origin::{self, Origin};
use guard::hook::crossing;
use guard::hook::facts::{self, Facts};
use guard::job::refusal::Refusal;
use guard::job::transition::{Done, Transition, Verb};
use guard::settings::{Settings, trust};

/// Runs the verb.
///
/// # Errors
/// No session, or what the system says of the files.
pub fn run(env: &Env, now: Time, whose: &Whose, what: &JobVerb) -> anyhow::Result<Exit> {
    if let Some(wrong) = named(what).filter(|name| !usable(name)) {
        err(format_args!(
            "{wrong:?} can't be a job's name: it is a folder's as well, so letters, digits, `-`, `_` and `.`, at most 100 of them, the first and the last a letter or digit"
        ));
        return Ok(Exit::Usage);
    }
    match what {
        JobVerb::Focus { name, no_clear } => {
            change(env, now, whose, Verb::Focus { no_clear: *no_clear }, Some(name))
        }
        JobVerb::Pause => change(env, now, whose, Verb::Pause, None),
        JobVerb::Resume { name } => change(env, now, whose, Verb::Resume, name.as_deref()),
        JobVerb::Complete => change(env, now, whose, Verb::Complete, None),
        JobVerb::List { json } => view::list(env, now, whose, *json),
        JobVerb::Show { name, version: Some(version), .. } => {
            view::version(env, now, whose, name.as_deref(), *version)
        }
        JobVerb::Show { name, json, .. } => view::show(env, now, whose, name.as_deref(), *json),
        JobVerb::Accept { name } => accept(env, whose, name),
        JobVerb::Restore { name, version } => restore(env, now, whose, name.as_deref(), *version),
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
    env: &Env,
    now: Time,
    whose: &Whose,
    verb: Verb,
    name: Option<&str>,
) -> anyhow::Result<Exit> {
    let found = whose::find(env, whose)?;
    let facts = whose::facts(env, now, &found)?;
    let moved = jobs::run(&facts.asker(), verb, name).with_context(|| {
        format!("could not change the jobs in {}", facts.places.project.display())
    })?;
    match moved {
        Ok(moved) => {
            out(told(&facts, verb, &moved));
            Ok(Exit::Done)
        }
        Err(refusal) => {
            err(refusal);
            Ok(Exit::Refused)
        }
    }
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
    match (crossing::why_no_boundary(facts, job, Some(true), true), delivery) {
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
    places: Places,
    settings: Settings,
    found: Option<whose::Found>,
}

impl Around {
    fn of(env: &Env, whose: &Whose) -> anyhow::Result<Self> {
        // With several live sessions none is meant, and none is needed.
        let found = if whose.session.is_some() {
            whose::find_any(env, whose)?
        } else {
            whose::find_any(env, whose).ok().flatten()
        };
        let project = whose::project(env, whose)?;
        let mut places =
            Places::of(env, &project).context("HOME is not set; set it to your home folder")?;
        let (settings, _) = facts::read_settings(&places, env);
        places.trusted = trust::accepts(&settings.trust, env.home().as_deref(), &places.project);
        Ok(Self { places, settings, found })
    }

    fn facts<'a>(&'a self, env: &'a Env, now: Time) -> Option<Facts<'a>> {
        let found = self.found.as_ref()?;
        whose::facts(env, now, found).ok()
    }

    /// The job that is named, by the name it goes by now, or the session's; an error
    /// says which there are.
    fn job(&self, env: &Env, now: Time, name: Option<&str>) -> Result<String, String> {
        let own = || self.facts(env, now).and_then(|facts| facts.asker().job());
        let Some(job) = name.map(|name| jobs::name_now(&self.places, name)).or_else(own) else {
            return Err(format!("which job? {}", self.known()));
        };
        if jobs::exists(&self.places, &job) {
            Ok(job)
        } else {
            Err(format!("there is no job {job}; {}", self.known()))
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

/// `list` and `show [NAME]` as the answer to the slash command.
pub fn at_the_prompt(facts: &Facts, args: &str) -> String {
    let around =
        Around { places: facts.places.clone(), settings: facts.settings.clone(), found: None };
    let own = facts.asker().job();
    let mut words = args.split_whitespace();
    let shown = match (words.next(), words.next()) {
        (Some("accept"), Some(name)) => whose::typed_by_operator(&facts.places, "job accept")
            .and_then(|()| accepted(&facts.places, name))
            .unwrap_or_else(|why| why),
        (Some("accept"), None) => {
            format!("name the job: /brain-guard:job accept NAME; {}", around.brought())
        }
        (Some("show"), name) => {
            let name = name.map(|name| jobs::name_now(&around.places, name)).or(own.clone());
            match name.filter(|name| safe_name(name) && jobs::exists(&around.places, name)) {
                Some(name) => view::described(&around, &name, own.as_deref()),
                None => format!("there is no such job; {}", around.known()),
            }
        }
        _ => view::table(&around, own.as_deref()),
    };
    format!("brain-guard\n{shown}")
}

fn accept(env: &Env, whose: &Whose, name: &str) -> anyhow::Result<Exit> {
    if let Err(refused) = whose::operator_only(env, "job accept") {
        return Ok(refused);
    }
    let around = Around::of(env, whose)?;
    match accepted(&around.places, name) {
        Ok(done) => {
            out(done);
            Ok(Exit::Done)
        }
        Err(why) => {
            err(why);
            Ok(Exit::Refused)
        }
    }
}

/// Accepts a job as its files stand, and says what follows.
fn accepted(places: &Places, name: &str) -> Result<String, String> {
    let job = jobs::name_now(places, name);
    if !usable(&job) || !jobs::exists(places, &job) {
        let name = base::plain::line(name, 100);
        return Err(format!("there is no job {name} in {}", places.project.display()));
    }
    let before = origin::origin(places, &job);
    if before == Origin::Own {
        return Err(format!("the job {job} was made here; there is nothing to accept"));
    }
    jobs::check(places, &job)
        .and_then(|()| places.ensure_state())
        .and_then(|()| origin::accept(places, &job))
        .map_err(|e| format!("the job {job} can't be accepted: {e}"))?;
    Ok(match before {
        Origin::Changed => format!("the notes of the job {job} count as yours again"),
        _ => format!(
            "accepted the job {job}; its notes are handed to the agent as text of the repository. To work on it: /brain-guard:job focus {job}"
        ),
    })
}

fn restore(
    env: &Env,
    now: Time,
    whose: &Whose,
    name: Option<&str>,
    number: u64,
) -> anyhow::Result<Exit> {
    let around = Around::of(env, whose)?;
    let job = match around.job(env, now, name) {
        Ok(job) => job,
        Err(why) => {
            err(why);
            return Ok(Exit::Refused);
        }
    };
    let Around { places, settings, .. } = &around;
    let me = around.facts(env, now).map(|facts| facts.asker().holder());
    if let Some(by) = jobs::holder(places, &job)
        && me.is_none_or(|me| !by.is(&me))
    {
        err(format_args!(
            "{} works on the job {job}; restore there, or `brain-guard job pause` there first",
            guard::job::refusal::named(&by)
        ));
        return Ok(Exit::Refused);
    }
    let Some(text) = jobs::version(places, &job, number)? else {
        return Ok(view::no_version(&around, &job, number));
    };
    if origin::is_found(places, &job) {
        err(Refusal::Found { job });
        return Ok(Exit::Refused);
    }
    let live = places.compaction(&job);
    let kept = jobs::restore(places, &job, &text, &settings.file.shape, now)
        .with_context(|| format!("could not restore {}", live.display()))?;
    match kept.as_deref().map(Path::display) {
        Some(kept) => out(format_args!(
            "version {number} is {} again; what was there until now: {kept}",
            live.display()
        )),
        None => out(format_args!("{} is version {number}", live.display())),
    }
    Ok(Exit::Done)
}
