//! The shape of a compaction file: its sections, and which kind of note goes where.
//!
//! This is a settings type. Users may change the names. The purpose of a section is its [`Role`],
//! and the rest of the crate uses only roles.

use std::collections::BTreeMap;

use serde::de::IntoDeserializer as _;
use serde::de::value::{self, StrDeserializer};
use serde::{Deserialize, Serialize};

/// The kind of the next step. It goes to the top of its section and comes first in lists of kinds.
pub const NEXT: &str = "next";

/// The purpose of a section. The seal treats sections by role, not by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The next steps, and the rules for the work. Never shrunk.
    Forward,
    /// Open work. Open entries are never shrunk.
    Threads,
    /// Assumptions without proof.
    Risks,
    /// How the work is going, and why.
    Insight,
    /// Everything earlier, limited to a share of the file.
    Summary,
    /// Commit messages, which only the guard writes.
    Git,
    /// A section of the user's own.
    #[default]
    Custom,
}

impl Role {
    /// The name of the role in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Threads => "threads",
            Self::Risks => "risks",
            Self::Insight => "insight",
            Self::Summary => "summary",
            Self::Git => "git",
            Self::Custom => "custom",
        }
    }

    /// Whether an open entry here is work to do, which only the agent may close or remove.
    pub fn is_work(self) -> bool {
        match self {
            Self::Forward | Self::Threads => true,
            Self::Risks | Self::Insight | Self::Summary | Self::Git | Self::Custom => false,
        }
    }

    /// Whether an entry that an earlier session wrote here moves to the summary.
    pub fn ages(self) -> bool {
        match self {
            Self::Risks | Self::Insight => true,
            Self::Forward | Self::Threads | Self::Summary | Self::Git | Self::Custom => false,
        }
    }

    /// Whether an agent writes this section, and must fill it at a phase exit.
    fn is_authored(self) -> bool {
        match self {
            Self::Forward | Self::Threads | Self::Risks | Self::Insight | Self::Custom => true,
            Self::Summary | Self::Git => false,
        }
    }
}

/// One section of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// The heading.
    pub name: String,
    /// The purpose of the section.
    #[serde(default)]
    pub role: Role,
    /// One line about what belongs here, written as a comment below the heading.
    #[serde(default)]
    pub prompt: String,
    /// Other headings that mean this section.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The share of the file that the seal limits the section to, above 0 and at most 1. It removes
    /// the least referenced and oldest entries, but never open or pinned ones. Without it, the
    /// summary and the commits use the shares of the `file` settings, and other sections have no
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<f64>,
}

/// The sections in order, and the routing table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Shape {
    /// The sections in file order. Your own list replaces all of them.
    pub sections: Vec<Section>,
    /// Maps the kind of a note to its section: a name, an alias, or a role. Kinds that are not
    /// listed keep their section.
    #[serde(deserialize_with = "over_the_defaults")]
    pub routes: BTreeMap<String, String>,
}

/// Adds the user's kinds to the default ones, because the notes to the agent mention those.
fn over_the_defaults<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let mut routes = Shape::default().routes;
    let given = BTreeMap::<String, String>::deserialize(from)?;
    routes.extend(given.into_iter().map(|(kind, section)| (kind.trim().to_lowercase(), section)));
    Ok(routes)
}

/// Why a shape cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// No section is left to write into.
    #[error(
        "`sections` holds no section an agent may write; name at least one that is not of role git"
    )]
    Empty,
    /// The name cannot be found again in the file: it has no letter or digit, or contains a line
    /// break.
    #[error("section name {0:?} is not usable: it needs a letter or digit and must be one line")]
    Name(String),
    /// Two sections share a name or alias.
    #[error("two sections use the name or alias {0:?}; rename one")]
    Twice(String),
    /// The share is out of range.
    #[error("section {name:?} has slice {slice}; give a share of the file above 0 and at most 1")]
    Slice {
        /// The section.
        name: String,
        /// The value in the settings.
        slice: f64,
    },
    /// A kind names no existing section.
    #[error("route {kind:?} names section {section:?}, which does not exist; use one of: {known}")]
    Route {
        /// The kind of note.
        kind: String,
        /// The section named in the settings.
        section: String,
        /// The existing sections.
        known: String,
    },
}

impl Shape {
    /// Finds a section by its name, an alias or its role. Ignores case, spacing, punctuation and a
    /// leading number, and reads `&` as "and".
    pub fn find(&self, name: &str) -> Option<usize> {
        self.find_heading(name).or_else(|| {
            let key = heading_key(name);
            let role =
                |section: &Section| section.role != Role::Custom && section.role.as_str() == key;
            self.sections.iter().position(role)
        })
    }

    /// Like [`Shape::find`], but without roles.
    pub(crate) fn find_heading(&self, heading: &str) -> Option<usize> {
        let key = heading_key(heading);
        if key.is_empty() {
            return None;
        }
        let named = |key: &str| {
            let by_name =
                self.sections.iter().position(|section| heading_key(&section.name) == key);
            by_name.or_else(|| {
                let alias = |section: &Section| {
                    section.aliases.iter().any(|alias| heading_key(alias) == key)
                };
                self.sections.iter().position(alias)
            })
        };
        named(&key).or_else(|| {
            let (number, rest) = key.split_once(' ')?;
            number.bytes().all(|byte| byte.is_ascii_digit()).then(|| named(rest)).flatten()
        })
    }

    /// The first section of a role.
    pub fn with_role(&self, role: Role) -> Option<usize> {
        self.sections.iter().position(|section| section.role == role)
    }

    /// The section of a kind of note; `None` for an unknown kind. A role without a section leads to
    /// the fallback section.
    pub fn route(&self, kind: &str) -> Option<usize> {
        let kind = kind.trim().to_lowercase();
        self.routes.get(&kind).map(|name| self.find(name).unwrap_or_else(|| self.home()))
    }

    /// All kinds of note: `next` first, then by name.
    pub fn all_kinds(&self) -> impl Iterator<Item = &str> {
        let next = self.routes.get_key_value(NEXT).map(|(kind, _)| kind);
        let others = self.routes.keys().filter(|kind| *kind != NEXT);
        next.into_iter().chain(others).map(String::as_str)
    }

    /// The kinds of note that lead to a section, in the order of [`Shape::all_kinds`].
    pub fn kinds(&self, section: usize) -> impl Iterator<Item = &str> {
        self.all_kinds().filter(move |kind| self.route(kind) == Some(section))
    }

    /// The kinds an agent may use, with their sections: `risk (Risks); why (Insight)`.
    pub fn kinds_by_section(&self) -> String {
        let one = |index| {
            let kinds = self.kinds(index).collect::<Vec<_>>().join(", ");
            (!kinds.is_empty()).then(|| format!("{kinds} ({})", self.name(Some(index))))
        };
        self.authored().filter_map(one).collect::<Vec<_>>().join("; ")
    }

    /// The sections an agent writes, and must fill at a phase exit.
    pub fn authored(&self) -> impl Iterator<Item = usize> {
        let authored = |index: &usize| self.role(*index).is_authored();
        (0..self.sections.len()).filter(authored)
    }

    /// The section for text without one: the open threads, where it cannot be lost.
    pub fn home(&self) -> usize {
        self.with_role(Role::Threads)
            .or_else(|| self.with_role(Role::Forward))
            .or_else(|| self.sections.iter().position(|section| section.role != Role::Git))
            .unwrap_or(0)
    }

    /// The section's name; empty for text outside of all sections.
    pub fn name(&self, section: Option<usize>) -> &str {
        section.and_then(|index| self.sections.get(index)).map_or("", |section| &section.name)
    }

    /// The section's role.
    pub fn role(&self, section: usize) -> Role {
        self.sections.get(section).map_or(Role::Custom, |section| section.role)
    }

    /// Checks a shape from the settings. With a wrong shape nothing panics, but entries may end up
    /// in the wrong section.
    pub fn validate(&self) -> Result<(), ShapeError> {
        if self.sections.iter().all(|section| section.role == Role::Git) {
            return Err(ShapeError::Empty);
        }
        let mut seen = BTreeMap::new();
        for (index, section) in self.sections.iter().enumerate() {
            if let Some(slice) = section.slice.filter(|slice| !(*slice > 0.0 && *slice <= 1.0)) {
                return Err(ShapeError::Slice { name: section.name.clone(), slice });
            }
            for name in std::iter::once(&section.name).chain(&section.aliases) {
                let key = heading_key(name);
                if key.is_empty() || name.contains(['\n', '\r']) {
                    return Err(ShapeError::Name(name.clone()));
                }
                if seen.insert(key, index).is_some_and(|before| before != index) {
                    return Err(ShapeError::Twice(name.clone()));
                }
            }
        }
        let is_role = |word: &str| {
            let word: StrDeserializer<'_, value::Error> = word.into_deserializer();
            Role::deserialize(word).is_ok()
        };
        let names_one = |name: &str| {
            let key = heading_key(name);
            let numbered = |(number, rest): (&str, &str)| {
                number.bytes().all(|byte| byte.is_ascii_digit()) && seen.contains_key(rest)
            };
            let role =
                |section: &Section| section.role != Role::Custom && section.role.as_str() == key;
            seen.contains_key(&key)
                || key.split_once(' ').is_some_and(numbered)
                || self.sections.iter().any(role)
        };
        for (kind, section) in &self.routes {
            if !is_role(section) && !names_one(section) {
                let known: Vec<_> =
                    self.sections.iter().map(|section| section.name.as_str()).collect();
                let known = known.join(", ");
                return Err(ShapeError::Route {
                    kind: kind.clone(),
                    section: section.clone(),
                    known,
                });
            }
        }
        Ok(())
    }

    /// A shape without sections, which knows no heading.
    pub(crate) fn none() -> Self {
        Self { sections: Vec::new(), routes: BTreeMap::new() }
    }
}

/// A normalized heading, to compare by its words.
pub(crate) fn heading_key(heading: &str) -> String {
    let mut key = String::with_capacity(heading.len());
    let mut gap = false;
    for letter in heading.chars() {
        if letter.is_alphanumeric() {
            if std::mem::take(&mut gap) && !key.is_empty() {
                key.push(' ');
            }
            key.extend(letter.to_lowercase());
        } else if letter == '&' {
            key.push_str(if key.is_empty() { "and" } else { " and" });
            gap = true;
        } else {
            gap = true;
        }
    }
    key
}

#[cfg(test)]
mod tests;
