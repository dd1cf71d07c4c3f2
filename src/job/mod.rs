//! A job: the unit of work a compaction file belongs to, and what is kept about
//! it beside that file. Pure; where jobs lie is `store::jobs`.

mod record;

pub use record::{Holder, Link, PastPhase, Phase, Record, State, Summed};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_in_paths() {
        assert_eq!(default_name("my app", "20260101", 2), "my-app-20260101-2");
        assert_eq!(default_name("..", "20260101", 1), "project-20260101-1");
        assert!(crate::store::paths::safe_name(&default_name("ünï", "20260101", 1)));
    }
}
