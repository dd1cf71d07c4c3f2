//! Plans, from their figures to what undoes them, and other jobs that change something.

use std::collections::BTreeMap;

use anyhow::bail;

use crate::cmd::mend::Mended;
use crate::cmd::surgery::made::Made;
use crate::cmd::surgery::remove::Removal;
use crate::cmd::surgery::source::Store;
use crate::cmd::surgery::start::Windows;
use crate::cmd::surgery::target::Destination;
use crate::cmd::surgery::{pipeline, view};
use crate::cmd::tag::{self, Retagged};
use crate::cmd::{Context, succession};
use crate::view::message::{Answer, Done, Figures, How};
use base::env::Env;
use sessions::operation::Order;
use surgery::ranges;
use surgery::table::short;

/// Figures of a dry run of a plan.
///
/// # Errors
/// A plan that can't be.
pub fn measure(context: Context, name: &str, order: &Order) -> anyhow::Result<Vec<Figures>> {
    let store = Store::open(context.env)?;
    let session = store.session(context.env, Some(name))?;
    let dry = Destination { out: None, dry_run: true };
    let made = pipeline::perform(context, &store, &session, order, dry)?;
    let figures = made.iter().map(|made| Figures {
        name: made.plan.operation.child().unwrap_or_default().to_owned(),
        cost: made.cost,
        thinking_left: made.report.thinking_left,
        rounds: view::rounds(&made.plan),
        notes: made.notes.clone(),
    });
    Ok(figures.collect())
}

/// Performs a plan.
///
/// # Errors
/// Any error of the verb it calls.
pub fn make(context: Context, name: String, order: Order, how: How) -> anyhow::Result<Answer> {
    let store = Store::open(context.env)?;
    let session = store.session(context.env, Some(&name))?;
    if how == How::Running {
        succession::ask(context, &store, &session, order)?;
        let line = "brain-guard: asked the running client, which goes on in the new session; /brain-guard:undo there goes back";
        return Ok(Answer::Asked(line.to_owned()));
    }
    let windows = match how {
        How::Windows => Some(Windows::find(context.env)?),
        How::Stay | How::Running => None,
    };
    let made = pipeline::perform(context, &store, &session, &order, Destination::default())?;
    let mut details = made.iter().map(Made::to_string).collect::<Vec<_>>();
    for path in made.iter().filter_map(|one| one.path.as_ref()?.to_str()) {
        // The list has its figures once it is imported. It is made, whatever becomes of that.
        let _ = store.session(context.env, Some(path));
    }
    for one in windows.iter().flat_map(|_| &made) {
        let opened = windows.as_ref().map(|to| to.open(context.env, one, &view::child(one)));
        if let Some(Err(e)) = opened {
            details.push(format!("no window for {}: {e:#}", short(&one.id)));
        }
    }
    let ids: Vec<String> = made.iter().map(|made| made.id.clone()).collect();
    let named = made.iter().map(|made| {
        let operation = made.plan.operation.shown();
        format!("{} ({operation})", short(&made.id))
    });
    let line = format!("made {}; u undoes it", named.collect::<Vec<_>>().join(", "));
    let mut tags = BTreeMap::<Option<String>, Vec<u32>>::new();
    for round in made.iter().flat_map(|made| made.plan.retagged()) {
        tags.entry(round.engagement.clone()).or_default().push(round.seq);
    }
    let done = Some(Done::Made { ids, name, order, tags });
    Ok(Answer::Did { line, details: details.join("\n\n"), done })
}

/// Tags rounds, or removes their tags.
///
/// # Errors
/// Any error of the verb it calls.
pub fn tag(
    env: &Env,
    name: String,
    rounds: String,
    engagement: Option<String>,
) -> anyhow::Result<Answer> {
    if let Some(id) = &engagement {
        tag::valid(id)?;
    }
    let tagged = Retagged::make(env, Some(&name), &rounds, engagement.as_deref())?;
    let line = format!("{}; u undoes it", tagged.brief());
    let before = tagged.all_before;
    let done = Done::Tagged { name, rounds, engagement, before };
    Ok(Answer::Did { line, details: String::new(), done: Some(done) })
}

/// Makes a sound session of a broken one, or says what is wrong with it.
///
/// # Errors
/// Any error of the verb it calls.
pub fn mend(Context { env, now }: Context, name: String, is_dry: bool) -> anyhow::Result<Answer> {
    let mended = Mended::of(env, now, &name, is_dry)?;
    let lines: Vec<String> = mended.to_string().lines().map(str::to_owned).collect();
    if is_dry {
        return Ok(Answer::Survey { name, lines, is_broken: mended.is_broken() });
    }
    let line = mended.id.as_deref().map_or("nothing was wrong".to_owned(), |id| {
        format!("made the sound session {}; this one stays as it is", short(id))
    });
    let file = mended.path.as_ref().map(|file| file.display().to_string());
    let done = file.map(|file| Done::Mended { file });
    Ok(Answer::Did { line, details: lines.join("\n"), done })
}

/// Undoes what was done. Of several sessions, those that can't be removed stay.
///
/// # Errors
/// Any error of the verb it calls.
pub fn undo(Context { env, now }: Context, done: Done) -> anyhow::Result<Answer> {
    let (ids, name, order, tags) = match done {
        Done::Made { ids, name, order, tags } => (ids, name, order, tags),
        Done::Tagged { name, rounds, engagement, before } => {
            Retagged::make(env, Some(&name), &rounds, None)?;
            for (id, rounds) in &before {
                Retagged::make(env, Some(&name), rounds, Some(id))?;
            }
            let line = format!("the tags of {rounds} are as before; U redoes it");
            let done = Done::Tagged { name, rounds, engagement, before };
            return Ok(Answer::Undid { line, done });
        }
        Done::Mended { file } => bail!("u leaves a mended session: rm {file}"),
    };
    let (mut removed, mut faults) = (Vec::new(), Vec::new());
    for id in ids.into_iter().rev() {
        match Removal::run(env, now, Some(&id)) {
            Ok(_) => removed.push(id),
            Err(e) => faults.push(format!("{e:#}")),
        }
    }
    if removed.is_empty() {
        bail!(faults.join("; "));
    }
    let names: Vec<&str> = removed.iter().map(|id| short(id)).collect();
    if faults.is_empty() {
        for (tag, rounds) in &tags {
            let rounds = ranges::show(rounds).replace(", ", ",");
            if let Err(e) = Retagged::make(env, Some(&name), &rounds, tag.as_deref()) {
                faults.push(format!("the tags of {rounds} stay: {e:#}"));
            }
        }
    }
    let rest = if faults.is_empty() { "U redoes it".to_owned() } else { faults.join("; ") };
    let line = format!("removed {}; {rest}", names.join(", "));
    Ok(Answer::Undid { line, done: Done::Made { ids: removed, name, order, tags } })
}
