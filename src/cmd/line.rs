//! A command line: the verb that it asks for, a page of help, or what is wrong with it.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _};

use crate::cli::{self, Cli, Verb};

/// What a command line asks for.
pub enum Line {
    /// A verb.
    Verb(Box<Verb>),
    /// A text of our own.
    Page(String),
    /// clap's help.
    Help(clap::Error),
    /// Wrong usage, with the command's examples.
    Wrong(clap::Error, Option<String>),
}

/// Reads a command line.
pub fn read(words: impl IntoIterator<Item = OsString>) -> Line {
    let words = cli::canonical(words);
    if let Some(page) = cli::page(&words) {
        return Line::Page(page);
    }
    let items = words.iter().cloned().map(list_item);
    let parsed = cli::command(&words).try_get_matches_from(items);
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(Cli { verb }) => Line::Verb(Box::new(verb)),
        Err(e) if !e.use_stderr() => Line::Help(e),
        // The whole help has the examples.
        Err(e) if e.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Line::Wrong(e, None)
        }
        Err(mut e) => {
            let tips =
                |tips: &[StyledStr]| tips.iter().all(|tip| tip.to_string().starts_with("to pass"));
            // "to pass '--all' as a value, use '-- --all'" is never what was meant.
            if matches!(e.get(ContextKind::Suggested), Some(ContextValue::StyledStrs(all)) if tips(all))
            {
                e.remove(ContextKind::Suggested);
            }
            let slip = cli::find_slip(&words).filter(|_| e.kind() == ErrorKind::InvalidSubcommand);
            let error = match slip {
                Some(slip) => Cli::command().error(e.kind(), slip),
                None => e,
            };
            Line::Wrong(error, cli::examples(&words))
        }
    }
}

/// An argument for clap. A value may be a list item: `append '- one thread'`. A line break before it
/// keeps clap from parsing an option, and means nothing in Markdown.
fn list_item(argument: OsString) -> OsString {
    let item = argument.as_encoded_bytes().starts_with(b"- ");
    if item { OsString::from_iter([OsString::from("\n"), argument]) } else { argument }
}
