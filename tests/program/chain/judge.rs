//! The rules for the chain, checked on the delivered texts and the files, without the guard's code.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::chain::run::{Chain, Session, words};

/// The documented limits: words of the sealed file, and of its Prior Summary.
pub const TARGET: usize = 800;
pub const SLICE: usize = 500;

/// By how much a later mean may exceed an earlier one.
const GROWTH: f64 = 1.05;

#[derive(Debug, Clone)]
pub struct Fault {
    pub session: u32,
    pub rule: Rule,
    pub what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    Delivered,
    Growth,
    Summary,
    Pin,
    Directive,
    Open,
    Archive,
    Twice,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "session {}, {:?}: {}", self.session, self.rule, self.what)
    }
}

/// An entry in the text.
#[derive(Debug, Clone)]
pub struct Line {
    pub section: String,
    pub text: String,
}

impl Line {
    pub fn open(&self) -> bool {
        !self.text.starts_with("[x]") && !self.text.starts_with("~~")
    }
}

/// A delivered text, parsed.
#[derive(Debug, Clone)]
pub struct Delivered {
    pub words: usize,
    /// Words outside of the file's entries.
    pub kick_off: usize,
    pub entries: Vec<Line>,
}

impl Delivered {
    pub fn parse(text: &str) -> Self {
        let begin = text.find("<<<<< compaction file").expect("the opening marker");
        let end = text.find(">>>>> end of compaction file").expect("the closing marker");
        let entries = entries(&text[begin..end]);
        let own: usize = entries.iter().map(|entry| words(&entry.text)).sum();
        let all = words(&without_comments(text));
        Self { words: all, kick_off: all - own, entries }
    }

    /// The words of one section.
    pub fn words_of(&self, section: &str) -> usize {
        self.entries
            .iter()
            .filter(|line| line.section == section)
            .map(|line| words(&line.text))
            .sum()
    }

    /// Whether a sentence is in one of the entries that `of` selects.
    pub fn says(&self, text: &str, of: impl Fn(&Line) -> bool) -> bool {
        self.entries.iter().any(|line| of(line) && plain(&line.text).contains(&plain(text)))
    }
}

/// Sections and list items; the chain's files hold nothing else.
fn entries(file: &str) -> Vec<Line> {
    let (mut section, mut entries) = (String::new(), Vec::<Line>::new());
    for line in without_comments(file).lines() {
        if let Some(name) = line.strip_prefix("## ") {
            name.trim().clone_into(&mut section);
        } else if section.is_empty() {
        } else if let Some(text) = line.strip_prefix("- ") {
            entries.push(Line { section: section.clone(), text: text.trim().to_owned() });
        } else if let Some(entry) = entries.last_mut().filter(|_| !line.trim().is_empty()) {
            entry.text = format!("{} {}", entry.text, line.trim());
        }
    }
    entries
}

fn without_comments(text: &str) -> String {
    let kept = text.split("<!--").enumerate().map(|(index, part)| {
        if index == 0 { part } else { part.split_once("-->").map_or("", |(_, rest)| rest) }
    });
    kept.collect()
}

/// Only the words, in lower case, with a space on either side.
pub fn plain(text: &str) -> String {
    let word = |run: &str| -> String {
        run.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let all: Vec<String> =
        text.split_whitespace().map(word).filter(|word| !word.is_empty()).collect();
    format!(" {} ", all.join(" "))
}

/// Every fault.
pub fn judge(chain: &Chain) -> Vec<Fault> {
    let mut faults = Vec::new();
    for session in &chain.sessions {
        let fault = |(rule, what): (Rule, String)| Fault { session: session.number, rule, what };
        faults.extend(handed_on(session).into_iter().map(fault));
        faults.extend(archived(session).into_iter().map(|what| fault((Rule::Archive, what))));
    }
    faults.extend(growth(chain));
    faults
}

fn handed_on(session: &Session) -> Vec<(Rule, String)> {
    let delivered = Delivered::parse(&session.delivered);
    let mut faults = Vec::new();
    let limit = TARGET + delivered.kick_off;
    if delivered.words > limit {
        faults.push((Rule::Delivered, format!("{} words, {limit} allowed", delivered.words)));
    }
    let summary = delivered.words_of("Prior Summary");
    if summary > SLICE {
        faults.push((Rule::Summary, format!("{summary} words, {SLICE} allowed")));
    }
    for (rule, wanted) in [
        (Rule::Pin, &session.pins),
        (Rule::Directive, &session.directives),
        (Rule::Open, &session.open),
    ] {
        let counts = |line: &Line| match rule {
            Rule::Pin => line.text.starts_with('!'),
            Rule::Directive => line.section == "Forward State" && line.open(),
            _ => matches!(line.section.as_str(), "Forward State" | "Open Threads") && line.open(),
        };
        // As a separate entry; a longer entry that contains it is another.
        let stands = |text: &str| {
            delivered.entries.iter().any(|line| {
                let said = plain(&line.text);
                let said = said.strip_prefix(" directive").unwrap_or(&said);
                counts(line) && said == plain(text)
            })
        };
        faults.extend(wanted.iter().filter(|text| !stands(text)).map(|text| (rule, text.clone())));
    }
    let mut seen = HashSet::new();
    for line in &delivered.entries {
        if !seen.insert(plain(&line.text)) {
            faults.push((Rule::Twice, line.text.clone()));
        }
    }
    faults
}

/// Words that a seal removed and that are nowhere.
fn archived(session: &Session) -> Vec<String> {
    let mut lost = Vec::new();
    for version in &session.versions {
        let mut there: HashMap<String, i64> = HashMap::new();
        for word in
            plain(&without_comments(&format!("{}\n{}", version.sealed, version.removed))).split(' ')
        {
            *there.entry(word.to_owned()).or_default() += 1;
        }
        for line in entries(&version.raw) {
            for word in plain(&line.text).split_whitespace() {
                let left = there.entry(word.to_owned()).or_default();
                *left -= 1;
                if *left < 0 {
                    lost.push(format!("{word:?} of {:?}", line.text));
                    break;
                }
            }
        }
    }
    lost
}

/// The mean of delivered words over these sessions, inclusive.
pub fn mean(chain: &Chain, first: u32, last: u32) -> Option<f64> {
    let of: Vec<usize> = chain
        .sessions
        .iter()
        .filter(|session| (first..=last).contains(&session.number))
        .map(|session| Delivered::parse(&session.delivered).words)
        .collect();
    let whole = of.len() as u32 == last - first + 1;
    whole.then(|| of.iter().sum::<usize>() as f64 / of.len() as f64)
}

fn growth(chain: &Chain) -> Option<Fault> {
    let (early, late) = (mean(chain, 5, 14)?, mean(chain, 21, 30)?);
    let what = format!("{late:.0} words against {early:.0}");
    (late > GROWTH * early).then_some(Fault { session: 30, rule: Rule::Growth, what })
}
