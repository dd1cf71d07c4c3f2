//! The overview of the commands, in groups. clap itself can only list them in one.

use std::ffi::OsString;

use clap::{Command, CommandFactory as _};

use super::Cli;

/// Commands under a title.
struct Group {
    /// What `help` calls it.
    name: &'static str,
    title: &'static str,
    commands: &'static [&'static str],
}

/// The commands that `brain-guard` alone lists.
const FIRST: &[&str] = &[
    "status", "explain", "override", "later", "view", "search", "advise", "doctor", "settings",
    "report",
];

const GROUPS: [Group; 4] = [
    Group {
        name: "everyday",
        title: "Everyday commands",
        commands: &[
            "status", "explain", "notes", "override", "now", "later", "log", "report", "settings",
            "doctor",
        ],
    },
    Group {
        name: "agent",
        title: "Agent commands",
        commands: &["append", "close", "seal", "job", "phase", "steering"],
    },
    Group {
        name: "history",
        title: "History commands",
        commands: &[
            "view", "sessions", "rounds", "search", "show", "import", "advise", "surgery", "tag",
            "validate", "mend", "extract", "store", "purge", "mcp",
        ],
    },
    Group {
        name: "setup",
        title: "Setup commands",
        commands: &["install", "uninstall", "demo", "completions"],
    },
];

/// The specifications' names for commands, and what they run.
const ALIASES: [(&str, &[&str]); 5] = [
    ("inject", &["show"]),
    ("inscribe", &["import"]),
    ("matrix", &["tag", "matrix"]),
    ("revive", &["surgery", "revive"]),
    ("untag", &["tag", "--remove"]),
];

/// Columns of the lists.
const WIDTH: usize = 80;

/// These words, with a command in place of its alias.
pub fn canonical(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let is_help = words.get(1).is_some_and(|verb| verb == "help");
    let at = if is_help { 2 } else { 1 };
    let verb = words.get(at).and_then(|verb| verb.to_str());
    if let Some((_, named)) = ALIASES.iter().find(|(alias, _)| Some(*alias) == verb) {
        let named = named.iter().filter(|word| !is_help || !word.starts_with('-'));
        words.splice(at..=at, named.map(OsString::from));
    }
    words
}

/// The command line for these words. To lay out the groups takes time, so only its own help has
/// them.
pub fn command(words: &[OsString]) -> Command {
    let is_help = |word: &OsString| word == "help" || word == "--help" || word == "-h";
    if words.get(1).is_none_or(is_help) { with_groups() } else { Cli::command() }
}

/// The command line, with the groups in its `--help`.
fn with_groups() -> Command {
    let command = Cli::command();
    let groups = GROUPS.iter().map(|group| titled(&command, group));
    let groups = groups.collect::<Vec<_>>().join("\n");
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}\nOptions:\n{{options}}\n\n\
         `brain-guard help COMMAND` explains a command, with an example.\n"
    );
    command.help_template(template)
}

/// The page that these words ask for, if clap has none: the first commands, or those of a group.
pub fn page(words: &[OsString]) -> Option<String> {
    let words: Vec<&str> = words.iter().skip(1).filter_map(|word| word.to_str()).collect();
    // To build the command line takes time, and most calls need it for their verb only.
    if !matches!(words[..], [] | ["help", _]) {
        return None;
    }
    let plain = Cli::command();
    Some(match words.as_slice() {
        [] => format!(
            "brain-guard {} keeps long runs of AI coding agents sane.\n\n{}\nMore: brain-guard help everyday | history | agent | setup | all\n\
             One command, with an example: brain-guard help status",
            plain.get_version()?,
            list(&plain, FIRST)
        ),
        ["help", "all"] => with_groups().term_width(WIDTH).render_help().to_string(),
        ["help", name] => titled(&plain, GROUPS.iter().find(|group| group.name == *name)?),
        _ => return None,
    })
}

/// The examples of the command that these words name.
pub fn examples(words: &[OsString]) -> Option<String> {
    let root = Cli::command();
    let names = words.iter().skip(1).filter_map(|word| word.to_str());
    let named = names.fold(&root, |at, name| at.find_subcommand(name).unwrap_or(at));
    let help = named.get_after_help()?.to_string();
    help.split("\n\n").find(|part| part.starts_with("Example")).map(str::to_owned)
}

fn titled(command: &Command, group: &Group) -> String {
    format!("{}:\n{}", group.title, list(command, group.commands))
}

/// A line for each command, folded to the width.
fn list(command: &Command, names: &[&str]) -> String {
    let named = names
        .iter()
        .enumerate()
        .filter_map(|(at, name)| Some(command.find_subcommand(name)?.clone().display_order(at)));
    let alone = Command::new("list").disable_help_subcommand(true).term_width(WIDTH);
    let list = alone.help_template("{subcommands}").subcommands(named).render_help().to_string();
    format!("{}\n", list.trim_end())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write as _;

    use super::*;

    /// The reference of all commands, as `docs/commands.md` holds it.
    fn reference() -> String {
        fn add(all: &mut String, name: &str, command: &Command, level: usize) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(all, "\n{} {name}\n\n{about}.\n", "#".repeat(level));
            let mut alone = command.clone().disable_help_flag(true).disable_help_subcommand(true);
            let below: Vec<Command> =
                command.get_subcommands().filter(|c| !c.is_hide_set()).cloned().collect();
            if below.is_empty() || !command.is_subcommand_required_set() {
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
        for Group { title, commands, .. } in GROUPS {
            let _ = writeln!(all, "\n## {title}");
            for command in commands.iter().filter_map(|name| command.find_subcommand(name)) {
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
            "UPDATE_GOLDEN=1 cargo test --workspace --lib reference",
        );
        assert_eq!(wrong, None, "{}", wrong.as_deref().unwrap_or_default());
    }

    #[test]
    fn every_command_for_people_is_in_one_group() {
        let command = Cli::command();
        let people = command.get_subcommands().filter(|command| !command.is_hide_set());
        let people: BTreeSet<&str> = people.map(Command::get_name).collect();
        let grouped: Vec<&str> =
            GROUPS.iter().flat_map(|group| group.commands.iter().copied()).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), people);
        assert_eq!(grouped.len(), people.len(), "none twice");
    }

    #[test]
    fn an_alias_runs_its_command_and_shows_its_help() {
        let of = |line: &str| canonical(words(line));
        assert_eq!(of("x inject 47"), words("x show 47"));
        assert_eq!(of("x untag this all"), words("x tag --remove this all"));
        assert_eq!(of("x help untag"), words("x help tag"));
        assert_eq!(of("x help matrix"), words("x help tag matrix"));
        assert_eq!(of("x tag matrix"), words("x tag matrix"));
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn alone_it_lists_ten_commands_and_help_lists_those_of_a_group() {
        let first = page(&words("brain-guard")).unwrap();
        // A line that goes on is indented further.
        let is_command = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
        assert_eq!(first.lines().filter(is_command).count(), 10, "{first}");
        for line in ["history", "agent", "setup", "everyday", "all"] {
            let page = page(&words(&format!("brain-guard help {line}"))).unwrap();
            assert!(page.contains(" commands:\n  "), "{page}");
            assert!(page.lines().all(|line| line.chars().count() <= WIDTH), "{page}");
        }
        assert_eq!(page(&words("brain-guard help status")), None);
        assert_eq!(page(&words("brain-guard status")), None);
    }

    #[test]
    fn wrong_usage_is_answered_with_the_examples_of_its_command() {
        let of = |line: &str| examples(&words(line)).unwrap_or_default();
        assert!(of("brain-guard override").contains("brain-guard override 30m"));
        assert!(of("brain-guard settings check --nonsense").contains("settings check --window"));
        assert!(of("brain-guard close --all").contains("brain-guard close 3fa9c1"));
        assert_eq!(of("brain-guard frobnicate"), "");
    }
}
