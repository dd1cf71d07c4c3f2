//! What programs do with their arguments, as far as an off switch may hide in them:
//! which run another command, which run a script, which only look.

use super::PROGRAM;
use super::words::{SUBSTITUTED, Simple, simple_commands};
use crate::policy::carve_outs::AGENT_VERBS;

/// How deep commands inside commands are followed.
const DEPTH: usize = 6;

/// A simple command and all that it is plainly told to run.
pub fn unfolded(script: &str) -> Vec<Simple> {
    let mut all = Vec::new();
    for command in simple_commands(script) {
        unfold(command, 0, &mut all);
    }
    all
}

fn unfold(mut command: Simple, depth: usize, all: &mut Vec<Simple>) {
    let begins = behind_prefixes(&command.words);
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

fn more(script: &str, depth: usize, all: &mut Vec<Simple>) {
    for command in simple_commands(script) {
        unfold(command, depth + 1, all);
    }
}

/// What a command is told to run.
fn inner(command: &Simple, depth: usize, all: &mut Vec<Simple>) {
    let Some(program) = command.words.first() else { return };
    let rest = &command.words[1..];
    let of = |words: &[String], all: &mut Vec<Simple>| {
        let piped = name(program) == "xargs";
        let command = Simple { words: words.to_vec(), piped, ..Simple::default() };
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
        "xargs" | "parallel" => of(&rest[flags(rest, "IndPLsE")..], all),
        "find" | "fd" => {
            // Each word is looked at once: nothing nested makes this take longer.
            let mut words = rest;
            while let Some(at) = words.iter().position(|w| runs_in_find(w)) {
                words = &words[at + 1..];
                let end = words.iter().position(|w| w == ";" || w == "+").unwrap_or(words.len());
                of(&words[..end], all);
                words = &words[end..];
            }
        }
        // They take a command as words or as one word, wherever it begins.
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

fn runs_in_find(word: &str) -> bool {
    matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec")
}

/// A program's own name.
pub fn name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether it runs scripts of the shell's.
pub fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish" | "busybox")
}

/// Whether it runs code in a language of its own.
pub fn is_interpreter(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(name, "python" | "perl" | "node" | "ruby" | "php" | "deno" | "bun" | "lua" | "awk")
}

/// Whether it runs what comes in on its input.
pub fn runs_input(command: &Simple) -> bool {
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

/// Whether a command only looks at the files it names. An allow-list: for all others
/// there is no telling. Takes the words as they stand: what comes in front of a program
/// may make another of it.
pub fn only_looks(command: &Simple) -> bool {
    looks(command) && command.writes.iter().all(|file| file == "/dev/null")
}

/// The words of a command that may name what it changes.
pub fn at_stake(command: &Simple) -> Vec<&String> {
    let words = match command.words.split_first() {
        _ if looks(command) => &[],
        Some((cp, rest)) if cp == "cp" => changed(cp, rest),
        _ => command.words.as_slice(),
    };
    words.iter().chain(&command.writes).collect()
}

/// Whether a command changes none of the files that it takes as arguments.
fn looks(command: &Simple) -> bool {
    let syntax = command.words.iter().take_while(|w| SYNTAX.contains(&w.as_str())).count();
    let Some((program, rest)) = command.words[syntax..].split_first() else { return true };
    let has = |flags: &[&str]| rest.iter().any(|w| flags.iter().any(|f| w.starts_with(f)));
    match program.as_str() {
        "cat" | "head" | "tail" | "ls" | "stat" | "wc" | "grep" | "egrep" | "fgrep" | "jq"
        | "du" | "readlink" | "realpath" | "test" | "[" | "echo" | "printf" | "true" | "cmp"
        | "md5sum" | "sha256sum" | "cut" | "tr" | "pwd" | "cd" | "which" | "dirname"
        | "basename" | "nl" | "fold" | "rev" | "tac" | "column" | "[[" | "file" | "od" | "comm"
        | "sleep" | "date" | "exit" => true,
        "uniq" => rest.iter().filter(|w| !w.starts_with('-')).count() < 2,
        "find" => !has(&["-exec", "-ok", "-delete", "-fprint", "-fls"]),
        "awk" => !rest.iter().any(|w| {
            w.contains(['>', '|']) || w.contains("system") || w.starts_with("-i") || w == "-f"
        }),
        "python3" | "python" => {
            matches!(rest, [m, tool] | [m, tool, _] if m == "-m" && tool == "json.tool")
        }
        // Notes and titles that name a file.
        PROGRAM => {
            rest.first().is_some_and(|verb| AGENT_VERBS.contains(&verb.as_str()))
                && !has(&["--file"])
        }
        "gh" => {
            rest.first().is_some_and(|w| matches!(w.as_str(), "pr" | "issue"))
                && rest.get(1).is_some_and(|w| w != "checkout")
        }
        "sed" => {
            let in_place = |w: &String| w.starts_with('-') && w.contains('i');
            !rest.iter().any(in_place)
        }
        "sort" => !has(&["-o", "--output"]),
        "diff" => !has(&["--output"]),
        "rg" => !has(&["--pre"]),
        "git" => {
            let looks = [
                "add",
                "commit",
                "diff",
                "log",
                "show",
                "status",
                "blame",
                "ls-files",
                "grep",
                "check-ignore",
                "ls-tree",
                "rev-parse",
                "tag",
            ];
            let verb = match rest {
                [pager, rest @ ..] if pager == "--no-pager" => rest.first(),
                [flag, _, rest @ ..] if flag == "-C" => rest.first(),
                rest => rest.first(),
            };
            verb.is_some_and(|verb| looks.contains(&verb.as_str()))
                && !has(&["--output", "--ext-diff", "-O", "--open-files-in-pager"])
        }
        _ => false,
    }
}

/// Words of the shell's own that a command stands behind.
const SYNTAX: [&str; 13] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "time"];

/// Whether a command does nothing but give a name to what others may then look at.
pub fn only_names(command: &Simple) -> bool {
    let name = |w: &String| {
        // What makes other programs of the ones that only look.
        let harmless = |name: &str| !name.contains("PATH") && !name.contains("ENV");
        assigns(w) && w.split_once('=').is_some_and(|(n, _)| harmless(n) && !n.starts_with("LD_"))
    };
    command.writes.is_empty()
        && match command.words.as_slice() {
            [first, ..] if first == "for" => true,
            words => words.iter().all(name),
        }
}

/// The arguments that are changed by a program that [`changes_files`].
pub fn changed<'a>(name: &str, rest: &'a [String]) -> &'a [String] {
    let flagged = |flags: &[&str]| rest.iter().any(|w| flags.iter().any(|f| w.starts_with(f)));
    match name {
        "sed" if !rest.iter().any(|w| w.starts_with('-') && w.contains('i')) => &[],
        // What is copied stays as it is.
        "cp" | "rsync" if !flagged(&["-t", "--target", "--remove"]) => {
            let last = rest.iter().rposition(|w| !w.starts_with('-'));
            last.map_or(&[], |at| &rest[at..=at])
        }
        _ => rest,
    }
}

/// Whether it takes files away, moves them or changes what they are.
pub fn changes_files(name: &str) -> bool {
    matches!(
        name,
        "rm" | "rmdir"
            | "mv"
            | "cp"
            | "ln"
            | "install"
            | "chmod"
            | "chown"
            | "chattr"
            | "setfacl"
            | "truncate"
            | "dd"
            | "tee"
            | "unlink"
            | "rename"
            | "shred"
            | "rsync"
            | "touch"
            | "patch"
            | "sed"
            | "mount"
    )
}

/// Where a command begins behind assignments and words like `env` and `nohup`.
fn behind_prefixes(words: &[String]) -> usize {
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

fn assigns(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim_end_matches('+');
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// How many words are flags; the letters of `valued` take the next word along.
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
        unfolded(script).iter().map(|c| c.words.join(" ")).collect()
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

    #[test]
    fn who_only_looks() {
        for (script, looks) in [
            ("cat f 2>/dev/null", true),
            ("jq '.a | .b' f", true),
            ("git add f", true),
            ("cat f > g", false),
            ("sed -i s/a/b/ f", false),
            ("sed -n 3p f", true),
            ("sort -o f f", false),
            ("git checkout f", false),
            ("./cat f", false),
            ("PATH=. cat f", false),
            ("cat \"$(rm f)\"", false),
        ] {
            assert_eq!(simple_commands(script).iter().all(only_looks), looks, "{script}");
        }
    }
}
