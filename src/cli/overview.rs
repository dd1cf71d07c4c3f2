//! The overview of the commands, in groups: clap lists them in one.

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
            "extract",
            "store",
            "purge",
            "mcp",
        ],
    ),
    ("Setup commands", &["install", "uninstall", "demo", "carrier"]),
];

/// The command line, whose `--help` shows the groups.
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
