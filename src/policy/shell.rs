//! Just enough of the shell's grammar to recognise a line that runs the agent's
//! own verbs and nothing else. Whatever is not understood is not recognised: we
//! don't parse shell, we accept a small part of it.

use std::ops::Range;

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
    let mut scanner = Scanner { script, at: 0, heredocs: Vec::new() };
    let mut commands = Vec::new();
    loop {
        let command = scanner.command()?;
        if !command.is_empty() {
            commands.push(command);
        }
        if scanner.at >= script.len() {
            return match scanner.heredocs.first() {
                None => Ok(commands),
                Some((delimiter, _)) => Err(scanner.unended(delimiter)),
            };
        }
    }
}

const OPEN: &str = "a quote that is not closed";

struct Scanner<'a> {
    script: &'a str,
    at: usize,
    heredocs: Vec<(String, bool)>,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.script[self.at..]
    }

    /// The character ahead doesn't belong here.
    fn broken<T>(&self) -> Result<T, Broken> {
        let what = self.rest().chars().next().map_or_else(
            || "the end".to_owned(),
            |c| format!("`{}` outside single quotes", c.escape_debug()),
        );
        Err(Broken { what, at: self.at })
    }

    fn unended(&self, delimiter: &str) -> Broken {
        Broken { what: format!("no `{delimiter}` that ends the heredoc"), at: self.at }
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// One simple command, up to and with the separator behind it.
    fn command(&mut self) -> Result<Vec<Word>, Broken> {
        let mut words = Vec::new();
        let mut redirected = false;
        loop {
            while self.eat(" ") || self.eat("\t") || self.eat("\\\n") {}
            if self.at >= self.script.len() {
                return Ok(words);
            }
            if self.eat("\r\n") || self.eat("\n") {
                self.bodies()?;
                return Ok(words);
            }
            let double = self.rest().starts_with(";;");
            let joined = self.rest().starts_with("&&") || (self.rest().starts_with(';') && !double);
            if joined {
                if words.is_empty() {
                    return self.broken();
                }
                let _ = self.eat("&&") || self.eat(";");
                return Ok(words);
            }
            if self.eat("2>&1") {
                redirected = true;
            } else if self.eat("<<") {
                let strip_tabs = self.eat("-");
                while self.eat(" ") || self.eat("\t") {}
                let delimiter = self.word()?;
                if !self.script[delimiter.range.clone()].starts_with(['\'', '"']) {
                    let what = "a heredoc whose delimiter is not in quotes".to_owned();
                    return Err(Broken { what, at: delimiter.range.start });
                }
                self.heredocs.push((delimiter.text, strip_tabs));
            } else if redirected {
                return Err(Broken { what: "more behind `2>&1`".to_owned(), at: self.at });
            } else {
                words.push(self.word()?);
            }
        }
    }

    /// Skips the bodies of the heredocs that the finished line opened.
    fn bodies(&mut self) -> Result<(), Broken> {
        for (delimiter, strip_tabs) in std::mem::take(&mut self.heredocs) {
            loop {
                if self.at >= self.script.len() {
                    return Err(self.unended(&delimiter));
                }
                let line = self.rest().split('\n').next().unwrap_or_default();
                let text = line.strip_suffix('\r').unwrap_or(line);
                let text = if strip_tabs { text.trim_start_matches('\t') } else { text };
                let ended = text == delimiter;
                self.at = (self.at + line.len() + 1).min(self.script.len());
                if ended {
                    break;
                }
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<Word, Broken> {
        let start = self.at;
        let mut text = String::new();
        while let Some(c) = self.rest().chars().next() {
            match c {
                ' ' | '\t' | '\n' | '\r' | ';' | '&' => break,
                '\'' => {
                    let Some((body, _)) = self.rest()[1..].split_once('\'') else {
                        return self.open();
                    };
                    text.push_str(body);
                    let skip = body.len() + 2;
                    self.at += skip;
                }
                '"' => {
                    let closes = Broken { what: OPEN.to_owned(), at: self.at };
                    self.at += 1;
                    self.double_quoted(&mut text, &closes)?;
                }
                '\\' => {
                    let Some(escaped) = self.rest()[1..].chars().next() else {
                        return self.broken();
                    };
                    self.at += 1 + escaped.len_utf8();
                    if escaped != '\n' {
                        text.push(escaped);
                    }
                }
                // `#` and `~` mean something at the start of a word only.
                '#' | '~' if self.at == start => return self.broken(),
                '$' | '`' | '<' | '>' | '|' | '(' | ')' | '{' | '}' | '*' | '?' | '[' | ']'
                | '!' | '\0' => return self.broken(),
                _ => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        if self.at == start {
            return self.broken();
        }
        Ok(Word { text, range: start..self.at })
    }

    /// A quote that nothing closes.
    fn open<T>(&self) -> Result<T, Broken> {
        Err(Broken { what: OPEN.to_owned(), at: self.at })
    }

    fn double_quoted(&mut self, text: &mut String, open: &Broken) -> Result<(), Broken> {
        loop {
            let Some(c) = self.rest().chars().next() else { return Err(open.clone()) };
            if matches!(c, '$' | '`') {
                return self.broken();
            }
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(()),
                '\\' => {
                    let Some(escaped) = self.rest().chars().next() else {
                        return Err(open.clone());
                    };
                    self.at += escaped.len_utf8();
                    match escaped {
                        '"' | '\\' | '$' | '`' => text.push(escaped),
                        '\n' => {}
                        other => {
                            text.push('\\');
                            text.push(other);
                        }
                    }
                }
                other => text.push(other),
            }
        }
    }
}

/// A word as a POSIX shell reads it back unchanged.
pub fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
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
            let script = format!("a {}", quote(&text));
            let got = texts(&script);
            prop_assert_eq!(got, Some(vec![vec!["a".to_owned(), text]]));
        }
    }
}
