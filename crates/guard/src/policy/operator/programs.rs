//! Programs that run another command or a script from their arguments, where an off switch may
//! hide. `files` covers what programs do to files.

use super::PROGRAM;
use crate::policy::shell::{SUBSTITUTED, SimpleCommand, all_commands};

/// Maximum nesting of commands inside commands.
const DEPTH: usize = 6;

/// All simple commands of a script, and the commands that they plainly run.
pub fn expand_commands(script: &str) -> Vec<SimpleCommand> {
    let mut all = Vec::new();
    for command in all_commands(script) {
        unfold(command, 0, &mut all);
    }
    all
}

fn unfold(mut command: SimpleCommand, depth: usize, all: &mut Vec<SimpleCommand>) {
    let begins = skip_prefixes(&command.words);
    let split = command.words[..begins].iter().position(|w| w == "-S").map(|at| at + 1);
    if let Some(text) = split.and_then(|at| command.words.get(at)).cloned() {
        // `env -S` splits its argument into words.
        more(&text, depth, all);
    }
    command.words.drain(..begins);
    if depth < DEPTH {
        inner(&command, depth, all);
    }
    all.push(command);
}

fn more(script: &str, depth: usize, all: &mut Vec<SimpleCommand>) {
    for command in all_commands(script) {
        unfold(command, depth + 1, all);
    }
}

/// Adds the commands that a command runs.
fn inner(command: &SimpleCommand, depth: usize, all: &mut Vec<SimpleCommand>) {
    let Some(program) = command.words.first() else { return };
    let rest = &command.words[1..];
    let of = |words: &[String], all: &mut Vec<SimpleCommand>| {
        let piped = name(program) == "xargs";
        let command = SimpleCommand { words: words.to_vec(), piped, ..SimpleCommand::default() };
        unfold(command, depth + 1, all);
    };
    match name(program) {
        shell if is_shell(shell) => {
            let flag = |w: &String| w.starts_with('-') && !w.starts_with("--") && w.ends_with('c');
            if let Some(script) = rest.iter().position(flag).and_then(|at| rest.get(at + 1)) {
                more(script, depth, all);
            } else if rest.iter().all(|w| w.starts_with('-')) {
                command.input.iter().for_each(|script| more(script, depth, all));
            }
        }
        "eval" => more(&rest.join(" "), depth, all),
        "xargs" | "parallel" => xargs_command(&command.words).into_iter().for_each(|w| of(w, all)),
        "find" | "fd" => {
            // Each word is read once, so that nesting cannot make this slow.
            let mut words = rest;
            while let Some(at) = words.iter().position(|w| runs_in_find(w)) {
                words = &words[at + 1..];
                let end = words.iter().position(|w| w == ";" || w == "+").unwrap_or(words.len());
                of(&words[..end], all);
                words = &words[end..];
            }
        }
        // These take a command as several words or as one, at any position.
        "tmux" | "screen" | "ssh" | "su" | "runuser" | "script" | "watch" | "systemd-run"
        | "docker" | "podman" | "nsenter" | "unshare" | "chroot" | "expect" | "xterm"
        | "gnome-terminal" | "flock" => {
            for (at, word) in rest.iter().enumerate() {
                if word.contains(char::is_whitespace) {
                    more(word, depth, all);
                } else if name(word) == PROGRAM || is_shell(name(word)) {
                    of(&rest[at..], all);
                    break;
                }
            }
        }
        "at" | "batch" | "crontab" => {
            command.input.iter().for_each(|script| more(script, depth, all));
        }
        _ => {}
    }
}

/// The command that `xargs` runs.
pub fn xargs_command(words: &[String]) -> Option<&[String]> {
    let (program, rest) = words.split_first()?;
    let runs = matches!(name(program), "xargs" | "parallel");
    runs.then(|| &rest[flags(rest, "IndPLsE")..])
}

fn runs_in_find(word: &str) -> bool {
    matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec")
}

/// A program's name without its folder.
pub fn name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether a program is a shell.
pub fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish" | "busybox")
}

/// Whether a program runs code in another language.
pub fn is_interpreter(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(name, "python" | "perl" | "node" | "ruby" | "php" | "deno" | "bun" | "lua" | "awk")
}

/// Whether a command runs its input, or the output of a substitution, as code.
pub fn runs_input(command: &SimpleCommand) -> bool {
    let Some((program, rest)) = command.words.split_first() else { return false };
    let bare = rest.iter().all(|w| w.starts_with('-'));
    let substituted = || rest.iter().any(|w| w == SUBSTITUTED);
    match name(program) {
        "source" | "." => substituted(),
        "at" | "batch" | "crontab" => true,
        n if is_shell(n) => bare || substituted(),
        n if is_interpreter(n) => bare && n != "awk",
        _ => false,
    }
}

/// Index of the program after assignments and prefixes such as `env` and `nohup`.
fn skip_prefixes(words: &[String]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let rest = &words[at..];
        match name(word) {
            _ if assigns(word) => {}
            "env" => at += flags(rest, "uCS"),
            "exec" => at += flags(rest, "a"),
            "sudo" | "doas" => at += flags(rest, "ugCDhpRrTtU"),
            "nice" | "ionice" | "chrt" | "taskset" => at += flags(rest, "ncp"),
            "timeout" => at += flags(rest, "sk") + 1,
            "command" if rest.first().is_some_and(|w| matches!(w.as_str(), "-v" | "-V")) => {
                return at - 1;
            }
            "command" | "builtin" | "nohup" | "setsid" | "time" | "stdbuf" | "unbuffer"
            | "strace" | "ltrace" | "!" | "{" | "then" | "do" | "else" | "elif" | "if"
            | "while" | "until" => at += flags(rest, "oeip"),
            _ => return at - 1,
        }
    }
    words.len()
}

/// Whether a word is an assignment such as `X=1`.
pub(super) fn assigns(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim_end_matches('+');
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Number of leading words that are flags. A flag in `valued` takes the next word as its value.
fn flags(words: &[String], valued: &str) -> usize {
    let mut at = 0;
    while let Some(flag) = words.get(at).filter(|w| w.starts_with('-') && w.len() > 1) {
        let mut letters = flag[1..].chars();
        let takes = letters.next().is_some_and(|c| valued.contains(c)) && letters.next().is_none();
        at += if takes { 2 } else { 1 };
    }
    at.min(words.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(script: &str) -> Vec<String> {
        expand_commands(script).iter().map(|c| c.words.join(" ")).collect()
    }

    #[test]
    fn commands_are_followed_into_what_they_run() {
        for script in [
            "x y",
            "env -u A B=1 x y",
            "env -S 'x y'",
            "nohup timeout -s KILL 5 nice -n 19 x y &",
            "exec -a other x y",
            "sh -c 'x y'",
            "bash -lc \"x y\"",
            "eval x y",
            "bash <<< 'x y'",
            "sh -s <<'E'\nx y\nE",
            "ls | xargs -I {} -n 1 x y",
            "find . -name a -exec x y \\;",
            "tmux new-window 'x y'",
            "sh -c 'sh -c \"x y\"'",
            "if x y; then true; fi",
            "a \"$(x y)\"",
        ] {
            assert!(words(script).contains(&"x y".to_owned()), "{script}: {:?}", words(script));
        }
        for script in ["echo 'x y; x y'", "cat <<'E'\nx y\nE", "command -v x y", "git log -S 'x y'"]
        {
            assert!(!words(script).contains(&"x y".to_owned()), "{script}");
        }
    }
}
