//! Reads `engagement.md`: the id of the work in a project, and its phases by time.
//!
//! The id is `id`, `engagement` or `engagement_id` in the front matter, a line `id: …` above the
//! phases, or the first heading (`# Engagement: console-work`). Phases are the dated table rows and
//! list items below a heading with "phase" in it.

mod parts;

use parts::{Part, PartKind};

use base::clock::Time;
use base::when::{self, Moment};

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Engagement {
    /// Its id.
    pub id: String,
    /// Its phases, by start time.
    pub phases: Vec<Phase>,
    /// Lines with a time without a zone, which was read as UTC.
    pub unzoned: Vec<usize>,
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// When it began.
    pub from: Time,
    /// When it ended: the end of the day if only a day is given, the start of the next phase if
    /// nothing is. `None` while it is open.
    pub to: Option<Time>,
}

/// Most phases of an engagement.
const PHASES: usize = 1000;

/// Most characters of an engagement's id.
const ID: usize = 60;

/// Why `id` is not a valid engagement id; `None` if it is.
pub fn id_fault(id: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let good = !id.is_empty() && id.len() <= ID && id.chars().all(fits) && !id.starts_with('-');
    (!good).then(|| {
        format!(
            "{id:?} is not an engagement's id: 1 to {ID} letters, digits, `-`, `_`, `.`, no `-` first"
        )
    })
}

/// What is wrong in the file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct InvalidEngagement {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong in it.
    pub fault: String,
}

fn refuse<T>(line: usize, fault: impl Into<String>) -> Result<T, InvalidEngagement> {
    Err(InvalidEngagement { line, fault: fault.into() })
}

/// Parses the file.
pub fn parse(text: &str) -> Result<Engagement, InvalidEngagement> {
    let mut reading = Reading::default();
    let parts = parts::parse(text.trim_start_matches('\u{feff}'));
    for part in &parts {
        reading.part(part)?;
    }
    let id = match (reading.id, reading.title) {
        (Some((line, id)), _) => match id_fault(&id) {
            Some(fault) => return refuse(line, fault),
            None => id,
        },
        (None, Some((line, title))) => slug(&title).ok_or_else(|| InvalidEngagement {
            line,
            fault: format!("the heading {title:?} gives no id: write `# Engagement: console-work`"),
        })?,
        (None, None) => {
            let fault = "no id: write `id: console-work` in the front matter, or a heading \
                         `# Engagement: console-work`";
            return refuse(1, fault);
        }
    };
    Ok(Engagement { id, phases: phases(reading.spans)?, unzoned: reading.unzoned })
}

/// A phase as written.
struct Span {
    line: usize,
    name: String,
    from: Moment,
    to: Option<Moment>,
    /// Whether words such as `ongoing` say that it is open.
    open: bool,
}

#[derive(Default)]
struct Reading {
    id: Option<(usize, String)>,
    title: Option<(usize, String)>,
    phases: bool,
    spans: Vec<Span>,
    unzoned: Vec<usize>,
}

impl Reading {
    fn part(&mut self, part: &Part) -> Result<(), InvalidEngagement> {
        match part.kind {
            PartKind::Heading => {
                self.phases = part.text.to_lowercase().contains("phase");
                if self.title.is_none() {
                    self.title = Some((part.line, part.text.trim().to_owned()));
                }
            }
            PartKind::Entry if self.phases => self.phase(part)?,
            _ if self.id.is_none() && !self.phases => {
                let first = part.line + usize::from(part.kind == PartKind::Front);
                let mut lines = part.text.lines().enumerate();
                self.id = lines.find_map(|(n, line)| Some((first + n, named_id(line)?)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads a table row or list item; one without a date is not a phase.
    fn phase(&mut self, part: &Part) -> Result<(), InvalidEngagement> {
        let (mut times, mut rest, mut words) = (Vec::new(), part.text.as_str(), String::new());
        while let Some(found) = when::find(rest) {
            let Some(moment) = found.moment else {
                let written = &rest[found.start..found.end];
                let fault = format!("{written:?} is not a time; write 2026-03-19T10:23Z");
                return refuse(part.line, fault);
            };
            times.push(moment);
            words.push_str(&rest[..found.start]);
            words.push('\t');
            rest = &rest[found.end..];
        }
        words.push_str(rest);
        let Some(from) = times.first().copied() else { return Ok(()) };
        let words = pieces(&words);
        let Some(name) = words.iter().find(|w| !is_open(w)) else {
            return refuse(part.line, "the phase has no name");
        };
        let to = times.get(1).copied();
        if to.is_some_and(|to| to.end() < from.at) {
            return refuse(part.line, format!("the phase {name:?} ends before it begins"));
        }
        let open = words.iter().any(|w| is_open(w));
        if times.iter().take(2).any(|m| !m.zoned) {
            self.unzoned.push(part.line);
        }
        if self.spans.len() == PHASES {
            return refuse(part.line, format!("there are more than {PHASES} phases"));
        }
        self.spans.push(Span { line: part.line, name: (*name).to_owned(), from, to, open });
        Ok(())
    }
}

/// The id in a line such as `id: console-work`.
fn named_id(line: &str) -> Option<String> {
    let (key, value) = line.split_once(':')?;
    let key = bare(key).to_lowercase().replace([' ', '-'], "_");
    let value = value.split(" #").next().unwrap_or_default();
    let value =
        value.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '*' | '`'));
    let is = matches!(key.as_str(), "id" | "engagement" | "engagement_id");
    (is && !value.is_empty()).then(|| value.to_owned())
}

/// Turns a heading into an id: `Engagement: Console work` becomes `console-work`.
fn slug(title: &str) -> Option<String> {
    let lower = title.to_lowercase();
    let rest = lower.strip_prefix("engagement").map(bare).filter(|rest| !rest.is_empty());
    let rest = rest.unwrap_or(&lower);
    let mut slug = String::new();
    for c in rest.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(ID);
    let slug = slug.trim_matches('-').to_owned();
    id_fault(&slug).is_none().then_some(slug)
}

/// The words between and around a phase's times. `now: review` gives two.
fn pieces(words: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    for piece in words.split(['\t', '\n']) {
        match piece.split_once(':') {
            Some((ahead, behind)) if is_open(bare(ahead)) => pieces.extend([ahead, behind]),
            _ => pieces.push(piece),
        }
    }
    pieces.into_iter().map(bare).filter(|words| !words.is_empty()).collect()
}

/// Strips punctuation around words, and a joining word such as `until` at their end.
fn bare(words: &str) -> &str {
    let frame = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ':' | '-'
                    | '–'
                    | '—'
                    | '→'
                    | '>'
                    | '|'
                    | '('
                    | ')'
                    | '['
                    | ']'
                    | '*'
                    | '`'
                    | ','
                    | ';'
            )
    };
    let words = words.trim_matches(frame);
    // `from … to …`, `2026-03-19 until 2026-03-20`.
    let joins = ["from", "to", "till", "until", "since"];
    match words.rsplit_once(char::is_whitespace) {
        Some((ahead, last)) if joins.contains(&last.trim_matches(frame)) => {
            ahead.trim_matches(frame)
        }
        None if joins.contains(&words) => "",
        _ => words,
    }
}

/// Whether words say that a phase is still open.
fn is_open(words: &str) -> bool {
    let words = words.to_lowercase();
    matches!(
        words.as_str(),
        "now" | "open" | "ongoing" | "present" | "today" | "current" | "…" | "..."
    )
}

/// The phases by start time, with their ends.
fn phases(mut spans: Vec<Span>) -> Result<Vec<Phase>, InvalidEngagement> {
    spans.sort_by_key(|span| span.from.at);
    let mut phases: Vec<Phase> = Vec::new();
    for (n, span) in spans.iter().enumerate() {
        let next = spans.get(n + 1).map(|next| next.from.at);
        let to = match span.to {
            // A phase that ends on the day the next one starts ends at that start.
            Some(to) if to.day => {
                Some(next.filter(|n| *n >= to.at).map_or(to.end(), |n| n.min(to.end())))
            }
            Some(to) => Some(to.at),
            None if span.open => None,
            None => next,
        };
        if span.to.is_none() && !span.open && next == Some(span.from.at) {
            let fault =
                format!("the phase {:?} begins when another does: write when it ended", span.name);
            return refuse(span.line, fault);
        }
        phases.push(Phase { name: span.name.clone(), from: span.from.at, to });
    }
    Ok(phases)
}

#[cfg(test)]
mod tests;
