//! Tells the user once what became of the jobs of a folder that was moved, or that another folder
//! has replaced.

use super::facts::Facts;
use crate::files::moved;

/// The line for the user at a session's start.
pub fn line(facts: &Facts) -> Option<String> {
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
