//! A shell command as its simple commands, read generously: what is not understood
//! still yields words. Good enough to recognise a plain spelling; nothing is allowed by it.

/// One simple command.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Simple {
    /// Its words without their quotes.
    pub words: Vec<String>,
    /// Files its output is sent to.
    pub writes: Vec<String>,
    /// What a heredoc or a here-string gives it.
    pub input: Vec<String>,
    /// Its input is another command's output.
    pub piped: bool,
}

/// Stands in a word for what a substitution would give.
pub const SUBSTITUTED: &str = "$()";

/// How deep scripts inside scripts are followed.
const DEPTH: usize = 6;

/// The simple commands of a script, those in substitutions among them.
pub fn simple_commands(script: &str) -> Vec<Simple> {
    let mut commands = Vec::new();
    Reader::new(script, 0).read(&mut commands);
    commands.retain(|c| !c.words.is_empty() || !c.writes.is_empty() || !c.input.is_empty());
    commands
}

/// A heredoc whose body comes behind the line.
struct Heredoc {
    delimiter: String,
    /// The shell runs the substitutions in it.
    expanded: bool,
    /// Which command it is for.
    of: usize,
}

#[derive(Default)]
struct Reader<'a> {
    rest: &'a str,
    depth: usize,
    now: Simple,
    word: Option<String>,
    to_file: bool,
    to_input: bool,
    heredocs: Vec<Heredoc>,
    done: Vec<Simple>,
}

impl<'a> Reader<'a> {
    fn new(rest: &'a str, depth: usize) -> Self {
        Self { rest, depth, ..Self::default() }
    }

    fn read(mut self, into: &mut Vec<Simple>) {
        while let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            self.take(c, into);
        }
        self.end_command(false);
        into.append(&mut self.done);
    }

    fn take(&mut self, c: char, into: &mut Vec<Simple>) {
        match c {
            '\'' => {
                let body = self.until('\'');
                self.push(body);
            }
            '"' => self.double_quoted(into),
            '\\' => match self.next() {
                None | Some('\n') => {}
                Some(escaped) => self.push(escaped.encode_utf8(&mut [0; 4])),
            },
            '$' | '<' | '>' if self.eat("(") => self.substitution(into),
            '$' if self.rest.starts_with('\'') => {}
            '`' => {
                let body = self.until('`');
                self.nested(body, into);
            }
            '<' if self.eat("<<") => self.expect(false, true),
            '<' if self.eat("<") => self.heredoc(),
            '>' => self.output(),
            '<' | ' ' | '\t' | '\r' => self.end_word(),
            '#' if self.word.is_none() => {
                let line = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[line..];
            }
            '\n' => {
                self.end_command(false);
                self.bodies(into);
            }
            '&' if self.eat(">") => self.output(),
            '|' => {
                let piped = !self.eat("|");
                let _ = self.eat("&");
                self.end_command(piped);
            }
            ';' | '&' | '(' | ')' => self.end_command(false),
            other => self.push(other.encode_utf8(&mut [0; 4])),
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn eat(&mut self, token: &str) -> bool {
        let behind = self.rest.strip_prefix(token);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    fn until(&mut self, end: char) -> &'a str {
        let (body, behind) = self.rest.split_once(end).unwrap_or((self.rest, ""));
        self.rest = behind;
        body
    }

    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn double_quoted(&mut self, into: &mut Vec<Simple>) {
        self.push("");
        while let Some(c) = self.next() {
            match c {
                '"' => return,
                '\\' => match self.next() {
                    None | Some('\n') => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.push(c.encode_utf8(&mut [0; 4])),
                    Some(c) => {
                        self.push("\\");
                        self.push(c.encode_utf8(&mut [0; 4]));
                    }
                },
                '$' if self.eat("(") => self.substitution(into),
                '`' => {
                    let body = self.until('`');
                    self.nested(body, into);
                }
                c => self.push(c.encode_utf8(&mut [0; 4])),
            }
        }
    }

    /// Up to the parenthesis that closes what was opened; quotes hide none.
    fn substitution(&mut self, into: &mut Vec<Simple>) {
        let mut open = 1;
        let mut quoted = false;
        let end = self.rest.char_indices().find(|(_, c)| {
            match c {
                '\'' => quoted = !quoted,
                '(' if !quoted => open += 1,
                ')' if !quoted => open -= 1,
                _ => {}
            }
            open == 0
        });
        let (body, behind) = match end {
            Some((at, _)) => (&self.rest[..at], &self.rest[at + 1..]),
            None => (self.rest, ""),
        };
        self.rest = behind;
        self.nested(body, into);
    }

    fn nested(&mut self, body: &str, into: &mut Vec<Simple>) {
        self.push(SUBSTITUTED);
        if self.depth < DEPTH {
            Reader::new(body, self.depth + 1).read(into);
        }
    }

    /// What the next word is: a file that is written, or a here-string.
    fn expect(&mut self, to_file: bool, to_input: bool) {
        self.end_word();
        (self.to_file, self.to_input) = (to_file, to_input);
    }

    fn output(&mut self) {
        // The number of a descriptor is no word.
        if self.word.as_deref().is_some_and(|w| w.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        let _ = self.eat(">") || self.eat("|");
        self.expect(true, false);
        if self.eat("&") && self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            self.to_file = false;
            self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
            if self.rest.starts_with('#') {
                // Still the descriptor's word, and no comment.
                self.push("");
            }
        }
    }

    fn heredoc(&mut self) {
        self.end_word();
        let _ = self.eat("-");
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        let end = self.rest.find(|c: char| " \t\r\n;&|<>()".contains(c)).unwrap_or(self.rest.len());
        let (word, behind) = self.rest.split_at(end);
        self.rest = behind;
        let bare = word.replace(['\'', '"', '\\'], "");
        let expanded = bare == word;
        if !bare.is_empty() {
            self.heredocs.push(Heredoc { delimiter: bare, expanded, of: self.done.len() });
        }
    }

    /// The bodies of the heredocs of the line that just ended.
    fn bodies(&mut self, into: &mut Vec<Simple>) {
        for Heredoc { delimiter, expanded, of } in std::mem::take(&mut self.heredocs) {
            let mut body = String::new();
            while !self.rest.is_empty() {
                let (line, behind) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                self.rest = behind;
                if line.trim_start_matches('\t').trim_end_matches('\r') == delimiter {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            if expanded && self.depth < DEPTH {
                // The shell itself runs the substitutions of an unquoted body.
                let mut inner = Vec::new();
                let text = format!("\"{}\"", body.replace('"', ""));
                Reader::new(&text, self.depth + 1).read(&mut inner);
                inner.pop();
                into.append(&mut inner);
            }
            if let Some(command) = self.done.get_mut(of) {
                command.input.push(body);
            }
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.to_file) {
            self.now.writes.push(word);
        } else if std::mem::take(&mut self.to_input) {
            self.now.input.push(word);
        } else {
            self.now.words.push(word);
        }
    }

    fn end_command(&mut self, next_is_piped: bool) {
        self.end_word();
        (self.to_file, self.to_input) = (false, false);
        let next = Simple { piped: next_is_piped, ..Simple::default() };
        self.done.push(std::mem::replace(&mut self.now, next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(script: &str) -> Vec<String> {
        simple_commands(script).iter().map(|c| c.words.join(" ")).collect()
    }

    #[test]
    fn commands_and_what_is_inside_of_them() {
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
    fn where_output_goes_and_input_comes_from() {
        let commands = simple_commands("a > 'x y' | b 2>>z <<E <<< w\nbody\nE\n");
        assert_eq!(commands[0].writes, ["x y"]);
        assert!(!commands[0].piped && commands[1].piped);
        assert_eq!(commands[1].writes, ["z"]);
        assert_eq!(commands[1].input, ["w", "body\n"]);
        assert_eq!(simple_commands("sh <<E | tee f\nb\nE\n")[0].input, ["b\n"]);
    }

    proptest! {
        #[test]
        fn never_panics(script in "[ab '\"\\\\$`<>|&;\n\t(){}#~!éE-]{0,60}") {
            let _ = simple_commands(&script);
        }
    }
}
