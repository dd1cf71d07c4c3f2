//! Shell commands of the agent against the carve-out: what passes runs only our own verbs by our
//! own path.
#![no_main]

use guard::policy::carve_outs::{Caller, own_command};
use guard::policy::shell::accepted_commands;
use guard::policy::verbs::AGENT_VERBS;
use libfuzzer_sys::fuzz_target;

const CALLER: Caller =
    Caller { program: "/opt/my bg/brain-guard", session: "s1", call: "t1", project: "/my p" };

fuzz_target!(|script: &str| {
    let Some(own) = own_command(script, &CALLER, |path| path == "/my p") else { return };
    assert!(plain(script), "an operator of the shell in {script:?}");
    let Ok(commands) = accepted_commands(&own.rewritten) else {
        panic!("not recognised: {:?}", own.rewritten)
    };
    let mut verbs = Vec::new();
    for (index, words) in commands.iter().enumerate() {
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        match words.as_slice() {
            ["cd", "/my p"] if index == 0 => {}
            [program, verb, "--session", "s1", "--call", "t1", "--project", "/my p", ..]
                if *program == CALLER.program && AGENT_VERBS.contains(verb) =>
            {
                verbs.push((*verb).to_owned());
            }
            other => panic!("{other:?} in {:?}", own.rewritten),
        }
    }
    assert_eq!(verbs, own.verbs);
});

/// Whether the only shell syntax outside quotes is `&&`, `;`, `2>&1` and heredocs with a quoted
/// end. Independent of the matcher's own parser.
fn plain(script: &str) -> bool {
    let mut rest = script;
    let mut ends: Vec<(String, bool)> = Vec::new();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '\'' => match rest[1..].find('\'') {
                Some(end) => end + 2,
                None => return false,
            },
            '"' => match double_quoted(&rest[1..]) {
                Some(end) => end + 2,
                None => return false,
            },
            '\n' => {
                rest = &rest[1..];
                for (end, tabs) in ends.drain(..) {
                    loop {
                        if rest.is_empty() {
                            return false;
                        }
                        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
                        rest = behind;
                        if end == if tabs { line.trim_start_matches('\t') } else { line } {
                            break;
                        }
                    }
                }
                continue;
            }
            '2' if rest.starts_with("2>&1") => 4,
            '&' if rest.starts_with("&&") => 2,
            '<' if rest.starts_with("<<") && !rest.starts_with("<<<") => {
                let tabs = rest[2..].starts_with('-');
                let word = rest[2 + usize::from(tabs)..].trim_start_matches([' ', '\t']);
                let Some(quote) = word.chars().next().filter(|c| "'\"".contains(*c)) else {
                    return false;
                };
                let Some(end) = word[1..].find(quote) else { return false };
                // Text right after the quotes belongs to the word; it is not checked here.
                let behind = &word[end + 2..];
                if !behind.is_empty() && !behind.starts_with([' ', '\t', '\n', '\r', ';', '&', '2'])
                {
                    return true;
                }
                // A carriage return is an ordinary character to the shell.
                let letter = if behind.starts_with("\r\n") { "\r" } else { "" };
                ends.push(([&word[1..=end], letter].concat(), tabs));
                rest.len() - behind.len()
            }
            '&' | '$' | '`' | '<' | '>' | '|' | '(' | ')' | '{' | '}' | '*' | '?' | '[' | ']'
            | '!' => {
                return false;
            }
            other => other.len_utf8(),
        };
        rest = &rest[length..];
    }
    true
}

/// The bytes up to the closing quote.
fn double_quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at),
            '$' | '`' => return None,
            _ => {}
        }
    }
    None
}
