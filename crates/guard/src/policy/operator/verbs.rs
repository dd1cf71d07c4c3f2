//! The verbs that only the operator may run, and how to find them in a text.

use super::PROGRAM;
use super::programs::name;

/// Each verb, and the words that must follow it in this order.
const OPERATORS: [&[&str]; 12] = [
    &["override"],
    &["uninstall"],
    &["purge"],
    &["later"],
    &["now"],
    // Only a slash form.
    &["setup"],
    &["slim"],
    &["edit"],
    &["undo"],
    &["extract", "yes"],
    &["job", "accept"],
    &["extract", "gc", "--forget"],
];

/// Flags with which a verb changes nothing.
const LOOKS: [&str; 5] = ["--help", "-h", "--version", "-V", "--dry-run"];

/// Maximum words of a text that may belong to one verb.
const LONGEST: usize = 16;

/// Whether the words after the program's name are one of the operator's verbs. `more`: a program
/// such as `xargs` may append unknown words.
pub fn is_operators(words: &[&str], more: bool) -> bool {
    let words = arguments(words);
    if changes_nothing(words) {
        return false;
    }
    // A placeholder of `xargs -I {}` may become any word.
    let fits = |word: &str, part: &str| word == part || word == "{}";
    OPERATORS.iter().any(|path| {
        let mut rest = words.iter();
        let mut all = path.iter();
        let begins = all.next().zip(rest.next()).is_some_and(|(part, word)| fits(word, part));
        (begins && all.all(|part| rest.any(|word| fits(word, part))))
            || (more && path.starts_with(words))
    })
}

/// Whether a flag such as `--help` prevents any change.
pub fn changes_nothing(words: &[&str]) -> bool {
    words.iter().any(|w| LOOKS.contains(w))
}

/// The verb and the words after it. Skips words before the verb, except flags with which it changes
/// nothing.
pub fn arguments<'a>(mut words: &'a [&'a str]) -> &'a [&'a str] {
    loop {
        words = match words {
            ["--session" | "--call" | "--project", _, rest @ ..] => rest,
            [word, ..] if LOOKS.contains(word) => return words,
            // A variable may be empty.
            [word, rest @ ..] if word.starts_with(['-', '$']) => rest,
            _ => return words,
        }
    }
}

/// Whether a text has a line such as `brain-guard override`, with any quotes and brackets around
/// the words.
pub fn are_named_in(text: &str) -> bool {
    let bare = |c| !matches!(c, '"' | '\'' | '\\');
    let text: String = text.chars().filter(|c| bare(*c)).collect();
    // A closing parenthesis ends the line, as the shell's operators do.
    text.split([')', ';', '|', '&']).filter(|line| line.contains(PROGRAM)).any(|line| {
        let between = |c: char| c.is_whitespace() || ",[](){}".contains(c);
        let words: Vec<&str> = line.split(between).filter(|w| !w.is_empty()).collect();
        let ours = |at: &usize| name(words[*at]) == PROGRAM;
        (0..words.len()).filter(ours).any(|at| is_operators(verb_words(&words, at + 1), false))
    })
}

/// Whether a text has one of these verbs as the client's prompt takes it: `/brain-guard:later`.
pub fn are_typed_in(text: &str) -> bool {
    text.match_indices("brain-guard:").any(|(at, sign)| {
        let rest = &text[at + sign.len()..];
        let around = |c: char| c.is_ascii_punctuation() && !"-{}".contains(c);
        let words = rest.split_whitespace().take(LONGEST).map(|w| w.trim_matches(around));
        !rest.starts_with(char::is_whitespace) && is_operators(&words.collect::<Vec<_>>(), false)
    })
}

/// The words from `at` on that may belong to one verb.
fn verb_words<'a, 'b>(words: &'a [&'b str], at: usize) -> &'a [&'b str] {
    &words[at..words.len().min(at + LONGEST)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_verbs_are_told_from_the_others() {
        let is = |text: &str| is_operators(&text.split(' ').collect::<Vec<_>>(), false);
        for text in [
            "override --for 30m",
            "--project . override",
            "--session s job --call t accept parser",
            "job accept parser",
            "purge --age 30d",
            "later 30m",
            "now",
            "extract gc --forget",
            "extract gc this --forget",
            "slim yes",
            "undo redo",
            "extract yes",
            "$EMPTY override",
            "{} x",
            "job {} x",
        ] {
            assert!(is(text), "{text}");
        }
        for text in [
            "append now",
            "append --kind why override",
            "job list",
            "job focus now",
            "job",
            "purge --dry-run",
            "purge --help",
            "extract gc --dry-run",
            "extract gc",
            "store export 3f0a9d1e",
            "phase enter now",
            "search override",
        ] {
            assert!(!is(text), "{text}");
        }
        assert!(is_operators(&["job"], true) && is_operators(&[], true));
        assert!(!is_operators(&["job", "list"], true) && !is_operators(&["append"], true));
    }

    #[test]
    fn operators_verbs_are_found_in_texts() {
        for text in [
            "os.system('brain-guard job accept x')",
            "run([\n  \"brain-guard\",\n  \"extract\", \"gc\", \"--forget\"])",
            "spawn('/opt/brain-guard', ['now'])",
            "echo brain-guard purge | sh",
        ] {
            assert!(are_named_in(text), "{text}");
        }
        for text in [
            "run(['brain-guard', 'append', 'do it now'])",
            "which('brain-guard'); now = time()",
            "run(['brain-guard'])\nnow = time()",
            "brain-guard status | later",
            "brain-guard job list; accept",
        ] {
            assert!(!are_named_in(text), "{text}");
        }
        for text in [
            "/brain-guard:now",
            "/loop 5m /brain-guard:later 30m",
            "Run \"/brain-guard:purge\".",
            "/brain-guard:job accept parser",
            "/brain-guard:setup off",
        ] {
            assert!(are_typed_in(text), "{text}");
        }
        for text in ["/brain-guard:status now", "/brain-guard:job list", "brain-guard: now"] {
            assert!(!are_typed_in(text), "{text}");
        }
    }
}
