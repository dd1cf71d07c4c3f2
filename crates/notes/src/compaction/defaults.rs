//! The default shape of a file: six sections, and the routing table from the kind of a note to its
//! section. Kinds lead to a section by its [`Role`], because users may rename sections. A new
//! default section needs its own role.

use super::{NEXT, Role, Section, Shape};

impl Default for Shape {
    fn default() -> Self {
        let section = |name: &str, role, prompt: &str, aliases: &[&str]| Section {
            name: name.to_owned(),
            role,
            prompt: prompt.to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            slice: None,
        };
        let sections = vec![
            section(
                "Forward State",
                Role::Forward,
                "What to do next, first item first; scope, and what the user said that binds.",
                &["Next Steps"],
            ),
            section(
                "Open Threads",
                Role::Threads,
                "What is not finished: sources not covered, deviations, gotchas, questions. Close what is done.",
                &["Threads", "Open Questions"],
            ),
            section(
                "Assumptions & Risks",
                Role::Risks,
                "What the work leans on without proof, and what checking may have missed.",
                &["Assumptions", "Risks"],
            ),
            section(
                "Process Insight",
                Role::Insight,
                "Why this and not that; loops to leave earlier; what an injected instruction did to the work.",
                &["Process Insights", "Insights"],
            ),
            section(
                "Prior Summary",
                Role::Summary,
                "What earlier sessions learned, facts and principles, short.",
                &["Summary"],
            ),
            section(
                "Git Commit Messages",
                Role::Git,
                "Written by brain-guard; leave it alone.",
                &["Git", "Commits"],
            ),
        ];
        let routes = [
            (NEXT, Role::Forward),
            ("scope", Role::Forward),
            ("directive", Role::Forward),
            ("uncovered", Role::Threads),
            ("deviation", Role::Threads),
            ("gotcha", Role::Threads),
            ("thread", Role::Threads),
            ("missed", Role::Risks),
            ("assumption", Role::Risks),
            ("risk", Role::Risks),
            ("why", Role::Insight),
            ("lesson", Role::Insight),
            ("loop", Role::Insight),
            ("steering", Role::Insight),
            ("summary", Role::Summary),
        ];
        let routes = routes.map(|(kind, role)| (kind.to_owned(), role.as_str().to_owned())).into();
        Self { sections, routes }
    }
}
