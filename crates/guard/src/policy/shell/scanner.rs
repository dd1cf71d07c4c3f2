//! Reads a script word by word, as far as it is accepted.

use super::{Broken, Word};

const OPEN: &str = "a quote that is not closed";

/// Where it stands in the script, and the heredocs whose bodies are still to come.
pub(super) struct Scanner<'a> {
    script: &'a str,
    at: usize,
    heredocs: Vec<(String, bool)>,
}

impl<'a> Scanner<'a> {
    /// At the script's beginning.
    pub(super) fn new(script: &'a str) -> Self {
        Self { script, at: 0, heredocs: Vec::new() }
    }

    /// Whether the script is at its end.
    ///
    /// # Errors
    /// A heredoc has no body there.
    pub(super) fn done(&self) -> Result<bool, Broken> {
        if self.at < self.script.len() {
            return Ok(false);
        }
        match self.heredocs.first() {
            None => Ok(true),
            Some((delimiter, _)) => Err(self.unended(delimiter)),
        }
    }

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
    pub(super) fn command(&mut self) -> Result<Vec<Word>, Broken> {
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
