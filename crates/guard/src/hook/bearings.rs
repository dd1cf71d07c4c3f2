//! Tells a session that starts or was compacted where it is: job, phase, files, and what `/clear`
//! kept or reset.

use std::fmt::Write as _;

use super::deliver;
use super::event::Event;
use super::facts::Facts;
use super::phase::phase;
use super::reply::Reply;
use crate::boundary::{Delivery, Token};
use crate::files::jobs;
use crate::session::Session;
use crate::texts::{Text, cut, render};
use base::plain;
use notes::compaction::for_reader;

/// Background shells that a fresh session is told about, and characters of each.
const SHELLS: usize = 4;
const SHELL_CHARS: usize = 120;

/// Marks the open phase as coached, because its exit asks what the coaching did.
pub fn coached(facts: &Facts) {
    let job = facts.session.job.as_str();
    let unmarked = || jobs::record(&facts.places, job).phase.is_some_and(|p| !p.coached);
    if !unmarked() {
        return;
    }
    let marked = jobs::lock(&facts.places, job).and_then(|_held| {
        jobs::change_record(&facts.places, job, |record| {
            if let Some(phase) = &mut record.phase {
                phase.coached = true;
            }
        })
    });
    if let Err(e) = marked {
        facts.fault("coaching not remembered in the phase", &e);
    }
}

/// The bearings of a session after `parent` was cleared, by the guard (`token`) or by the user.
pub fn bearings(facts: &Facts, event: &Event, parent: &Session, token: Option<&Token>) -> String {
    let live = facts.places.compaction(&parent.job).display().to_string();
    let cwd = cwd(facts, event, parent);
    let (shells, phase) = (shells(parent), phase(facts, &parent.job));
    let values = [
        ("job", parent.job.as_str()),
        ("live", live.as_str()),
        ("phase", phase.as_str()),
        ("shells", shells.as_str()),
        ("cwd", cwd.as_str()),
    ];
    let Some(token) = token else { return render(&facts.places, Text::Cleared, &values) };
    let text = match token.delivery {
        Delivery::Sealed => Text::Carried,
        Delivery::Reload | Delivery::Template => Text::Focused,
        Delivery::Transition => Text::Completed,
    };
    let values = [&values[..], &[("completed", token.job.as_str())]].concat();
    deliver::boundary_text(facts, token, text, &values)
}

/// The bearings after the user's own clear, with which a piece of work ended.
pub fn begun_anew(facts: &Facts, event: &Event, parent: &Session, offer: Option<String>) -> String {
    let begun = offer.unwrap_or_else(|| "brain-guard: your user cleared the conversation.".into());
    format!("{begun}{}{}", shells(parent), cwd(facts, event, parent))
}

fn cwd(facts: &Facts, event: &Event, parent: &Session) -> String {
    let project = facts.places.project.display().to_string();
    // `/clear` keeps an entered worktree but resets a `cd` inside it.
    let here = event.cwd.unwrap_or(&project);
    match &parent.cwd {
        Some(cwd) if cwd != here => {
            format!("\nThe shell stood in {cwd}; the clear put it back to {here}.")
        }
        _ => String::new(),
    }
}

fn shells(parent: &Session) -> String {
    let mut shells = String::new();
    for shell in parent.background.shells.iter().take(SHELLS) {
        let shell = cut(shell, SHELL_CHARS);
        let _ = write!(shells, "\nStill running in the background: {shell}");
    }
    if let Some(more) = parent.background.shells.len().checked_sub(SHELLS + 1) {
        let _ = write!(shells, "\nAnd {} more.", more + 1);
    }
    shells
}

/// Gives the agent the live file and the phase again after the client compacted.
pub fn compacted(facts: &Facts) -> Reply {
    let job = facts.session.job.as_str();
    let path = facts.places.compaction(job).display().to_string();
    let Ok(Some(text)) = jobs::read(&facts.places, job) else { return Reply::default() };
    let text = plain::notes(&for_reader(&text));
    let phase = phase(facts, job);
    let chars = deliver::PIECE_CHARS.saturating_sub(phase.chars().count());
    let first: String = text.chars().take(chars).collect();
    let file =
        if first.len() == text.len() { text } else { format!("{first}\n[the rest is in {path}]") };
    let values =
        [("job", job), ("path", path.as_str()), ("file", file.as_str()), ("phase", phase.as_str())];
    let text = render(&facts.places, Text::Compacted, &values);
    super::journal::record_delivery(facts, text.len());
    Reply::note("SessionStart", text)
}
