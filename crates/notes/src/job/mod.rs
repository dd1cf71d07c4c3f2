//! A job: the unit of work a compaction file belongs to, with its record. Free of I/O.
//! `guard::files::jobs` stores jobs.

mod delivery;
pub mod kinds;
pub mod phase;
mod prompt;
mod record;
pub mod refusal;
pub mod slice;
pub mod steering;
pub mod transition;

pub use delivery::Delivery;
pub use prompt::Prompt;
pub use record::{
    COACH_LETTERS, Client, Holder, InvalidPhaseName, Link, PastPhase, Phase, Record, Sealer, State,
    Summed, Wrote, phase_name,
};

/// The name of the `number`-th default job of a project on a day.
pub fn default_name(project: &str, date: &str, number: u32) -> String {
    let name: String = project
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .take(40)
        .collect();
    let name = name.trim_matches(['.', '-']);
    let name = if name.is_empty() { "project" } else { name };
    format!("{name}-{date}-{number}")
}

/// Whether a name is a default job name of this project, for any day.
pub fn is_default(project: &str, name: &str) -> bool {
    let parts = name.rsplit_once('-').and_then(|(rest, number)| {
        let (_, date) = rest.rsplit_once('-')?;
        Some((date, number.parse().ok()?))
    });
    parts.is_some_and(|(date, number)| {
        let day = date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
        day && name == default_name(project, date, number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_in_paths() {
        assert_eq!(default_name("my app", "20260101", 2), "my-app-20260101-2");
        assert_eq!(default_name("..", "20260101", 1), "project-20260101-1");
        assert!(base::paths::is_safe_name(&default_name("ünï", "20260101", 1)));
    }

    #[test]
    fn default_names_are_known_again() {
        for project in ["my app", "..", "a-b"] {
            assert!(is_default(project, &default_name(project, "20260101", 12)), "{project}");
        }
        for name in ["a-b", "a-b-20260101-x", "a-b-2026011-1", "c-20260101-1", "a-b-20260101-01"] {
            assert!(!is_default("a-b", name), "{name}");
        }
    }
}
