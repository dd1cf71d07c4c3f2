//! The shape a compaction file must have: its sections, and which kind of note goes where.
//!
//! A settings type. The names are the user's to change; what a section is *for* is
//! its [`Role`], and the rest of the crate asks for roles, never for names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The kind of the next step: it goes to the top of its section, and lists of kinds begin with it.
pub const NEXT: &str = "next";

/// What a section is for. The seal treats sections by role, whatever their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// What comes next, and what binds the work. Never shrunk.
    Forward,
    /// What is open. Open entries are never shrunk.
    Threads,
    /// What the work leans on without proof.
    Risks,
    /// How the work is going, and why.
    Insight,
    /// Everything earlier, held at a slice of the file.
    Summary,
    /// Commit messages, written by the guard only.
    Git,
    /// A section of the user's own.
    #[default]
    Custom,
}

impl Role {
    const ALL: [Self; 7] = [
        Self::Forward,
        Self::Threads,
        Self::Risks,
        Self::Insight,
        Self::Summary,
        Self::Git,
        Self::Custom,
    ];

    /// The word for it in settings.
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
}

/// One section of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// The heading, as it is written.
    pub name: String,
    /// What the section is for.
    #[serde(default)]
    pub role: Role,
    /// What belongs here, in one line; stands as a comment below the heading.
    #[serde(default)]
    pub prompt: String,
    /// Other headings that mean this section.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The share of the file the seal holds the section at, above 0 and at most 1: the least
    /// referred to and oldest entries go, never open work or pinned ones. Without it the
    /// summary and the commits are held at the shares of the `file` settings, the rest at none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<f64>,
}

/// The sections in order, and the routing table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Shape {
    /// The sections, in the order they stand in the file; a list of your own takes the place of all of them.
    pub sections: Vec<Section>,
    /// From the kind of a note to the section it goes to: its name, an alias, or its role. Kinds that are not named keep their section.
    #[serde(deserialize_with = "over_the_defaults")]
    pub routes: BTreeMap<String, String>,
}

/// Kinds of the user's beside the usual ones, which the notes to the agent speak of.
fn over_the_defaults<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let mut routes = Shape::default().routes;
    let given = BTreeMap::<String, String>::deserialize(from)?;
    routes.extend(given.into_iter().map(|(kind, section)| (kind.trim().to_lowercase(), section)));
    Ok(routes)
}

/// Why a shape can't be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// There is no section to write into.
    #[error(
        "`sections` holds no section an agent may write; name at least one that is not of role git"
    )]
    Empty,
    /// A name without a letter or digit, or with a line break, can't be found again in the file.
    #[error("section name {0:?} is not usable: it needs a letter or digit and must be one line")]
    Name(String),
    /// Two headings would mean different sections.
    #[error("section name or alias {0:?} stands for two sections; rename one")]
    Twice(String),
    /// A share that is none.
    #[error("section {name:?} has slice {slice}; give a share of the file above 0 and at most 1")]
    Slice {
        /// The section.
        name: String,
        /// What the settings say.
        slice: f64,
    },
    /// A kind goes nowhere.
    #[error("route {kind:?} names section {section:?}, which does not exist; use one of: {known}")]
    Route {
        /// The kind of note.
        kind: String,
        /// The section the settings name.
        section: String,
        /// The sections there are.
        known: String,
    },
}

impl Shape {
    /// The section a person means by `name`: its name, an alias or its role.
    /// Case, spacing, punctuation, a leading number, and `&` for "and" don't matter.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.find_heading(name).or_else(|| {
            let key = heading_key(name);
            let role =
                |section: &Section| section.role != Role::Custom && section.role.as_str() == key;
            self.sections.iter().position(role)
        })
    }

    /// As [`Shape::find`], but a role is not a heading.
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

    /// The section a kind of note goes to; `None` for a kind the table does not hold.
    /// A role that no section has leads [`Shape::home`].
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

    /// The kinds an agent may use with the sections they lead to: `risk (Risks); why (Insight)`.
    pub fn kinds_by_section(&self) -> String {
        let one = |index| {
            let kinds = self.kinds(index).collect::<Vec<_>>().join(", ");
            (!kinds.is_empty()).then(|| format!("{kinds} ({})", self.name(Some(index))))
        };
        self.authored().filter_map(one).collect::<Vec<_>>().join("; ")
    }

    /// The sections an agent writes, and must fill at a phase exit: all but the summary and the
    /// commits.
    pub fn authored(&self) -> impl Iterator<Item = usize> {
        let authored =
            |(_, section): &(usize, &Section)| !matches!(section.role, Role::Summary | Role::Git);
        self.sections.iter().enumerate().filter(authored).map(|(index, _)| index)
    }

    /// Where text without a section goes: the open threads, for there it can't get lost.
    pub fn home(&self) -> usize {
        self.with_role(Role::Threads)
            .or_else(|| self.with_role(Role::Forward))
            .or_else(|| self.sections.iter().position(|section| section.role != Role::Git))
            .unwrap_or(0)
    }

    /// The section's name; empty for text outside of every section.
    pub fn name(&self, section: Option<usize>) -> &str {
        section.and_then(|index| self.sections.get(index)).map_or("", |section| &section.name)
    }

    /// The section's role.
    pub fn role(&self, section: usize) -> Role {
        self.sections.get(section).map_or(Role::Custom, |section| section.role)
    }

    /// Says what is wrong with a shape that came from settings. Parsing, editing and
    /// sealing don't panic on a wrong one, but entries may not find home.
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
            if !Role::ALL.iter().any(|role| role.as_str() == section) && !names_one(section) {
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

    /// A shape without sections: every heading is unknown to it.
    pub(crate) fn none() -> Self {
        Self { sections: Vec::new(), routes: BTreeMap::new() }
    }
}

/// What a heading says, without how it is written.
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
