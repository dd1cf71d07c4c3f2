//! The overview of the commands, in groups. clap itself can only list them in one.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use super::Cli;

/// The groups, with the commands of each.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Everyday commands",
        &["status", "explain", "override", "now", "later", "log", "report", "settings", "doctor"],
    ),
    ("Agent commands", &["append", "close", "seal", "job", "phase", "steering"]),
    (
        "History commands",
        &[
            "view",
            "sessions",
            "rounds",
            "search",
            "inject",
            "import",
            "advise",
            "surgery",
            "revive",
            "export-claude",
            "tag",
            "untag",
            "matrix",
            "validate",
            "mend",
            "extract",
            "store",
            "purge",
            "mcp",
        ],
    ),
    ("Setup commands", &["install", "uninstall", "demo"]),
];

/// The command line, with the groups in its `--help`.
pub fn command() -> Command {
    let command = Cli::command();
    let mut groups = String::new();
    for (title, names) in GROUPS {
        // Writing to a string can't fail.
        let _ = writeln!(groups, "{title}:");
        for command in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(groups, "  {:<14} {about}", command.get_name());
        }
        groups.push('\n');
    }
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n\n\
         `brain-guard help COMMAND` explains a command, with an example.\n"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The reference of all commands, as `docs/commands.md` holds it.
    fn reference() -> String {
        fn add(all: &mut String, name: &str, command: &Command, level: usize) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(all, "\n{} {name}\n\n{about}.\n", "#".repeat(level));
            let mut alone = command.clone().disable_help_flag(true).disable_help_subcommand(true);
            let below: Vec<Command> =
                command.get_subcommands().filter(|c| !c.is_hide_set()).cloned().collect();
            if below.is_empty() {
                alone = alone.bin_name(name).about(None::<&str>).term_width(100);
                for line in alone.render_help().to_string().trim().lines() {
                    let _ = writeln!(all, "{}", format!("    {line}").trim_end());
                }
            }
            for command in &below {
                add(all, &format!("{name} {}", command.get_name()), command, level + 1);
            }
        }
        let command = Cli::command();
        let mut all = "# Commands\n\n*For users who look an option up. This page is the output of \
                       `brain-guard help COMMAND`, for all commands.*\n"
            .to_owned();
        for (title, names) in GROUPS {
            let _ = writeln!(all, "\n## {title}");
            for command in names.iter().filter_map(|name| command.find_subcommand(name)) {
                add(&mut all, &format!("brain-guard {}", command.get_name()), command, 3);
            }
        }
        all
    }

    #[test]
    fn the_reference_of_commands_is_as_checked_in() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
        let wrong = testing::checked_in::difference(
            &path,
            &reference(),
            "UPDATE_GOLDEN=1 cargo test -p brain-guard --lib reference",
        );
        assert_eq!(wrong, None, "{}", wrong.as_deref().unwrap_or_default());
    }

    #[test]
    fn every_command_for_people_is_in_one_group() {
        let command = Cli::command();
        let people = command.get_subcommands().filter(|command| !command.is_hide_set());
        let people: BTreeSet<&str> = people.map(Command::get_name).collect();
        let grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), people);
        assert_eq!(grouped.len(), people.len(), "none twice");
    }
}
