//! What stays allowed at every tier: the guard's own verbs and the compaction file. An allow-list
//! recognizes them, never a guess about shell.

use super::verbs;
use std::fmt::Write as _;

use super::operator::is_operators;
use super::shell::{Word, accepted_commands};
use base::shown::shell_quote;

/// Flags that only the hook may give; `--file` could name a file that belongs to no job.
const HOOKS_OWN: [&str; 4] = ["--session", "--call", "--project", "--file"];

/// The call that runs a command, for the command's rewrite.
#[derive(Debug, Clone)]
pub struct Caller<'a> {
    /// Absolute path of the running binary. A plugin's `bin/` is last in `PATH`, and a
    /// repository's own `brain-guard` must not run without permission.
    pub program: &'a str,
    /// Session the call belongs to.
    pub session: &'a str,
    /// Tool-use id of the call.
    pub call: &'a str,
    /// The project's root.
    pub project: &'a str,
}

/// A shell command that runs only our verbs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCommand {
    /// The command with our absolute path and the caller's ids put in.
    pub rewritten: String,
    /// The verbs it runs, in order.
    pub verbs: Vec<String>,
    /// The words after the verbs, which may include a job's name.
    pub words: Vec<String>,
}

/// Recognizes `[cd <project> &&] brain-guard VERB … [&& | ; | newline …] [2>&1]` with quoted
/// heredocs, and rewrites it. `None` for everything else. `is_project` checks the argument of `cd`.
pub fn own_command(
    command: &str,
    caller: &Caller,
    is_project: impl Fn(&str) -> bool,
) -> Option<OwnCommand> {
    parse_own_command(command, caller, is_project).ok()
}

/// Why the hook does not accept a command as our own, in words for the agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotOwnCommand(String);

/// Like [`own_command`], but with the reason if it is not accepted.
pub fn parse_own_command(
    command: &str,
    caller: &Caller,
    is_project: impl Fn(&str) -> bool,
) -> Result<OwnCommand, NotOwnCommand> {
    let refuse = |why: String| Err(NotOwnCommand(why));
    let commands =
        accepted_commands(command).map_err(|place| NotOwnCommand(place.describe(command)))?;
    let mut rewritten = String::with_capacity(command.len() + 160);
    let mut copied = 0;
    let mut verbs = Vec::new();
    let mut words = Vec::new();
    for (index, simple) in commands.iter().enumerate() {
        let Some((program, rest)) = simple.split_first() else { continue };
        if index == 0 && program.text == "cd" {
            if rest.len() != 1 || !is_project(&rest[0].text) {
                return refuse(format!("`cd` must go to {}", caller.project));
            }
            continue;
        }
        if program.text != "brain-guard" && program.text != caller.program {
            return refuse(format!("`{}` is not brain-guard", shown(&program.text)));
        }
        let Some(verb) = rest.first() else { return refuse("brain-guard has no verb".into()) };
        if !verbs::AGENT_VERBS.contains(&verb.text.as_str()) {
            let verbs = verbs::AGENT_VERBS.join(", ");
            return refuse(format!("`{}` is not one of the verbs {verbs}", shown(&verb.text)));
        }
        let texts: Vec<&str> = rest.iter().map(|w| w.text.as_str()).collect();
        if is_operators(&texts, false) {
            return refuse(format!("only the user may run `{}`", shown(&texts.join(" "))));
        }
        let foreign = |w: &&Word| HOOKS_OWN.iter().any(|flag| w.text.starts_with(flag));
        if let Some(word) = rest.iter().find(foreign) {
            return refuse(format!("an agent may not pass `{}`", shown(&word.text)));
        }
        rewritten.push_str(&command[copied..program.range.start]);
        rewritten.push_str(&shell_quote(caller.program));
        rewritten.push_str(&command[program.range.end..verb.range.end]);
        for (flag, value) in
            [("session", caller.session), ("call", caller.call), ("project", caller.project)]
        {
            let _ = write!(rewritten, " --{flag} {}", shell_quote(value));
        }
        copied = verb.range.end;
        verbs.push(verb.text.clone());
        words.extend(rest[1..].iter().map(|word| word.text.clone()));
    }
    rewritten.push_str(&command[copied..]);
    if verbs.is_empty() {
        refuse("it runs no verb".into())
    } else {
        Ok(OwnCommand { rewritten, verbs, words })
    }
}

/// Whether a command runs only our program, with any verbs and flags.
pub fn runs_only_ours(command: &str, program: &str) -> bool {
    let ours = |words: &Vec<Word>| {
        words
            .first()
            .is_none_or(|word| ["cd", "brain-guard", program].contains(&word.text.as_str()))
    };
    accepted_commands(command).is_ok_and(|commands| commands.iter().all(ours))
}

/// The beginning of a word from the agent, escaped.
fn shown(word: &str) -> String {
    word.chars().take(40).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLER: Caller =
        Caller { program: "/opt/bg/bin/brain-guard", session: "s1", call: "t1", project: "/my p" };

    fn own(command: &str) -> Option<OwnCommand> {
        own_command(command, &CALLER, |p| p == "/my p")
    }

    #[test]
    fn rewrites_program_and_ids_and_nothing_else() {
        let got =
            own("cd '/my p' && brain-guard append --kind risk <<'EOF' 2>&1\n$HOME `x` > y\nEOF\n");
        let got = got.unwrap();
        assert_eq!(
            got.rewritten,
            "cd '/my p' && /opt/bg/bin/brain-guard append --session s1 --call t1 --project '/my p' \
             --kind risk <<'EOF' 2>&1\n$HOME `x` > y\nEOF\n"
        );
        assert_eq!(got.verbs, ["append"]);
        assert_eq!(own("brain-guard append 'a' && brain-guard seal").unwrap().verbs.len(), 2);
        assert!(own("/opt/bg/bin/brain-guard status").is_some());
        assert!(own("brain-guard steering --json").is_some());
        let exit = own("brain-guard phase exit --kind risk 'a | b'").unwrap();
        assert_eq!(
            exit.rewritten,
            "/opt/bg/bin/brain-guard phase --session s1 --call t1 --project '/my p' exit --kind risk 'a | b'"
        );
    }

    #[test]
    fn what_stands_against_a_command_is_told() {
        for (command, why) in [
            ("cd /else && brain-guard seal", "`cd` must go to /my p"),
            ("brain-guard seal && ls -l", "`ls` is not brain-guard"),
            ("brain-guard", "brain-guard has no verb"),
            ("brain-guard append x --session y", "an agent may not pass `--session`"),
            ("", "it runs no verb"),
            ("brain-guard append x | sh", "`|` outside single quotes at column 22"),
        ] {
            let told =
                parse_own_command(command, &CALLER, |p| p == "/my p").unwrap_err().to_string();
            assert_eq!(told, why, "{command}");
        }
        let verb =
            parse_own_command("brain-guard override", &CALLER, |_| true).unwrap_err().to_string();
        assert!(verb.starts_with("`override` is not one of the verbs append, "), "{verb}");
    }

    #[test]
    fn everything_else_is_not_ours() {
        for command in [
            "",
            "cd '/my p'",
            "ls",
            "brain-guard",
            "brain-guard override --for 30m",
            "brain-guard job accept parser",
            "brain-guard job --json accept parser",
            "brain-guard mod step",
            "brain-guard append x | sh",
            "brain-guard append \"$(cat x)\"",
            "cd /elsewhere && brain-guard seal",
            "./brain-guard seal",
            "/tmp/brain-guard seal",
            "brain-guard seal && ls",
            "ls && brain-guard seal",
            "brain-guard append x > f",
            "brain-guard seal --session other",
            "brain-guard seal --file /etc/passwd",
            "X=1 brain-guard seal",
            "brain-guard seal && cd '/my p'",
            "brain-guard append x &",
        ] {
            assert_eq!(own(command), None, "{command}");
        }
    }
}
