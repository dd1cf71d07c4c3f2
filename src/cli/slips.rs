//! Words that users try first, and the commands that do it.

use std::ffi::OsString;

use clap::CommandFactory as _;

use super::Cli;

const OFF: &str = "`brain-guard override 30m` lifts the guard for a while, `brain-guard settings \
                   set mode off` until you set it again";

const ON: &str = "`brain-guard override --off` ends an override, `brain-guard settings set mode \
                  default` undoes `settings set mode off`";

const TIERS: &str = "`brain-guard settings check` prints them, `brain-guard settings set \
                     tiers.coach.context 30` changes one";

/// What was typed, and what does it.
const SLIPS: [(&str, &str); 27] = [
    ("off", OFF),
    ("disable", OFF),
    ("stop", OFF),
    ("pause", OFF),
    ("unblock", OFF),
    ("on", ON),
    ("enable", ON),
    ("why", "`brain-guard explain` says why a call was blocked"),
    ("clear", "`brain-guard now` clears a session whose notes are sealed"),
    ("restart", "`brain-guard now` clears a session whose notes are sealed"),
    ("compact", "`/brain-guard:slim` at the client's prompt shortens its session"),
    ("slim", "`/brain-guard:slim` at the client's prompt shortens its session"),
    ("undo", "`/brain-guard:undo` at the client's prompt goes back to the session before surgery"),
    ("config", "`brain-guard settings show` prints the settings"),
    ("settings get", "`brain-guard settings show` prints the settings"),
    ("settings reset", "`brain-guard settings set KEY default` takes a key out"),
    ("settings unset", "`brain-guard settings set KEY default` takes a key out"),
    ("ls", "`brain-guard sessions` lists the project's sessions"),
    ("list", "`brain-guard sessions` lists the project's sessions"),
    (
        "history",
        "`brain-guard sessions` lists the project's sessions, `brain-guard view` opens them",
    ),
    ("surgery undo", "`brain-guard surgery remove` removes a session that surgery made"),
    (
        "update",
        "to update, install again, or run `claude plugin update` if you use its marketplace",
    ),
    (
        "upgrade",
        "to upgrade, install again, or run `claude plugin update` if you use its marketplace",
    ),
    ("mode", "`brain-guard settings set mode shadow` or `off` changes it"),
    ("tiers", TIERS),
    ("settings tiers", TIERS),
    ("version", "`brain-guard --version` prints it"),
];

/// What to say of words that name no command, if it is known what they were meant to do.
pub fn find_slip(words: &[OsString]) -> Option<String> {
    let verb = words.get(1)?.to_str()?;
    let both = words.get(2).and_then(|word| word.to_str()).map(|next| format!("{verb} {next}"));
    let is_typed = |typed: &str| typed == verb || both.as_deref() == Some(typed);
    if let Some((typed, does)) = SLIPS.iter().find(|(typed, _)| is_typed(typed)) {
        return Some(format!("there is no command `{typed}`; {does}"));
    }
    let command = Cli::command();
    let mut groups = command.get_subcommands();
    let group = groups.find(|group| group.find_subcommand(verb).is_some())?.get_name();
    Some(format!("there is no command `{verb}`; `brain-guard {group} {verb}` is one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_is_taken_for_a_slip() {
        let command = Cli::command();
        for (typed, _) in SLIPS {
            let words: Vec<OsString> = format!("x {typed}").split(' ').map(Into::into).collect();
            assert!(find_slip(&words).is_some());
            let mut words = typed.split(' ');
            let found = words.try_fold(&command, |at, word| at.find_subcommand(word));
            assert!(found.is_none(), "{typed} is a command");
        }
    }
}
