//! Just enough of the shell's grammar to recognise a line that runs the agent's
//! own verbs and nothing else. Whatever is not understood is not recognised: we
//! don't parse shell, we accept a small part of it.

mod scanner;

use std::ops::Range;

use scanner::Scanner;

/// A word of a simple command with its quotes removed and its place in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text the program would see.
    pub text: String,
    /// Bytes of the source it came from.
    pub range: Range<usize>,
}

/// Where a script leaves the part of the grammar that is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// What stands there.
    pub what: String,
    /// Bytes of the script before it.
    pub at: usize,
}

impl Broken {
    /// In words, with the place as people count it.
    pub fn told(&self, script: &str) -> String {
        let before = script.get(..self.at).unwrap_or(script);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let line = if line == 1 { String::new() } else { format!("line {line}, ") };
        format!("{} at {line}column {column}", self.what)
    }
}

/// Splits a script into simple commands joined by `&&`, `;` or newline.
///
/// # Errors
/// Anything beyond: substitution, expansion, pipes, redirections other than a
/// trailing `2>&1` and quoted heredocs, background, comments.
pub fn simple_commands(script: &str) -> Result<Vec<Vec<Word>>, Broken> {
    let mut scanner = Scanner::new(script);
    let mut commands = Vec::new();
    loop {
        let command = scanner.command()?;
        if !command.is_empty() {
            commands.push(command);
        }
        if scanner.done()? {
            return Ok(commands);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(script: &str) -> Option<Vec<Vec<String>>> {
        let commands = simple_commands(script).ok()?;
        Some(commands.into_iter().map(|c| c.into_iter().map(|w| w.text).collect()).collect())
    }

    #[test]
    fn accepted() {
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
            ("a \\\n  b", words(&[&["a", "b"]])),
            ("a it\\'s", words(&[&["a", "it's"]])),
            ("a \"say \\\"hi\\\" \\n\"", words(&[&["a", "say \"hi\" \\n"]])),
        ] {
            assert_eq!(texts(script), expected, "{script}");
        }
    }

    #[test]
    fn refused() {
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
        ] {
            assert_eq!(texts(script), None, "{script}");
        }
    }

    #[test]
    fn where_it_broke_is_told() {
        for (script, told) in [
            ("brain-guard status | head", "`|` outside single quotes at column 20"),
            ("a 'é' $x", "`$` outside single quotes at column 7"),
            ("a\nb \"`c`\"", "`` ` `` outside single quotes at line 2, column 4"),
            ("a 'b", "a quote that is not closed at column 3"),
            ("a \"b", "a quote that is not closed at column 3"),
            ("a <<EOF\nx\nEOF", "a heredoc whose delimiter is not in quotes at column 5"),
            ("a <<'EOF'\nx", "no `EOF` that ends the heredoc at line 2, column 2"),
            ("a 2>&1 b", "more behind `2>&1` at column 8"),
            ("a & b", "`&` outside single quotes at column 3"),
            ("&& a", "`&` outside single quotes at column 1"),
        ] {
            let broken = simple_commands(script).unwrap_err();
            assert_eq!(broken.told(script), told.replace("`` ` ``", "```"), "{script}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(script in "[ab '\"\\\\$`<>|&;\n\t(){}#~!éE-]{0,40}") {
            let _ = simple_commands(&script);
        }

        #[test]
        fn quoted_words_read_back(text in "[^\0]{0,30}") {
            let script = format!("a {}", base::shown::quoted(&text));
            let got = texts(&script);
            prop_assert_eq!(got, Some(vec![vec!["a".to_owned(), text]]));
        }
    }
}
