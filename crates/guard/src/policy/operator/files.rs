//! What programs do to the files in their arguments: only read them, or change them.

use super::PROGRAM;
use super::programs::{assigns, xargs_command};
use crate::policy::shell::SimpleCommand;
use crate::policy::verbs::AGENT_VERBS;

/// Whether a command only reads the files it names. An allow-list, because other programs are
/// unknown. The first word must be the program itself: a prefix may run another one.
pub fn only_looks(command: &SimpleCommand) -> bool {
    looks(command) && command.writes.iter().all(|file| file == "/dev/null")
}

/// The words of a command that may name a file it changes. Its input counts, since it may be code.
pub fn changed_words(command: &SimpleCommand) -> Vec<&String> {
    let (words, code): (&[String], &[String]) = match command.words.split_first() {
        _ if looks(command) => (&[], &[]),
        Some((cp, rest)) if cp == "cp" => (changed_arguments(cp, rest), &[]),
        Some((tee, rest)) if tee == "tee" => (rest, &[]),
        _ => (&command.words, &command.input),
    };
    words.iter().chain(&command.writes).chain(code).collect()
}

/// Whether a command restores files from the repository.
pub fn restores(command: &SimpleCommand) -> bool {
    let git = command.words.split_first().filter(|(program, _)| *program == "git");
    git.and_then(|(_, rest)| git_verb(rest)).is_some_and(|v| matches!(v, "checkout" | "restore"))
}

/// Whether a command gets file names from its input and may change those files.
pub fn changes_piped_files(command: &SimpleCommand) -> bool {
    let words = xargs_command(&command.words).map(<[String]>::to_vec);
    words.is_some_and(|words| !looks(&SimpleCommand { words, ..SimpleCommand::default() }))
}

/// Whether a command leaves its argument files unchanged.
fn looks(command: &SimpleCommand) -> bool {
    let syntax = command.words.iter().take_while(|w| SYNTAX.contains(&w.as_str())).count();
    let Some((program, rest)) = command.words[syntax..].split_first() else { return true };
    let has = |flags: &[&str]| rest.iter().any(|w| flags.iter().any(|f| w.starts_with(f)));
    match program.as_str() {
        "cat" | "head" | "tail" | "ls" | "stat" | "wc" | "grep" | "egrep" | "fgrep" | "jq"
        | "du" | "readlink" | "realpath" | "test" | "[" | "echo" | "printf" | "true" | "cmp"
        | "md5sum" | "sha256sum" | "cut" | "tr" | "pwd" | "cd" | "which" | "dirname"
        | "basename" | "nl" | "fold" | "rev" | "tac" | "column" | "[[" | "file" | "od" | "comm"
        | "sleep" | "date" | "exit" | "tree" | "less" => true,
        // A formatter does not change the meaning of a file.
        "prettier" => !has(&["--plugin", "--config"]),
        // These copy a file into a repository of dotfiles.
        "chezmoi" => rest.first().is_some_and(|w| matches!(w.as_str(), "add" | "re-add" | "diff")),
        "uniq" => rest.iter().filter(|w| !w.starts_with('-')).count() < 2,
        "find" => !has(&["-exec", "-ok", "-delete", "-fprint", "-fls"]),
        "awk" => !rest.iter().any(|w| {
            w.contains(['>', '|']) || w.contains("system") || w.starts_with("-i") || w == "-f"
        }),
        "python3" | "python" => {
            matches!(rest, [m, tool] | [m, tool, _] if m == "-m" && tool == "json.tool")
        }
        // The arguments are notes and titles, which may mention a file.
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
            git_verb(rest).is_some_and(|verb| looks.contains(&verb))
                && !has(&["--output", "--ext-diff", "-O", "--open-files-in-pager"])
        }
        _ => false,
    }
}

fn git_verb(rest: &[String]) -> Option<&str> {
    let verb = match rest {
        [pager, rest @ ..] if pager == "--no-pager" => rest.first(),
        [flag, _, rest @ ..] if flag == "-C" => rest.first(),
        rest => rest.first(),
    };
    verb.map(String::as_str)
}

/// Shell keywords that may precede a command.
const SYNTAX: [&str; 13] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "time"];

/// Whether a command only assigns variables, which others may then read.
pub fn only_assigns(command: &SimpleCommand) -> bool {
    let name = |w: &String| {
        // These variables could turn a read-only program into another one.
        let harmless = |name: &str| !name.contains("PATH") && !name.contains("ENV");
        assigns(w) && w.split_once('=').is_some_and(|(n, _)| harmless(n) && !n.starts_with("LD_"))
    };
    command.writes.is_empty()
        && match command.words.as_slice() {
            [first, ..] if first == "for" => true,
            words => words.iter().all(name),
        }
}

/// The arguments that a program changes if it [`changes_files`].
pub fn changed_arguments<'a>(name: &str, rest: &'a [String]) -> &'a [String] {
    let flagged = |flags: &[&str]| rest.iter().any(|w| flags.iter().any(|f| w.starts_with(f)));
    match name {
        "sed" if !rest.iter().any(|w| w.starts_with('-') && w.contains('i')) => &[],
        // The source of a copy stays unchanged.
        "cp" | "rsync" if !flagged(&["-t", "--target", "--remove"]) => {
            let last = rest.iter().rposition(|w| !w.starts_with('-'));
            last.map_or(&[], |at| &rest[at..=at])
        }
        _ => rest,
    }
}

/// The arguments that the program removes or moves away.
pub fn removed_arguments<'a>(name: &str, rest: &'a [String]) -> &'a [String] {
    let to_folder = |w: &String| w.starts_with("-t") || w.starts_with("--target");
    match (name, rest) {
        ("rm", _) => rest,
        ("mv", _) if rest.iter().any(to_folder) => rest,
        ("mv", [sources @ .., _]) => sources,
        _ => &[],
    }
}

/// Whether a program removes, moves or changes files.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::shell::all_commands;

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
            assert_eq!(all_commands(script).iter().all(only_looks), looks, "{script}");
        }
    }
}
