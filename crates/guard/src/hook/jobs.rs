//! Carries out job verbs for the session: switches its job and opens the boundary that restarts it
//! there.

use super::deliver;
use super::facts::Facts;
use super::opening::{self, Opening, Refusal};
use crate::boundary::{Carrier, Delivery, MOVED_ON, Token};
use crate::compaction::{self, BlockKind, Role, Shape};
use crate::files::{boundary, job_state, jobs, prompts};
use crate::texts::Text;
use base::clock;
use base::paths::short_digest;
use base::{atomic, beneath};

/// The job that a session switches to.
#[derive(Debug, Clone, Copy)]
pub struct Focus<'a> {
    /// The job.
    pub job: &'a str,
    /// The former name, if it is this session's renamed default job.
    pub adopted: Option<&'a str>,
    /// Whether it is new, created from the template.
    pub created: bool,
    /// Whether to clear the session for it.
    pub clear: bool,
}

/// Switches the session to another job. Returns a text for the agent if there is something to tell.
pub fn focus(facts: &mut Facts, ask: &Focus) -> Option<String> {
    let left = facts.session.job.clone();
    if let Some(old) = ask.adopted {
        adopt(facts, old, ask.job);
        prompts_follow(facts, &left, ask.job);
        return None;
    }
    if left == ask.job && !(ask.clear && unopened(facts, ask.job)) {
        return None;
    }
    let new = ask.created || !beneath::exists(&facts.places.compaction(ask.job));
    if let Err(e) = facts.ensure_file(ask.job) {
        facts.fault("compaction file not made", &e);
    }
    // Checked before the switch, because the budget counts the boundaries of the job that the
    // session leaves.
    let refusal = opening::why_no_boundary(facts, ask.job, Some(true), true);
    switch(facts, ask.job, new);
    prompts_follow(facts, &left, ask.job);
    if !ask.clear {
        return None;
    }
    let text = jobs::read(&facts.places, ask.job).ok().flatten().unwrap_or_default();
    let delivery = if new { Delivery::Template } else { Delivery::Reload };
    cross_with(facts, ask.job, delivery, 0, &text, refusal)
}

/// Whether a killed hook began this focus and did not open its boundary.
fn unopened(facts: &Facts, job: &str) -> bool {
    let ours = |t: &Token| t.parent == facts.id && t.job == job && t.delivery.focuses();
    !facts.token().is_some_and(|t| ours(&t))
}

/// Gives the session a default job after a pause. Opens no boundary.
pub fn pause(facts: &mut Facts, job: &str) {
    if facts.session.job == job {
        to_default(facts);
    }
}

/// Handles a completed job. Returns a text for the agent if there is something to tell.
pub fn complete(facts: &mut Facts, job: &str, version: u64) -> Option<String> {
    let sealed = jobs::version(&facts.places, job, version).ok().flatten();
    if facts.session.job == job {
        to_default(facts);
    }
    let Some(sealed) = sealed else {
        let why = format!("the sealed version {version} of the job can't be read");
        facts.fault("no transition note", &why);
        // The verb told the agent to end its turn, so without this text nothing would continue.
        let opening = Opening {
            delivery: Delivery::Transition,
            ..Opening::of_seal(&facts.places, job, version, Some(true), true)
        };
        return Some(not_cleared_text(facts, &opening.token(facts, Carrier::Manual), &why));
    };
    let note = transition_note(&sealed, &facts.settings.file.shape);
    cross_with(facts, job, Delivery::Transition, version, &note, None)
}

/// What the agent is told if its session is not cleared after all.
pub fn not_cleared_text(facts: &Facts, token: &Token, why: &str) -> String {
    let text = match token.delivery {
        Delivery::Sealed => Text::GoOn,
        Delivery::Reload | Delivery::Template => Text::GoOnFocused,
        Delivery::Transition => Text::GoOnCompleted,
    };
    deliver::boundary_text(facts, token, text, &[("why", why)])
}

/// Copies a focused job's file at the time of the clear. The copy that is delivered does not change
/// after that.
pub fn freeze(facts: &Facts, token: &Token) {
    if !token.delivery.focuses() {
        return;
    }
    let kept = match jobs::read(&facts.places, &token.job) {
        Ok(Some(text)) => atomic::write(std::path::Path::new(&token.sealed), text.as_bytes()),
        Ok(None) => Ok(()),
        Err(e) => Err(e),
    };
    if let Err(e) = kept {
        facts.fault("file of the focused job not copied anew", &e);
    }
}

fn cross_with(
    facts: &mut Facts,
    job: &str,
    delivery: Delivery,
    version: u64,
    text: &str,
    refusal: Option<Refusal>,
) -> Option<String> {
    let name = format!("{}{job}{}", facts.id, facts.now.to_rfc3339());
    let name = format!("{}.md", short_digest(name.as_bytes()));
    let path = facts.places.state.join("boundary").join(name);
    let kept = facts.places.ensure_state().and_then(|()| atomic::write(&path, text.as_bytes()));
    let opening = Opening {
        job: job.to_owned(),
        delivery,
        version,
        text: path.display().to_string(),
        // A focus needs neither a tier nor new notes.
        clear: Some(true),
        authored: true,
    };
    if let Err(e) = kept {
        facts.fault("text of the boundary not kept, so no boundary", &e);
        let why = format!("its text could not be kept: {e}");
        return Some(not_cleared_text(facts, &opening.token(facts, Carrier::Manual), &why));
    }
    let refusal = match refusal {
        Some(refusal) => {
            opening::record_refusal(facts, &refusal);
            refusal
        }
        None => opening::open(facts, &opening).err()?,
    };
    Some(not_cleared_text(facts, &opening.token(facts, Carrier::Manual), &refusal.why))
}

/// Makes the session write for `job`, and ends a boundary of the former job.
fn switch(facts: &mut Facts, job: &str, new: bool) {
    if let Some(token) = facts.token().filter(|t| t.awaits_carrier_or_cancelled(facts.id)) {
        let ended = boundary::update(&facts.places, &token.id, |t| t.fail(MOVED_ON, facts.now));
        if let Err(e) = ended {
            facts.fault("token not ended", &e);
        }
    }
    let text = if new { None } else { jobs::read(&facts.places, job).ok().flatten() };
    let text = text.unwrap_or_default();
    let document = compaction::parse(&text, &facts.settings.file.shape);
    let (inherited, born) = (jobs::authored_ids(&document), compaction::measure(&document).total);
    let left = &facts.session.job;
    let was_named = !jobs::auto(&facts.places, left, &jobs::record(&facts.places, left));
    let change = |s: &mut crate::session::Session| {
        s.residue |= was_named && s.job != job;
        job.clone_into(&mut s.job);
        (s.inherited, s.born_words) = (inherited.clone(), born as u64);
        (s.counted, s.ranks.file, s.stop_blocks) = (None, 0, 0);
    };
    facts.update(change);
}

fn to_default(facts: &mut Facts) {
    match jobs::claim_default(&facts.places, &clock::local_date()) {
        Ok(job) => switch(facts, &job, true),
        Err(e) => {
            facts.fault("no default job", &e);
            let job = format!("session-{}", facts.id);
            switch(facts, &job, true);
        }
    }
}

/// Adopts the job's new name if the verb that renamed it was killed.
pub fn follow_name(facts: &mut Facts) {
    let old = facts.session.job.clone();
    let now = jobs::current_name(&facts.places, &old);
    if now != old {
        adopt(facts, &old, &now);
    }
}

/// Renames the default job in the saved state and in an open boundary.
fn adopt(facts: &mut Facts, old: &str, job: &str) {
    if let Err(e) = job_state::rename(&facts.places, old, job) {
        facts.fault("state of the job not renamed", &e);
    }
    let name = job.to_owned();
    facts.update(|s| s.job.clone_from(&name));
    let Some(token) = facts.token().filter(|t| t.awaits_carrier_or_cancelled(facts.id)) else {
        return;
    };
    let path = jobs::sealed_path(&facts.places, job, token.version).display().to_string();
    let followed = boundary::update(&facts.places, &token.id, |t| {
        if t.job == old && t.delivery == Delivery::Sealed {
            (t.job, t.sealed) = (job.to_owned(), path);
        }
    });
    if let Err(e) = followed {
        facts.fault("token not renamed", &e);
    }
}

/// Moves waiting prompts, and the prompt that requested the change, to the new job. Its first
/// session reads them.
fn prompts_follow(facts: &Facts, left: &str, job: &str) {
    let asked = prompts::all(&facts.places, left, facts.id);
    let asked = asked.into_iter().rev().find(|p| p.session == facts.id && facts.session.asked);
    let moved = prompts::flush(&facts.places, job, facts.id).and_then(|()| {
        let last = prompts::all(&facts.places, job, facts.id).pop();
        match asked.filter(|asked| last.as_ref() != Some(asked)) {
            Some(asked) => prompts::keep(&facts.places, job, &asked),
            None => Ok(()),
        }
    });
    if let Err(e) = moved {
        facts.fault("prompts not moved", &e);
    }
}

/// The body of the sealed Prior Summary, which is what a completed job hands over.
fn transition_note(sealed: &str, shape: &Shape) -> String {
    let document = compaction::parse(sealed, shape);
    let summary = shape.with_role(Role::Summary);
    let body = document.blocks().iter().filter(|block| {
        block.section.is_some()
            && block.section == summary
            && !matches!(block.kind, BlockKind::Section | BlockKind::Comment)
    });
    let text: String = body.map(|block| &sealed[block.range.clone()]).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transition_note_is_the_summarys_body_and_nothing_else() {
        let sealed = "---\njob: j\n---\n# j\n\n## Forward State\n- next\n\n## Prior Summary\n<!-- what was -->\n\
                      - learned a\n  in two lines\n\n### Detail\n- learned b\n\n## Git Commit Messages\n- abc x\n";
        assert_eq!(
            transition_note(sealed, &Shape::default()),
            "- learned a\n  in two lines\n\n### Detail\n- learned b"
        );
        assert_eq!(transition_note("# j\n## Forward State\n- a\n", &Shape::default()), "");
    }
}
