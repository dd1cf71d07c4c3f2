//! Carries out job verbs for the session: switches its job and opens the boundary that restarts it
//! there.

use std::io;

use super::deliver;
use super::facts::Facts;
use super::opening::{self, Opening};
use crate::boundary::{Delivery, Token};
use crate::files::jobs::Open;
use crate::files::{job_files, jobs};
use crate::journal::What;
use crate::texts::Text;
use base::atomic;
use base::clock::{self, Time};
use base::paths::short_digest;
use notes::compaction::{self, BlockKind, Role, Shape};
use notes::job::refusal;
use notes::job::transition::NextWork;

/// Opens the session's notes for writing. Where another live session works on its job, it goes on
/// with a new default job, for the reason that is returned, too.
///
/// # Errors
/// What the system says. Inside: why the session may not write.
pub fn open_notes(
    facts: &mut Facts,
) -> io::Result<Result<(Open, Option<refusal::Refusal>), refusal::Refusal>> {
    let job = facts.asker().job();
    match jobs::open(&facts.asker(), &job)? {
        Err(held @ refusal::Refusal::Held { .. }) => {
            to_default(facts);
            let opened = jobs::open(&facts.asker(), &facts.session.job)?;
            Ok(opened.map(|open| (open, Some(held))))
        }
        opened => Ok(opened.map(|open| (open, None))),
    }
}

/// What came of the boundary that a job verb asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Crossing {
    /// The verb asks for none.
    NotAsked,
    /// It is open.
    Opened,
    /// There is none.
    Refused(String),
}

/// Does what a job verb means for the session: switches its job, and opens the boundary that
/// restarts it there.
pub fn begin_next_work(facts: &mut Facts, next: &NextWork) -> Crossing {
    match next {
        NextWork::Stays => Crossing::NotAsked,
        NextWork::Focus { job, adopted: Some(old), .. } => {
            adopt(facts, old, job);
            Crossing::NotAsked
        }
        NextWork::Focus { job, adopted: None, created, clear } => {
            focus(facts, job, *created, *clear)
        }
        NextWork::Pause { .. } => {
            to_default(facts);
            Crossing::NotAsked
        }
        NextWork::Complete { job, version } => complete(facts, job, *version),
    }
}

fn focus(facts: &mut Facts, job: &str, created: bool, clear: bool) -> Crossing {
    let left = facts.session.job.clone();
    let new = created || !facts.places.compaction(job).exists();
    // Checked before the switch, because the budget counts the boundaries of the job that the
    // session leaves.
    let refusal = opening::why_no_boundary(facts, job, Some(true), true);
    let not_before = facts.not_before(job);
    switch(facts, job, new);
    prompt_follows(facts, &left, job);
    if !clear {
        return Crossing::NotAsked;
    }
    let text = jobs::read(&facts.places, job).ok().flatten().unwrap_or_default();
    let delivery = if new { Delivery::Template } else { Delivery::Reload };
    cross(facts, job, delivery, 0, &text, (refusal, not_before))
}

fn complete(facts: &mut Facts, job: &str, version: u64) -> Crossing {
    let sealed = jobs::version(&facts.places, job, version).ok().flatten();
    to_default(facts);
    let Some(sealed) = sealed else {
        let why = format!("the sealed version {version} of the job can't be read");
        facts.fault("no transition note", &why);
        return Crossing::Refused(why);
    };
    let note = transition_note(&sealed, &facts.settings.file.shape);
    cross(facts, job, Delivery::Transition, version, &note, (None, None))
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

fn cross(
    facts: &mut Facts,
    job: &str,
    delivery: Delivery,
    version: u64,
    text: &str,
    (refusal, not_before): (Option<String>, Option<Time>),
) -> Crossing {
    if let Some(why) = refusal {
        facts.record(What::NoBoundary { why: why.clone() });
        return Crossing::Refused(why);
    }
    let name = format!("{}{job}{}", facts.id, facts.now.to_rfc3339());
    let name = format!("{}.md", short_digest(name.as_bytes()));
    let path = facts.places.state.join("boundary").join(name);
    let kept = facts.places.ensure_state().and_then(|()| atomic::write(&path, text.as_bytes()));
    if let Err(e) = kept {
        facts.fault("text of the boundary not kept, so no boundary", &e);
        return Crossing::Refused(format!("its text could not be kept: {e}"));
    }
    let opening = Opening {
        job: job.to_owned(),
        delivery,
        version,
        text: path.display().to_string(),
        // A focus needs neither a tier nor new notes.
        clear: Some(true),
        authored: true,
        not_before,
    };
    match opening::open(facts, &opening) {
        Ok(()) => Crossing::Opened,
        Err(why) => Crossing::Refused(why),
    }
}

/// Makes the session write for `job`, and ends a boundary of the former job.
pub(super) fn switch(facts: &mut Facts, job: &str, new: bool) {
    if let Some(token) = facts.token().filter(|t| t.awaits_carrier_or_held(facts.id)) {
        facts.change_token(&token.id, |t| {
            t.withdraw("the session switched to another job", facts.now)
        });
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
        (s.notes.inherited, s.notes.born_words) = (inherited.clone(), born as u64);
        (s.notes.counted, s.ranks.file, s.stop_blocks) = (None, 0, 0);
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

/// Takes over the job's new name if the verb that renamed it was killed.
pub fn follow_name(facts: &mut Facts) {
    let old = facts.session.job.clone();
    let now = jobs::current_name(&facts.places, &old);
    if now != old {
        adopt(facts, &old, &now);
    }
}

/// Renames the default job in the saved state and in an open boundary.
fn adopt(facts: &mut Facts, old: &str, job: &str) {
    let name = job.to_owned();
    facts.update(|s| s.job.clone_from(&name));
    let Some(token) = facts.token().filter(|t| t.awaits_carrier_or_held(facts.id)) else {
        return;
    };
    let path = jobs::sealed_path(&facts.places, job, token.version).display().to_string();
    facts.change_token(&token.id, |t| {
        if t.job == old && t.delivery == Delivery::Sealed {
            (t.job, t.sealed) = (job.to_owned(), path);
        }
    });
}

/// Keeps the prompt that asked for the change with the new job, too. Its first session reads it.
fn prompt_follows(facts: &Facts, left: &str, job: &str) {
    let asked = job_files::prompts(&facts.places, left).into_iter().rev();
    let asked = asked.filter(|_| facts.session.asked).find(|p| p.session == facts.id);
    if let Some(asked) = asked
        && let Err(e) = job_files::keep_prompt(&facts.places, job, &asked)
    {
        facts.fault("prompt not kept", &e);
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
