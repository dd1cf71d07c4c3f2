//! Reads any script as simple commands, and notes where it leaves the accepted grammar.

use super::{NotAccepted, SUBSTITUTED, SimpleCommand, Word};

/// Maximum nesting of scripts inside scripts.
const DEPTH: usize = 6;

const OPEN_QUOTE: &str = "a quote that is not closed";
const BARE_DELIMITER: &str = "a heredoc whose delimiter is not in quotes";
const CARRIAGE_RETURN: &str = "a carriage return that makes the end of the heredoc unclear";
const AFTER_MERGE: &str = "more behind `2>&1`";

/// Which line ends a heredoc.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heredocs {
    /// The line that ends it in the shell, because the shell runs what comes after.
    #[default]
    Exact,
    /// The first line that may end it, because the text after it is searched for commands. The
    /// delimiter reaches to the next blank or operator, quoted or not.
    Loose,
}

/// A heredoc whose body begins after this line.
struct Heredoc {
    delimiter: String,
    strips_tabs: bool,
    /// The shell runs substitutions in the body.
    is_expanded: bool,
    /// Index of the command that reads it.
    command: usize,
}

/// What the next word is for.
#[derive(Default, PartialEq)]
enum Role {
    #[default]
    Argument,
    OutputFile,
    Input,
    Delimiter {
        strips_tabs: bool,
    },
}

#[derive(Default)]
pub(super) struct Reader<'a> {
    script: &'a str,
    rest: &'a str,
    heredocs: Heredocs,
    depth: usize,
    /// Byte offset of the last character read.
    char_start: usize,
    word: Option<String>,
    word_start: usize,
    role: Role,
    /// The command has a `2>&1`, after which only redirections may follow.
    merged: bool,
    command: SimpleCommand<Word>,
    pending: Vec<Heredoc>,
    commands: Vec<SimpleCommand<Word>>,
    /// Commands in substitutions.
    nested: Vec<SimpleCommand<Word>>,
    not_accepted: Option<NotAccepted>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(script: &'a str, heredocs: Heredocs) -> Self {
        Self { script, rest: script, heredocs, ..Self::default() }
    }

    /// All commands, those in substitutions first, and the first construct that is not accepted.
    pub(super) fn read(mut self) -> (Vec<SimpleCommand<Word>>, Option<NotAccepted>) {
        while let Some(c) = self.next() {
            self.take(c);
        }
        self.end_command(false);
        for heredoc in std::mem::take(&mut self.pending) {
            self.refuse_endless_heredoc(&heredoc);
        }
        self.nested.append(&mut self.commands);
        (self.nested, self.not_accepted)
    }

    /// Whether the accepted grammar allows this character here. Callers allow accepted commands,
    /// so add a form only if every shell reads it as `take` does.
    fn accepts(&self, c: char) -> bool {
        let at_word_start = self.word.is_none();
        let next_is = |token| self.rest.starts_with(token);
        match c {
            ' ' | '\t' | '\n' => true,
            '\r' => next_is("\n"),
            '\\' if next_is("\n") => true,
            '&' => next_is("&") && self.has_command(),
            ';' => !next_is(";") && self.has_command(),
            '<' => at_word_start && next_is("<"),
            '2' if at_word_start && next_is(">&1") => true,
            _ if at_word_start && self.merged => false,
            '\\' => !self.rest.is_empty(),
            // Special only at the start of a word.
            '#' | '~' => !at_word_start,
            '$' | '`' | '>' | '|' | '(' | ')' | '{' | '}' | '*' | '?' | '[' | ']' | '!' | '\0' => {
                false
            }
            _ => true,
        }
    }

    fn take(&mut self, c: char) {
        if self.word.is_none() {
            self.word_start = self.char_start;
        }
        if !self.accepts(c) {
            self.refuse_character(c);
        }
        match c {
            '\'' => self.single_quoted(),
            '"' => self.double_quoted(),
            '\\' => match self.next() {
                None | Some('\n') => {}
                Some(escaped) => self.push_char(escaped),
            },
            '$' | '<' | '>' if self.eat("(") => self.substitution(),
            '$' if self.rest.starts_with('\'') => {}
            '`' => self.backticks(),
            '<' if self.eat("<<") => {
                self.char_start += 2;
                self.refuse_character(c);
                self.expect_word(Role::Input);
            }
            '<' if self.eat("<") => self.open_heredoc(),
            '2' if self.word.is_none() && self.eat(">&1") => self.merge_output(),
            '>' => self.redirect_output(),
            '\r' if matches!(self.role, Role::Delimiter { .. }) => {
                self.end_word();
                // The shell reads it as the last character of the delimiter.
                if let Some(heredoc) = self.pending.last_mut() {
                    heredoc.delimiter.push(c);
                }
            }
            '<' | ' ' | '\t' | '\r' => self.end_word(),
            '#' if self.word.is_none() => {
                let line = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[line..];
            }
            '\n' => {
                self.end_command(false);
                self.read_bodies();
            }
            '&' if self.eat(">") => self.redirect_output(),
            '|' => {
                let piped = !self.eat("|");
                let _ = self.eat("&");
                self.end_command(piped);
            }
            '&' => {
                let _ = !self.rest.starts_with("&>") && self.eat("&");
                self.end_command(false);
            }
            ';' | '(' | ')' => self.end_command(false),
            other => self.push_char(other),
        }
    }

    /// Number of bytes read.
    fn offset(&self) -> usize {
        self.script.len() - self.rest.len()
    }

    fn next(&mut self) -> Option<char> {
        self.char_start = self.offset();
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn eat(&mut self, token: &str) -> bool {
        let after = self.rest.strip_prefix(token);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn push_char(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn refuse(&mut self, what: &str, at: usize) {
        self.not_accepted.get_or_insert_with(|| NotAccepted { what: what.to_owned(), at });
    }

    fn refuse_character(&mut self, c: char) {
        if self.merged && self.word.is_none() {
            self.refuse(AFTER_MERGE, self.char_start);
        } else {
            let what = format!("`{}` outside single quotes", c.escape_debug());
            self.refuse(&what, self.char_start);
        }
    }

    fn refuse_endless_heredoc(&mut self, heredoc: &Heredoc) {
        let what = format!("no `{}` that ends the heredoc", heredoc.delimiter.replace('\r', "\\r"));
        self.refuse(&what, self.script.len());
    }

    /// Whether a command precedes `&&` or `;`.
    fn has_command(&self) -> bool {
        !self.command.words.is_empty() || (self.word.is_some() && self.role == Role::Argument)
    }

    fn single_quoted(&mut self) {
        let closed = self.rest.split_once('\'');
        if closed.is_none() {
            self.refuse(OPEN_QUOTE, self.char_start);
        }
        let (body, after) = closed.unwrap_or((self.rest, ""));
        self.push(body);
        self.rest = after;
    }

    fn double_quoted(&mut self) {
        let opened = self.char_start;
        self.push("");
        while let Some(c) = self.next() {
            if matches!(c, '$' | '`') {
                self.refuse_character(c);
            }
            match c {
                '"' => return,
                '\\' => match self.next() {
                    None | Some('\n') => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.push_char(c),
                    Some(c) => {
                        self.push("\\");
                        self.push_char(c);
                    }
                },
                '$' if self.eat("(") => self.substitution(),
                '`' => self.backticks(),
                c => self.push_char(c),
            }
        }
        self.refuse(OPEN_QUOTE, opened);
    }

    fn backticks(&mut self) {
        let (body, after) = self.rest.split_once('`').unwrap_or((self.rest, ""));
        self.rest = after;
        self.push_substitution(body);
    }

    /// Reads to the closing parenthesis. Parentheses in single quotes do not count.
    fn substitution(&mut self) {
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
        let (body, after) = match end {
            Some((at, _)) => (&self.rest[..at], &self.rest[at + 1..]),
            None => (self.rest, ""),
        };
        self.rest = after;
        self.push_substitution(body);
    }

    fn push_substitution(&mut self, body: &str) {
        self.push(SUBSTITUTED);
        let mut commands = self.read_nested(body);
        self.nested.append(&mut commands);
    }

    fn read_nested(&self, script: &str) -> Vec<SimpleCommand<Word>> {
        if self.depth == DEPTH {
            return Vec::new();
        }
        let depth = self.depth + 1;
        Reader { depth, ..Reader::new(script, self.heredocs) }.read().0
    }

    fn expect_word(&mut self, role: Role) {
        self.end_word();
        self.role = role;
    }

    fn redirect_output(&mut self) {
        // A descriptor's number is not a word.
        if self.word.as_deref().is_some_and(|w| w.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        let _ = self.eat(">") || self.eat("|");
        self.expect_word(Role::OutputFile);
        if self.eat("&") && self.rest.starts_with(names_descriptor) {
            self.skip_descriptor();
        }
    }

    /// Handles what follows `2>&1`.
    fn merge_output(&mut self) {
        self.merged = true;
        if self.rest.starts_with(|c| c == '#' || names_descriptor(c)) {
            self.refuse(AFTER_MERGE, self.offset());
        }
        self.skip_descriptor();
    }

    /// Skips a redirection target that is a descriptor and not a file.
    fn skip_descriptor(&mut self) {
        self.role = Role::Argument;
        self.rest = self.rest.trim_start_matches(names_descriptor);
        if self.rest.starts_with('#') {
            // Part of the descriptor's word, not a comment.
            self.push("");
        }
    }

    fn open_heredoc(&mut self) {
        self.end_word();
        let strips_tabs = self.eat("-") || self.heredocs == Heredocs::Loose;
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        if !self.rest.starts_with(['\'', '"']) {
            self.refuse(BARE_DELIMITER, self.offset());
        } else if self.heredocs == Heredocs::Exact {
            self.role = Role::Delimiter { strips_tabs };
            self.push("");
            return;
        }
        let end = self.rest.find(|c: char| " \t\r\n;&|<>()".contains(c)).unwrap_or(self.rest.len());
        let (word, after) = self.rest.split_at(end);
        self.rest = after;
        let delimiter = word.replace(['\'', '"', '\\'], "");
        if !delimiter.is_empty() {
            let is_expanded = delimiter == word;
            self.await_body(delimiter, strips_tabs, is_expanded);
        }
    }

    fn await_body(&mut self, delimiter: String, strips_tabs: bool, is_expanded: bool) {
        let command = self.commands.len();
        self.pending.push(Heredoc { delimiter, strips_tabs, is_expanded, command });
    }

    /// Reads the bodies of the heredocs that the last line opened.
    fn read_bodies(&mut self) {
        for heredoc in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            let mut ended = false;
            while !ended && !self.rest.is_empty() {
                let start = self.offset();
                let (line, after) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                self.rest = after;
                ended = self.ends_heredoc(&heredoc, line, start);
                if !ended {
                    body.push_str(line);
                    body.push('\n');
                }
            }
            if !ended {
                self.refuse_endless_heredoc(&heredoc);
            }
            if heredoc.is_expanded {
                // The shell itself runs the substitutions of an unquoted body.
                let mut commands = self.read_nested(&format!("\"{}\"", body.replace('"', "")));
                commands.pop();
                self.nested.append(&mut commands);
            }
            if let Some(command) = self.commands.get_mut(heredoc.command) {
                command.input.push(body);
            }
        }
    }

    /// Whether a line ends a heredoc. Carriage returns are ignored here, but the shell reads them
    /// as letters. A script for which the two disagree is not accepted.
    fn ends_heredoc(&mut self, heredoc: &Heredoc, line: &str, at: usize) -> bool {
        let line = if heredoc.strips_tabs { line.trim_start_matches('\t') } else { line };
        let ends = line.trim_end_matches('\r') == heredoc.delimiter.trim_end_matches('\r');
        if ends && line != heredoc.delimiter {
            self.refuse(CARRIAGE_RETURN, at);
        }
        ends
    }

    fn end_word(&mut self) {
        let Some(text) = self.word.take() else { return };
        let range = self.word_start..self.char_start;
        match std::mem::take(&mut self.role) {
            Role::Argument => self.command.words.push(Word { text, range }),
            Role::OutputFile => self.command.writes.push(text),
            Role::Input => self.command.input.push(text),
            Role::Delimiter { strips_tabs } => {
                if text.contains('\r') {
                    self.refuse(CARRIAGE_RETURN, range.start);
                }
                self.await_body(text, strips_tabs, false);
            }
        }
    }

    fn end_command(&mut self, next_is_piped: bool) {
        self.end_word();
        self.role = Role::Argument;
        self.merged = false;
        let next = SimpleCommand { piped: next_is_piped, ..SimpleCommand::default() };
        self.commands.push(std::mem::replace(&mut self.command, next));
    }
}

/// Whether the character continues `>&`, as in `2>&1` and `>&-`.
fn names_descriptor(c: char) -> bool {
    c.is_ascii_digit() || c == '-'
}
