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

/// Splits a script into simple commands joined by `&&`, `;` or newline.
/// `None` for anything beyond: substitution, expansion, pipes, redirections
/// other than a trailing `2>&1` and quoted heredocs, background, comments.
pub fn simple_commands(script: &str) -> Option<Vec<Vec<Word>>> {
    let mut scanner = Scanner { script, at: 0, heredocs: Vec::new() };
    let mut commands = Vec::new();
    loop {
        let command = scanner.command()?;
        if !command.is_empty() {
            commands.push(command);
        }
        if scanner.at >= script.len() {
            return scanner.heredocs.is_empty().then_some(commands);
        }
    }
}

struct Scanner<'a> {
    script: &'a str,
    at: usize,
    heredocs: Vec<(String, bool)>,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.script[self.at..]
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// One simple command, up to and with the separator behind it.
    fn command(&mut self) -> Option<Vec<Word>> {
        let mut words = Vec::new();
        let mut redirected = false;
        loop {
            while self.eat(" ") || self.eat("\t") || self.eat("\\\n") {}
            if self.at >= self.script.len() {
                return Some(words);
            }
            if self.eat("\r\n") || self.eat("\n") {
                self.bodies()?;
                return Some(words);
            }
            if self.eat("&&") || (self.eat(";") && !self.rest().starts_with(';')) {
                return (!words.is_empty()).then_some(words);
            }
            if self.eat("2>&1") {
                redirected = true;
            } else if self.eat("<<") {
                let strip_tabs = self.eat("-");
                while self.eat(" ") || self.eat("\t") {}
                let delimiter = self.word()?;
                if !self.script[delimiter.range.clone()].starts_with(['\'', '"']) {
                    return None;
                }
                self.heredocs.push((delimiter.text, strip_tabs));
            } else if redirected {
                return None;
            } else {
                words.push(self.word()?);
            }
        }
    }

    /// Skips the bodies of the heredocs that the finished line opened.
    fn bodies(&mut self) -> Option<()> {
        for (delimiter, strip_tabs) in std::mem::take(&mut self.heredocs) {
            loop {
                if self.at >= self.script.len() {
                    return None;
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
        Some(())
    }

    fn word(&mut self) -> Option<Word> {
        let start = self.at;
        let mut text = String::new();
        while let Some(c) = self.rest().chars().next() {
            match c {
                ' ' | '\t' | '\n' | '\r' | ';' | '&' => break,
                '\'' => {
                    let body = self.rest()[1..].split_once('\'')?.0;
                    text.push_str(body);
                    let skip = body.len() + 2;
                    self.at += skip;
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut text)?;
                }
                '\\' => {
                    let escaped = self.rest()[1..].chars().next()?;
                    self.at += 1 + escaped.len_utf8();
                    if escaped != '\n' {
                        text.push(escaped);
                    }
                }
                // `#` and `~` mean something at the start of a word only.
                '#' | '~' if self.at == start => return None,
                '$' | '`' | '<' | '>' | '|' | '(' | ')' | '{' | '}' | '*' | '?' | '[' | ']'
                | '!' | '\0' => return None,
                _ => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        (self.at > start).then_some(Word { text, range: start..self.at })
    }

    fn double_quoted(&mut self, text: &mut String) -> Option<()> {
        loop {
            let c = self.rest().chars().next()?;
            self.at += c.len_utf8();
            match c {
                '"' => return Some(()),
                '$' | '`' => return None,
                '\\' => {
                    let escaped = self.rest().chars().next()?;
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
        let commands = simple_commands(script)?;
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
