//! Every command that a page or a help text shows can be typed as it stands.
#![allow(clippy::disallowed_methods, reason = "tests are an edge: they read the pages")]

use std::fs;
use std::path::Path;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory as _, Parser as _};

use testing::commands::all_commands;

use super::Cli;

/// The lines of a Markdown page that are code.
fn code(page: &str) -> String {
    page.lines().filter_map(|line| line.strip_prefix("    ")).collect::<Vec<_>>().join("\n")
}

/// The commands of ours in a script that the program does not understand, with the reason.
fn wrong(script: &str) -> Vec<String> {
    let ours = |words: &Vec<String>| words.first().is_some_and(|word| word == "brain-guard");
    // An optional part of a command's form is no example.
    let lines = script.lines().filter(|line| !line.contains("[OPTIONS]") && !line.contains('…'));
    let script = lines.collect::<Vec<_>>().join("\n");
    let commands = all_commands(&script).into_iter().filter(ours);
    commands
        .filter_map(|words| {
            let error = Cli::try_parse_from(&words).err()?;
            let shown = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion];
            (!shown.contains(&error.kind())).then(|| format!("{}: {error}", words.join(" ")))
        })
        .collect()
}

#[test]
fn every_command_in_the_docs_is_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for folder in ["docs", "commands", "skills/brain-guard", "skills/extraction"] {
        let entries = fs::read_dir(root.join(folder)).unwrap().flatten().map(|entry| entry.path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    // The reference shows forms, not examples; its examples are those of the help.
    pages.retain(|page| !page.ends_with("docs/commands.md"));
    let wrong: Vec<String> = pages
        .iter()
        .flat_map(|page| {
            let found = wrong(&code(&fs::read_to_string(page).unwrap()));
            found.into_iter().map(|error| format!("{}: {error}", page.display()))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_example_of_a_help_text_is_understood() {
    fn examples(command: &Command, all: &mut String) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines().filter_map(|line| line.strip_prefix("  ")) {
            all.push_str(line);
            all.push('\n');
        }
        command.get_subcommands().for_each(|command| examples(command, all));
    }
    let mut all = String::new();
    examples(&Cli::command(), &mut all);
    assert!(all.contains("brain-guard search"));
    let wrong = wrong(&all);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_command_that_is_not_understood_is_found() {
    assert_eq!(wrong("brain-guard frobnicate\nls; brain-guard status --nonsense").len(), 2);
}
