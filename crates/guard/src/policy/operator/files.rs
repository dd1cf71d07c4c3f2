//! What programs do to the files they are told: which only look, which change them.

use super::PROGRAM;
use super::programs::{assigns, behind_xargs};
use crate::policy::shell::Simple;
use crate::policy::verbs::AGENT_VERBS;

/// Whether a command only looks at the files it names. An allow-list: for all others
/// there is no telling. Takes the words as they stand: what comes in front of a program
/// may make another of it.
pub fn only_looks(command: &Simple) -> bool {
    looks(command) && command.writes.iter().all(|file| file == "/dev/null")
}

/// The words of a command that may name what it changes. What it is given to read may be code.
pub fn at_stake(command: &Simple) -> Vec<&String> {
    let (words, code): (&[String], &[String]) = match command.words.split_first() {
        _ if looks(command) => (&[], &[]),
        Some((cp, rest)) if cp == "cp" => (changed(cp, rest), &[]),
        Some((tee, rest)) if tee == "tee" => (rest, &[]),
        _ => (&command.words, &command.input),
    };
    words.iter().chain(&command.writes).chain(code).collect()
}

/// Whether a command brings files back as the repository has them.
pub fn restores(command: &Simple) -> bool {
    let git = command.words.split_first().filter(|(program, _)| *program == "git");
    git.and_then(|(_, rest)| git_verb(rest)).is_some_and(|v| matches!(v, "checkout" | "restore"))
}

/// Whether a command does more than look at files whose names it reads from its input.
pub fn changes_what_comes_in(command: &Simple) -> bool {
    let words = behind_xargs(&command.words).map(<[String]>::to_vec);
    words.is_some_and(|words| !looks(&Simple { words, ..Simple::default() }))
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
        | "sleep" | "date" | "exit" | "tree" | "less" => true,
        // A formatter leaves what a file says.
        "prettier" => !has(&["--plugin", "--config"]),
        // They copy a file into a repository of dotfiles.
        "chezmoi" => rest.first().is_some_and(|w| matches!(w.as_str(), "add" | "re-add" | "diff")),
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

/// The arguments that are not there any more afterwards.
pub fn taken_away<'a>(name: &str, rest: &'a [String]) -> &'a [String] {
    let to_folder = |w: &String| w.starts_with("-t") || w.starts_with("--target");
    match (name, rest) {
        ("rm", _) => rest,
        ("mv", _) if rest.iter().any(to_folder) => rest,
        ("mv", [sources @ .., _]) => sources,
        _ => &[],
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
