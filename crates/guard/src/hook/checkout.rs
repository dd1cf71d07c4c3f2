//! Tells the user once about problems in the checkout: unused files, jobs from other machines, and
//! notes that something else changed.

use std::path::Path;

use serde_json::json;

use super::event::{Event, Kind, Source, ToolCall};
use super::facts::Facts;
use super::reply::Reply;
use super::target::absolute;
use super::wire::ToolInput;
use crate::files::{jobs, origin};
use crate::policy::carve_outs;
use base::beneath::{self, Refused};
use base::log;
use base::paths::same_file;

/// Names in one message. The log and `job list` have all of them.
const NAMED: usize = 3;

/// Most paths that a session reports.
const MOST: usize = 50;

/// Checks the session's notes before the guard or the agent writes them. Otherwise changes by
/// others would count as theirs.
pub fn check_notes(facts: &Facts, reply: &mut Reply) {
    let job = jobs::current_name(&facts.places, &facts.session.job);
    match origin::check_changed(&facts.places, &job) {
        Ok(true) => reply.add_line(changed(&job)),
        Ok(false) => {}
        Err(e) => facts.fault("origin of the job not looked at", &e),
    }
}

/// Remembers the session's notes as the agent's call left them.
pub fn written(facts: &Facts) {
    let job = jobs::current_name(&facts.places, &facts.session.job);
    if let Err(e) = origin::after_write(&facts.places, &job) {
        facts.fault("origin of the job not kept", &e);
    }
}

/// Whether a call is how the agent writes its notes: our verb, an edit of the file, or a shell
/// command that names it. Commands that also run Git do not count.
pub fn writes_notes(facts: &Facts, event: &Event, call: &ToolCall, input: &ToolInput) -> bool {
    if let Some(command) = input.command.as_deref() {
        let named = command.contains("compaction.md") && !command.contains("git ");
        let program = || facts.env.program().unwrap_or_default();
        let ours = || carve_outs::runs_only_ours(command, &program().to_string_lossy());
        return named || (command.contains("brain-guard") && ours());
    }
    let live = facts.places.compaction(&facts.session.job);
    let is_live = |path: &str| same_file(&absolute(event, path), &live);
    matches!(call.tool, "Edit" | "Write") && input.file_path.as_deref().is_some_and(is_live)
}

/// Adds to the reply what the user was not told yet.
pub fn report_to_user(facts: &mut Facts, event: &Event, reply: &mut Reply) {
    if let Kind::SessionStart { source, .. } = event.kind {
        check_notes(facts, reply);
        if matches!(source, Source::Startup | Source::Resume) {
            tell_of_jobs(facts, reply);
        }
    }
    let known = &facts.session.refused;
    let mut new = beneath::refused_paths();
    new.retain(|refused| !known.contains(&refused.path));
    if new.is_empty() || known.len() >= MOST {
        return;
    }
    for Refused { path, why } in &new {
        let details = json!({"session": facts.id, "path": path, "why": why});
        log::write(&facts.places.log(), facts.now, "refused", &details);
    }
    let paths: Vec<_> = new.iter().map(|refused| refused.path.clone()).take(MOST).collect();
    facts.update(|s| s.refused.extend(paths.iter().cloned()));
    reply.add_line(refused(&new));
}

fn tell_of_jobs(facts: &Facts, reply: &mut Reply) {
    if !facts.seen.interactive || !origin::has_jobs(&facts.places) {
        return;
    }
    let found = origin::found(&facts.places);
    if found.is_empty() {
        return;
    }
    origin::recognize(&facts.places, &found);
    let found = origin::found(&facts.places);
    if !found.is_empty() {
        reply.add_line(brought(&found));
    }
}

/// Lists the first few and counts the rest.
fn listed<T>(all: &[T], separator: &str, name: impl Fn(&T) -> String) -> String {
    let named: Vec<String> = all.iter().take(NAMED).map(name).collect();
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(separator))
}

fn refused(all: &[Refused]) -> String {
    let shown = |path: &Path| base::plain::line(&path.to_string_lossy(), 300);
    let all = listed(all, "; ", |refused| format!("{} {}", shown(&refused.path), refused.why));
    format!(
        "brain-guard does not use files that may have come with the repository: {all}. Tools \
         are not blocked for a job whose notes can't be written. Remove them to use jobs here."
    )
}

fn brought(jobs: &[String]) -> String {
    let all = listed(jobs, ", ", Clone::clone);
    let name = if let [job] = jobs { job.as_str() } else { "NAME" };
    let have = if jobs.len() == 1 { "a job that has" } else { "jobs that have" };
    format!(
        "brain-guard: the repository brought {have} no effect until you accept it: {all}. To \
         accept one: /brain-guard:job accept {name}"
    )
}

fn changed(job: &str) -> String {
    format!(
        "brain-guard: something else changed the notes of the job {job} (a pull, an editor). They \
         are handed on as text of the repository. If you wrote them: /brain-guard:job accept {job}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_three_at_most() {
        let refused_at =
            |n: usize| Refused { path: format!("/p/{n}").into(), why: "is a link".into() };
        let few: Vec<_> = (0..2).map(refused_at).collect();
        assert!(refused(&few).contains(": /p/0 is a link; /p/1 is a link. Tools"));
        let many: Vec<_> = (0..9).map(refused_at).collect();
        assert!(refused(&many).contains("and 6 more") && !refused(&many).contains("/p/3"));
        assert!(brought(&["a".into()]).ends_with("/brain-guard:job accept a"));
        assert!(
            brought(&["a".into(), "b".into()])
                .ends_with("a, b. To accept one: /brain-guard:job accept NAME")
        );
    }
}
