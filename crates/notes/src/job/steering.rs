//! Collects the steering notes of all jobs by the template or phase they are about. They show which
//! coaching misled the work.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::kinds::{label, steering};
use crate::compaction::{EntryId, Shape, parse};

/// A file that may hold notes.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its job.
    pub job: String,
    /// Its path, for display.
    pub place: String,
    /// Its text.
    pub text: String,
}

/// What a note can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Voice {
    /// A text template of the guard.
    Template,
    /// A phase of a job or of the settings.
    Phase,
    /// Something else.
    Other,
}

/// The notes about one voice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Its name. `None` if the notes name nothing known.
    pub about: Option<String>,
    /// What it is.
    pub voice: Option<Voice>,
    /// The notes in source order.
    pub notes: Vec<Note>,
}

/// One note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What it says.
    pub text: String,
    /// It says that there was nothing to report (`none: why`).
    pub none: bool,
    /// Its job.
    pub job: String,
    /// File and line of its first occurrence.
    pub place: String,
}

/// Groups the notes of all sources. Each note counts once per job. Its group is the `[name]` in
/// front, otherwise the longest known name in its text. The known names are `templates` and
/// `phases`.
pub fn collect(
    sources: &[Source],
    shape: &Shape,
    templates: &[&str],
    phases: &BTreeSet<String>,
) -> Vec<Group> {
    let mut known: Vec<(Voice, &str)> =
        templates.iter().map(|name| (Voice::Template, *name)).collect();
    known.extend(phases.iter().map(|name| (Voice::Phase, name.as_str())));
    known.sort_by_key(|(_, name)| std::cmp::Reverse(name.chars().count()));
    let mut seen = BTreeSet::new();
    // Keyed by lower-case name. Notes about nothing come last.
    let mut groups: BTreeMap<(bool, String), Group> = BTreeMap::new();
    for source in sources {
        for entry in parse(&source.text, shape).entries() {
            let Some(note) = steering(&entry.text) else { continue };
            if !seen.insert((source.job.as_str(), EntryId::from_text(note.says))) {
                continue;
            }
            let named = note.about.map(|about| {
                let same = |(_, name): &&(Voice, &str)| key(&label(name)) == key(about);
                known.iter().find(same).copied().unwrap_or((Voice::Other, about))
            });
            let about =
                named.or_else(|| known.iter().find(|(_, name)| mentions(note.says, name)).copied());
            let group = groups
                .entry((about.is_none(), about.map_or_else(String::new, |(_, name)| key(name))))
                .or_insert_with(|| Group {
                    about: about.map(|(_, name)| name.to_owned()),
                    voice: about.map(|(voice, _)| voice),
                    notes: Vec::new(),
                });
            let line = source.text[..entry.range.start].matches('\n').count() + 1;
            group.notes.push(Note {
                text: note.says.to_owned(),
                none: note.none,
                job: source.job.clone(),
                place: format!("{}:{line}", source.place),
            });
        }
    }
    groups.into_values().collect()
}

fn key(name: &str) -> String {
    name.to_lowercase()
}

/// Whether a text contains a name as a separate word.
fn mentions(text: &str, name: &str) -> bool {
    let (text, name) = (key(text), key(name));
    // A name like `a` is in any text.
    if name.chars().count() < 3 {
        return false;
    }
    let joins = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(&name).any(|(at, found)| {
        !text[..at].ends_with(joins) && !text[at + found.len()..].starts_with(joins)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(job: &str, place: &str, text: &str) -> Source {
        Source { job: job.into(), place: place.into(), text: text.into() }
    }

    #[test]
    fn notes_stand_by_the_voice_they_speak_of_each_once() {
        let live = "## Process Insight\n- steering: [Design] led astray\n- lesson: not this\n\n- ! steering: note-coach came too late\n";
        let removed = "# j: removed\n\n## dedup: Process Insight\n\n- steering: led  astray\n- [x] steering: something else\n";
        let sources = [
            source("a", "a/compaction.md", live),
            source("a", "a/v1.removed.md", removed),
            source(
                "b",
                "b/compaction.md",
                "## Insights\n- steering: [the linter] none: it was silent\n- steering: led astray, in the design review\n",
            ),
        ];
        let phases = ["design", "design review", "a"].map(str::to_owned).into();
        let groups = collect(&sources, &Shape::default(), &["note-coach", "kickoff"], &phases);
        let got: Vec<_> = groups
            .iter()
            .map(|g| {
                (
                    g.about.as_deref(),
                    g.voice,
                    g.notes.iter().map(|n| (n.text.as_str(), n.place.as_str())).collect::<Vec<_>>(),
                )
            })
            .collect();
        assert_eq!(
            got,
            [
                (Some("design"), Some(Voice::Phase), vec![("led astray", "a/compaction.md:2")]),
                (
                    Some("design review"),
                    Some(Voice::Phase),
                    vec![("led astray, in the design review", "b/compaction.md:3")]
                ),
                (
                    Some("note-coach"),
                    Some(Voice::Template),
                    vec![("note-coach came too late", "a/compaction.md:5")]
                ),
                (
                    Some("the linter"),
                    Some(Voice::Other),
                    vec![("none: it was silent", "b/compaction.md:2")]
                ),
                (None, None, vec![("something else", "a/v1.removed.md:6")]),
            ]
        );
        assert!(groups[3].notes[0].none);
    }

    #[test]
    fn a_name_is_a_word_of_its_own() {
        assert!(mentions("the Kickoff's tone", "kickoff"));
        for text in ["kickoffs", "a_kickoff", "kick off"] {
            assert!(!mentions(text, "kickoff"), "{text}");
        }
        assert!(!mentions("a b", "a"));
    }
}
