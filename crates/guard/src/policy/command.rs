//! The shell calls that the hook executes itself: nothing but our verbs. Anything else is left to
//! the shell, so this needs to understand only its own small grammar.

use super::verbs::{self, AGENT_VERBS};

/// Flags that an agent may not pass: they name another session or file.
const NOT_THE_AGENTS: [&str; 4] = ["--session", "--call", "--project", "--file"];

/// A shell call that holds only our verbs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCommand {
    /// The folder of a leading `cd FOLDER &&`.
    pub folder: Option<String>,
    /// The calls, in order.
    pub calls: Vec<OwnCall>,
}

impl OwnCommand {
    /// Whether subagents may run all of it, too.
    pub fn is_open_to_subagents(&self) -> bool {
        self.calls.iter().all(|call| verbs::is_subagent_verb(call.verb()))
    }
}

/// One call of a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCall {
    /// The verb and its arguments.
    pub words: Vec<String>,
    /// Its input, from a heredoc.
    pub input: Option<String>,
    /// Whether it runs only if the one before it succeeded (`&&`).
    pub after_success: bool,
}

/// The answer of one verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What it printed.
    pub text: String,
    /// Whether it succeeded.
    pub succeeded: bool,
}

impl OwnCall {
    /// The verb.
    pub fn verb(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// Why a command is not accepted, in words for the agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotOwn(String);

/// Reads `[cd FOLDER &&] brain-guard VERB …`, several of them joined by `&&`, `;` or line breaks, with
/// quoted words, quoted heredocs and `2>&1`.
///
/// # Errors
/// The first thing that is not accepted.
pub fn parse(script: &str, program: &str) -> Result<OwnCommand, NotOwn> {
    let mut command = OwnCommand { folder: None, calls: Vec::new() };
    let simple = Reader { script, at: 0, heredocs: Vec::new() }.read()?;
    for (index, Simple { mut words, input, after_success }) in simple.into_iter().enumerate() {
        let first = words.remove(0);
        if index == 0 && first == "cd" && words.len() == 1 {
            command.folder = words.pop();
            continue;
        }
        if index == 1 && command.folder.is_some() && !after_success {
            return Err(NotOwn("`&&` must follow `cd`".into()));
        }
        if first != "brain-guard" && first != program {
            return Err(NotOwn(format!("`{}` is not brain-guard", shown(&first))));
        }
        let call = OwnCall { words, input, after_success };
        check(&call)?;
        command.calls.push(call);
    }
    if command.calls.is_empty() { Err(NotOwn("it runs no verb".into())) } else { Ok(command) }
}

fn check(call: &OwnCall) -> Result<(), NotOwn> {
    let verb = call.verb();
    if verb.is_empty() {
        return Err(NotOwn("brain-guard has no verb".into()));
    }
    let here = call.words.iter().any(|word| word == "--here");
    let is_theirs = AGENT_VERBS.contains(&verb) || (verbs::works_here(verb) && here);
    if !is_theirs {
        let verbs = AGENT_VERBS.join(", ");
        return Err(NotOwn(format!("`{}` is not one of the verbs {verbs}", shown(verb))));
    }
    let foreign = |word: &&String| NOT_THE_AGENTS.iter().any(|flag| word.starts_with(flag));
    match call.words.iter().find(foreign) {
        Some(word) => Err(NotOwn(format!("an agent may not pass `{}`", shown(word)))),
        None => Ok(()),
    }
}

/// The beginning of a word from the agent, escaped.
fn shown(word: &str) -> String {
    word.chars().take(40).flat_map(char::escape_debug).collect()
}

/// The shell command that prints an answer in place of the verbs. It is an error for the client
/// exactly if it ends in `false`; other codes make it ask its user in plan mode (2.1.332).
pub fn printing(folder: Option<&str>, text: &str, succeeded: bool) -> String {
    let cd = folder
        .map_or_else(String::new, |folder| format!("cd {} && ", base::shown::shell_quote(folder)));
    let text = text.trim_end_matches('\n');
    let mut end = "END".to_owned();
    while text.lines().any(|line| line == end) {
        end.push('_');
    }
    let print = if text.is_empty() {
        format!("{cd}true")
    } else {
        format!("{cd}cat <<'{end}'\n{text}\n{end}")
    };
    if succeeded { print } else { format!("{print}\nfalse") }
}

/// A simple command.
struct Simple {
    words: Vec<String>,
    input: Option<String>,
    after_success: bool,
}

/// A heredoc whose text follows the line.
struct Heredoc {
    /// Index of its command.
    of: usize,
    delimiter: String,
    /// `<<-`: leading tabs are dropped.
    is_indented: bool,
}

struct Reader<'a> {
    script: &'a str,
    at: usize,
    heredocs: Vec<Heredoc>,
}

/// How a simple command ends.
#[derive(PartialEq)]
enum End {
    And,
    Semicolon,
    Line,
    Script,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Vec<Simple>, NotOwn> {
        let mut all: Vec<Simple> = Vec::new();
        let mut after_success = false;
        loop {
            let begin = self.at;
            let mut simple = Simple { words: Vec::new(), input: None, after_success };
            let mut has_heredoc = false;
            let end = loop {
                self.skip_blanks();
                if let Some(end) = self.separator() {
                    break end;
                }
                if self.eat("2>&1") {
                    continue;
                }
                if self.eat("<<") {
                    if has_heredoc {
                        return Err(self.not("a second heredoc", self.at - 2));
                    }
                    has_heredoc = true;
                    let heredoc = self.heredoc(all.len())?;
                    self.heredocs.push(heredoc);
                    continue;
                }
                simple.words.push(self.word()?);
            };
            if !simple.words.is_empty() {
                after_success = end == End::And;
                all.push(simple);
            } else if has_heredoc || matches!(end, End::And | End::Semicolon) {
                return Err(self.not("an empty command", begin));
            }
            if matches!(end, End::Line | End::Script) {
                for heredoc in std::mem::take(&mut self.heredocs) {
                    all[heredoc.of].input = Some(self.text_of(&heredoc)?);
                }
            }
            if end == End::Script {
                return if after_success {
                    Err(self.not("nothing behind `&&`", self.at))
                } else {
                    Ok(all)
                };
            }
        }
    }

    fn rest(&self) -> &str {
        &self.script[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn skip_blanks(&mut self) {
        while self.eat(" ") || self.eat("\t") || self.eat("\\\n") {}
    }

    fn separator(&mut self) -> Option<End> {
        if self.eat("&&") {
            Some(End::And)
        } else if self.eat(";") {
            Some(End::Semicolon)
        } else if self.eat("\r\n") || self.eat("\n") {
            Some(End::Line)
        } else {
            self.rest().is_empty().then_some(End::Script)
        }
    }

    /// A word without its quotes.
    fn word(&mut self) -> Result<String, NotOwn> {
        let mut word = String::new();
        let begin = self.at;
        while let Some(c) = self.peek() {
            let at = self.at;
            match c {
                ' ' | '\t' | '\n' | '\r' | ';' => break,
                '&' if self.rest().starts_with("&&") => break,
                '\'' => {
                    self.at += 1;
                    let Some(end) = self.rest().find('\'') else {
                        return Err(self.not("a quote that is not closed", at));
                    };
                    word.push_str(&self.rest()[..end]);
                    self.at += end + 1;
                }
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some('\n') => self.at += 1,
                        Some(escaped) => {
                            word.push(escaped);
                            self.at += escaped.len_utf8();
                        }
                        None => return Err(self.not("`\\` at the end", at)),
                    }
                }
                '#' | '~' | '!' if at != begin => {
                    word.push(c);
                    self.at += 1;
                }
                '|' | '&' | '<' | '>' | '(' | ')' | '{' | '}' | '$' | '`' | '*' | '?' | '['
                | ']' | '#' | '~' | '!' | '\0' => {
                    return Err(self.not(&format!("`{c}` outside single quotes"), at));
                }
                c => {
                    word.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        if self.at == begin {
            return Err(self.not("a carriage return", begin));
        }
        Ok(word)
    }

    fn double_quoted(&mut self, word: &mut String) -> Result<(), NotOwn> {
        let begin = self.at;
        self.at += 1;
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(()),
                '$' | '`' => {
                    return Err(self.not(&format!("`{c}` outside single quotes"), self.at - 1));
                }
                '\\' => match self.peek() {
                    Some('\n') => self.at += 1,
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => {
                        word.push(escaped);
                        self.at += 1;
                    }
                    _ => word.push('\\'),
                },
                c => word.push(c),
            }
        }
        Err(self.not("a quote that is not closed", begin))
    }

    /// What follows `<<`.
    fn heredoc(&mut self, of: usize) -> Result<Heredoc, NotOwn> {
        let begin = self.at - 2;
        let is_indented = self.eat("-");
        self.skip_blanks();
        if !self.rest().starts_with(['\'', '"']) {
            return Err(self.not("a heredoc whose delimiter is not in quotes", begin));
        }
        Ok(Heredoc { of, delimiter: self.word()?, is_indented })
    }

    /// The lines up to the delimiter.
    fn text_of(&mut self, heredoc: &Heredoc) -> Result<String, NotOwn> {
        let begin = self.at;
        let mut text = String::new();
        for line in self.script[begin..].split_inclusive('\n') {
            self.at += line.len();
            let line = if heredoc.is_indented { line.trim_start_matches('\t') } else { line };
            if line.trim_end_matches(['\r', '\n']) == heredoc.delimiter {
                return Ok(text);
            }
            text.push_str(line);
        }
        Err(self.not(&format!("no `{}` that ends the heredoc", shown(&heredoc.delimiter)), begin))
    }

    /// The construct with its line and column, counted from 1.
    fn not(&self, what: &str, at: usize) -> NotOwn {
        let before = self.script.get(..at).unwrap_or(self.script);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let line = if line == 1 { String::new() } else { format!("line {line}, ") };
        NotOwn(format!("{what} at {line}column {column}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PROGRAM: &str = "/opt/bg/bin/brain-guard";

    fn own(script: &str) -> Option<OwnCommand> {
        parse(script, PROGRAM).ok()
    }

    /// The words of each call, and its input.
    fn calls(script: &str) -> Vec<(String, Option<String>)> {
        let command = own(script).unwrap_or_else(|| panic!("{script}"));
        command.calls.into_iter().map(|call| (call.words.join("|"), call.input)).collect()
    }

    #[test]
    fn forms_of_our_own_verbs_are_accepted() {
        let bare = |list: &[&str]| list.iter().map(|w| ((*w).to_owned(), None)).collect::<Vec<_>>();
        for (script, expected) in [
            ("brain-guard seal", bare(&["seal"])),
            ("/opt/bg/bin/brain-guard status --json 2>&1\n", bare(&["status|--json"])),
            (
                "brain-guard append 'x $y' \"z \\\"w\\\" \\n\" it\\'s",
                bare(&["append|x $y|z \"w\" \\n|it's"]),
            ),
            (
                "brain-guard append a && brain-guard close b; brain-guard seal",
                bare(&["append|a", "close|b", "seal"]),
            ),
            ("\nbrain-guard append a\n\nbrain-guard \\\n  seal\n", bare(&["append|a", "seal"])),
            ("brain-guard append a &&\n brain-guard seal", bare(&["append|a", "seal"])),
            ("brain-guard append fix#12 a~b !", bare(&[])),
            ("brain-guard surgery edit this --here", bare(&["surgery|edit|this|--here"])),
        ] {
            if expected.is_empty() {
                assert_eq!(own(script), None, "{script}");
            } else {
                assert_eq!(calls(script), expected, "{script}");
            }
        }
    }

    #[test]
    fn heredocs_hold_anything() {
        let text = "$HOME `x` > y | 'z\n\n# no comment";
        let script = format!("brain-guard append --kind risk <<'EOF' 2>&1\n{text}\nEOF\n");
        assert_eq!(calls(&script), [("append|--kind|risk".into(), Some(format!("{text}\n")))]);
        let two =
            "brain-guard append <<'A' && brain-guard append <<\"B\"\na\nA\nb\nB\nbrain-guard seal";
        let input = |text: &str| Some(text.to_owned());
        assert_eq!(
            calls(two),
            [
                ("append".into(), input("a\n")),
                ("append".into(), input("b\n")),
                ("seal".into(), None)
            ]
        );
        assert_eq!(calls("brain-guard append <<-'X'\n\tt\n\tX")[0].1, input("t\n"));
        assert_eq!(calls("brain-guard append <<'X'\r\nx\r\nX\r\n")[0].1, input("x\r\n"));
    }

    #[test]
    fn a_folder_may_be_ahead() {
        let command = own("cd '/my p' && brain-guard seal").unwrap();
        assert_eq!(command.folder.as_deref(), Some("/my p"));
        for script in [
            "cd /p",
            "cd /p; brain-guard seal",
            "brain-guard seal && cd /p",
            "cd && brain-guard seal",
        ] {
            assert_eq!(own(script), None, "{script}");
        }
    }

    #[test]
    fn what_stands_against_a_command_is_told() {
        for (script, why) in [
            ("brain-guard seal && ls -l", "`ls` is not brain-guard"),
            ("brain-guard", "brain-guard has no verb"),
            ("brain-guard append x --session y", "an agent may not pass `--session`"),
            ("brain-guard seal --file /etc/passwd", "an agent may not pass `--file`"),
            ("", "it runs no verb"),
            ("brain-guard append x | sh", "`|` outside single quotes at column 22"),
            ("brain-guard append 'é' $x", "`$` outside single quotes at column 24"),
            (
                "brain-guard status\nbrain-guard close \"`c`\"",
                "``` outside single quotes at line 2, column 20",
            ),
            ("brain-guard append 'b", "a quote that is not closed at column 20"),
            (
                "brain-guard append <<EOF\nx\nEOF",
                "a heredoc whose delimiter is not in quotes at column 20",
            ),
            ("brain-guard append <<'EOF'\nx", "no `EOF` that ends the heredoc at line 2, column 1"),
            ("brain-guard append x &", "`&` outside single quotes at column 22"),
            ("brain-guard seal &&", "nothing behind `&&` at column 20"),
            ("X=1 brain-guard seal", "`X=1` is not brain-guard"),
            ("./brain-guard seal", "`./brain-guard` is not brain-guard"),
        ] {
            assert_eq!(parse(script, PROGRAM).unwrap_err().to_string(), why, "{script}");
        }
        let verb = parse("brain-guard override", PROGRAM).unwrap_err().to_string();
        assert!(verb.starts_with("`override` is not one of the verbs append, "), "{verb}");
    }

    #[test]
    fn everything_else_is_the_shells() {
        for script in [
            "brain-guard append $(b)",
            "brain-guard append `b`",
            "brain-guard append > f",
            "brain-guard append < f",
            "brain-guard append || ls",
            "brain-guard append *.md",
            "brain-guard append {b,c}",
            "(brain-guard seal)",
            "brain-guard append <<<'b'",
            "brain-guard append ~/x",
            "brain-guard append #c",
            "&& brain-guard seal",
            "brain-guard seal ;; brain-guard seal",
            "brain-guard append &> f",
            "brain-guard append <(b)",
            "brain-guard append <<'X' <<'Y'\nX\nY",
            "<<'X'\nX",
            "brain-guard job\0",
            "brain-guard surgery slim this",
            "brain-guard mod step",
            "brain-guard append a\rb",
        ] {
            assert_eq!(own(script), None, "{script}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(script in "(brain-guard append )?[ab '\"\\\\$`<>|&;\n\t\r(){}#~!éE-]{0,60}") {
            let _ = parse(&script, PROGRAM);
        }

        #[test]
        fn quoted_words_read_back(text in "[^\0]{0,30}") {
            let script = format!("brain-guard append {}", base::shown::shell_quote(&text));
            prop_assert_eq!(own(&script).unwrap().calls[0].words[1].clone(), text);
        }
    }
}
