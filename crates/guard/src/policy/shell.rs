//! Reads shell scripts as simple commands. `all_commands` finds what any script might do, if its
//! spelling is plain. `accepted_commands` knows for certain what a script does, for a small part of
//! the grammar; it fails outside it.

mod reader;

use std::ops::Range;

use reader::{Heredocs, Reader};

/// A word of a simple command.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text the program would see, without quotes.
    pub text: String,
    /// Bytes of the script that it was read from.
    pub range: Range<usize>,
}

/// One simple command.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct SimpleCommand<W = String> {
    /// Its words without their quotes.
    pub words: Vec<W>,
    /// Files that its output goes to.
    pub writes: Vec<String>,
    /// Its input from heredocs and here-strings.
    pub input: Vec<String>,
    /// Its input is another command's output.
    pub piped: bool,
}

/// Stands in a word for the output of a substitution.
pub const SUBSTITUTED: &str = "$()";

/// The first place where a script leaves the accepted grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAccepted {
    /// The construct there.
    pub what: String,
    /// Byte offset in the script.
    pub at: usize,
}

impl NotAccepted {
    /// The construct with its line and column, counted from 1.
    pub fn describe(&self, script: &str) -> String {
        let before = script.get(..self.at).unwrap_or(script);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let line = if line == 1 { String::new() } else { format!("line {line}, ") };
        format!("{} at {line}column {column}", self.what)
    }
}

/// The simple commands of a script that joins them by `&&`, `;` or newline.
///
/// # Errors
/// The first place of anything else: substitution, expansion, pipes, redirections other than a
/// trailing `2>&1` and quoted heredocs, background, comments.
pub fn accepted_commands(script: &str) -> Result<Vec<Vec<Word>>, NotAccepted> {
    let (commands, not_accepted) = Reader::new(script, Heredocs::Exact).read();
    match not_accepted {
        Some(not_accepted) => Err(not_accepted),
        None => Ok(commands.into_iter().map(|c| c.words).filter(|w| !w.is_empty()).collect()),
    }
}

/// The simple commands of any script, including those in substitutions. Constructs that the reader
/// does not understand still yield words, so callers must never allow anything because of them.
pub fn all_commands(script: &str) -> Vec<SimpleCommand> {
    let (commands, _) = Reader::new(script, Heredocs::Loose).read();
    let without_ranges = |SimpleCommand { words, writes, input, piped }: SimpleCommand<Word>| {
        let words = words.into_iter().map(|word| word.text).collect();
        SimpleCommand { words, writes, input, piped }
    };
    let is_empty =
        |c: &SimpleCommand| c.words.is_empty() && c.writes.is_empty() && c.input.is_empty();
    commands.into_iter().map(without_ranges).filter(|c| !is_empty(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(script: &str) -> Option<Vec<Vec<String>>> {
        let commands = accepted_commands(script).ok()?;
        Some(commands.into_iter().map(|c| c.into_iter().map(|w| w.text).collect()).collect())
    }

    #[test]
    fn forms_of_our_own_verbs_are_accepted() {
        let words = |list: &[&[&str]]| {
            Some(list.iter().map(|c| c.iter().map(|w| (*w).to_owned()).collect()).collect())
        };
        for (script, expected) in [
            ("a b", words(&[&["a", "b"]])),
            ("a 'x $y' \"z w\" 2>&1", words(&[&["a", "x $y", "z w"]])),
            ("cd /p && a; b\nc", words(&[&["cd", "/p"], &["a"], &["b"], &["c"]])),
            ("a <<'EOF'\n$(rm) > `x` | y\nEOF\n", words(&[&["a"]])),
            ("a --k v <<\"E O\" && b\nbody\nE O\nc", words(&[&["a", "--k", "v"], &["b"], &["c"]])),
            ("a <<-'X'\n\tt\n\tX", words(&[&["a"]])),
            ("a <<'X' <<'Y'\nY\nX\nX\nY\nb", words(&[&["a"], &["b"]])),
            ("a <<'X'\n\tX\nX\nb", words(&[&["a"], &["b"]])),
            ("a <<'X'Y\nX\nXY", words(&[&["a"]])),
            ("a <<''\nx\n\nb", words(&[&["a"], &["b"]])),
            ("a 2>&1 <<'X' 2>&1;b\nX", words(&[&["a"], &["b"]])),
            ("a <<'X'\r\nx\r\nX\r\nb", words(&[&["a"], &["b"]])),
            ("a \\\n  b", words(&[&["a", "b"]])),
            ("a it\\'s", words(&[&["a", "it's"]])),
            ("a \"say \\\"hi\\\" \\n\"", words(&[&["a", "say \"hi\" \\n"]])),
        ] {
            assert_eq!(texts(script), expected, "{script}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for script in [
            "a $(b)",
            "a `b`",
            "a \"$b\"",
            "a \"`b`\"",
            "a > f",
            "a >> f",
            "a < f",
            "a | b",
            "a & b",
            "a || b",
            "a $HOME",
            "a *.md",
            "a {b,c}",
            "(a)",
            "a <<EOF\nx\nEOF",
            "a <<'EOF'\nnever ends",
            "a 'open",
            "a \"open",
            "a 2>&1 b",
            "a <(b)",
            "&& a",
            "a ;; b",
            "a #c",
            "a ~/x",
            "!a",
            "a 2> f",
            "a 1>&2",
            "a &> f",
            "a &&> f",
            "a && ; b",
            "a <<<'b'",
            "a<<'X'\nX",
            "<<'X' && a\nX",
            "2>&1 && a",
            "a <<\\X\nX",
            "a << \\\n'X'\nX",
            "a <<'X'<<'Y'\nX\nY",
            "a <<'X' <<'Y'\nX\n",
            "a <<-'X'\n X",
            // In the shell these bodies do not end where they seem to end.
            "a <<'X'\nX\r\nX",
            "a <<'X'\nX\r\na 'y\nX\nb\n#'",
            "a <<'X'\r\nX\nX\r\n",
            "a <<'X\r'\nX\r\nb\nX\r\r\n",
            "a 2>&12>&1",
            "a 2>&1-",
            "a 2>&1#",
            "a 2>&1 'b'",
            "a\rb",
            "a \\",
            "a\0",
        ] {
            assert_eq!(texts(script), None, "{script}");
        }
    }

    #[test]
    fn describe_names_the_place() {
        for (script, told) in [
            ("brain-guard status | head", "`|` outside single quotes at column 20"),
            ("a 'é' $x", "`$` outside single quotes at column 7"),
            ("a\nb \"`c`\"", "`` ` `` outside single quotes at line 2, column 4"),
            ("a 'b", "a quote that is not closed at column 3"),
            ("a \"b", "a quote that is not closed at column 3"),
            ("a <<EOF\nx\nEOF", "a heredoc whose delimiter is not in quotes at column 5"),
            ("a <<'EOF'\nx", "no `EOF` that ends the heredoc at line 2, column 2"),
            (
                "a <<'X'\nX\r\nX",
                "a carriage return that makes the end of the heredoc unclear at line 2, column 1",
            ),
            ("a 2>&1 b", "more behind `2>&1` at column 8"),
            ("a & b", "`&` outside single quotes at column 3"),
            ("&& a", "`&` outside single quotes at column 1"),
        ] {
            let not_accepted = accepted_commands(script).unwrap_err();
            assert_eq!(not_accepted.describe(script), told.replace("`` ` ``", "```"), "{script}");
        }
    }

    fn words(script: &str) -> Vec<String> {
        all_commands(script).iter().map(|c| c.words.join(" ")).collect()
    }

    #[test]
    fn commands_inside_commands_are_found() {
        for (script, expected) in [
            ("a b && c; d | e &\nf", vec!["a b", "c", "d", "e", "f"]),
            ("br\"\"ain \\x 'y z'", vec!["brain x y z"]),
            ("a \"$(b c)\" `d`", vec!["b c", "d", "a $() $()"]),
            ("a <(b)", vec!["b", "a $()"]),
            ("(a; b)", vec!["a", "b"]),
            ("a # b; c\nd 'b; c | d'", vec!["a", "d b; c | d"]),
            ("a 2>&1 >/dev/null b", vec!["a b"]),
            ("a <<'X'\n$(b)\nX\nc", vec!["a", "c"]),
            ("a <<X\n$(b)\nX\nc", vec!["b", "a", "c"]),
        ] {
            assert_eq!(words(script), expected, "{script}");
        }
    }

    #[test]
    fn redirections_give_files_and_input() {
        let commands = all_commands("a > 'x y' | b 2>>z <<E <<< w\nbody\nE\n");
        assert_eq!(commands[0].writes, ["x y"]);
        assert!(!commands[0].piped && commands[1].piped);
        assert_eq!(commands[1].writes, ["z"]);
        assert_eq!(commands[1].input, ["w", "body\n"]);
        assert_eq!(all_commands("sh <<E | tee f\nb\nE\n")[0].input, ["b\n"]);
    }

    proptest! {
        #[test]
        fn never_panics(script in "[ab '\"\\\\$`<>|&;\n\t(){}#~!éE-]{0,60}") {
            let _ = accepted_commands(&script);
            let _ = all_commands(&script);
        }

        #[test]
        fn accepted_words_are_the_words_of_all_commands(script in "[ab '\"\\\\;&\n\r>12#~é-]{0,20}") {
            if let Some(commands) = texts(&script) {
                let all = all_commands(&script).into_iter().map(|c| c.words);
                prop_assert_eq!(commands, all.collect::<Vec<_>>());
            }
        }

        #[test]
        fn ranges_read_as_their_words(script in "[ab '\"\\\\;&\n<X]{0,20}") {
            for word in accepted_commands(&script).into_iter().flatten().flatten() {
                prop_assert_eq!(texts(&script[word.range]), Some(vec![vec![word.text]]));
            }
        }

        #[test]
        fn quoted_words_read_back(text in "[^\0]{0,30}") {
            let script = format!("a {}", base::shown::shell_quote(&text));
            let got = texts(&script);
            prop_assert_eq!(got, Some(vec![vec!["a".to_owned(), text]]));
        }
    }
}
