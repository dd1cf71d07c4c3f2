//! What a session's start tells its user about the project and the session itself.

use std::ops::ControlFlow;

use super::facts::Facts;
use crate::files::moved;
use base::tail;
use sessions::refusal::Refusal;
use sessions::span;

/// How far back the last answer is looked for.
const ROWS: usize = 100;

/// What became of the jobs of a folder that was moved, or that another folder has replaced; once.
pub fn moved_project_line(facts: &Facts) -> Option<String> {
    match moved::take_along(&facts.places) {
        Ok(Some(from)) => {
            return Some(format!(
                "brain-guard: this project was in {}; its jobs came along.",
                base::plain::line(&from.to_string_lossy(), 300)
            ));
        }
        Ok(None) => {}
        Err(e) => facts.fault("jobs of the moved project not taken along", &e),
    }
    let jobs = moved::left_jobs(&facts.places);
    let name = match &jobs[..] {
        [] => return None,
        [job] => job.as_str(),
        _ => "NAME",
    };
    Some(format!(
        "brain-guard: another folder was here before, and its jobs are kept: {}. To go on with one: /brain-guard:job accept {name}",
        jobs.join(", ")
    ))
}

/// That the API will refuse a resumed session again.
pub fn refusal_line(facts: &Facts) -> Option<String> {
    let (mut last, mut rows) = (None, 0);
    // A transcript that can't be read is no reason to say anything.
    let _ = tail::lines_backwards(facts.transcript.as_ref()?, |line| {
        rows += 1;
        if span::find(line, "type") == Some(b"\"assistant\"") {
            last = Refusal::of_row(line);
            return ControlFlow::Break(());
        }
        if rows < ROWS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let (why, id) = (last?.words(), facts.id);
    Some(format!(
        "brain-guard: this session ended in an API error: {why}. End it, and run `brain-guard mend \
         {id}` in a terminal: it makes a session without that."
    ))
}
