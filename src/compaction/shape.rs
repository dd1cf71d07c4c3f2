//! The shape a compaction file must have: its sections, and which kind of note goes where.
//!
//! A settings type. The names are the user's to change; what a section is *for* is
//! its [`Role`], and the rest of the crate asks for roles, never for names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
}

/// The sections in order, and the routing table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Shape {
    /// The sections, in the order they stand in the file.
    pub sections: Vec<Section>,
    /// From the kind of a note to the section it goes to: its name, an alias, or its role.
    pub routes: BTreeMap<String, String>,
}

/// Why a shape can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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

    /// The sections an agent must fill at a phase exit: all but the summary and the commits.
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
        for (kind, section) in &self.routes {
            if self.find(section).is_none()
                && !Role::ALL.iter().any(|role| role.as_str() == section)
            {
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
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_a_person_writes_them() {
        let shape = Shape::default();
        for name in
            ["forward state", "## Forward  State ##", "1. FORWARD STATE:", "next steps", "forward"]
        {
            assert_eq!(shape.find(name), Some(0), "{name}");
        }
        for name in ["Assumptions and Risks", "assumptions&risks", "Assumptions & Risks:", "risks"]
        {
            assert_eq!(shape.find(name), Some(2), "{name}");
        }
        for name in ["", "##", "Forward", "Forwards State", "custom", "1"] {
            assert_eq!(shape.find_heading(name), None, "{name}");
        }
    }

    #[test]
    fn routes_follow_a_renamed_section() {
        let mut shape = Shape::default();
        shape.sections[1].name = "Loose Ends".to_owned();
        assert_eq!(shape.route("Gotcha"), Some(1));
        assert_eq!(shape.route("nonsense"), None);
        assert_eq!(shape.validate(), Ok(()));
    }

    #[test]
    fn wrong_shapes_are_named() {
        let mut shape = Shape::default();
        shape.routes.insert("idea".to_owned(), "Ideas".to_owned());
        assert!(shape.validate().expect_err("no such section").to_string().contains("\"Ideas\""));
        let mut shape = Shape::default();
        shape.sections[1].aliases.push("forward-state".to_owned());
        assert_eq!(shape.validate(), Err(ShapeError::Twice("forward-state".to_owned())));
        let mut shape = Shape::default();
        shape.sections[1].name = "a\nb".to_owned();
        assert_eq!(shape.validate(), Err(ShapeError::Name("a\nb".to_owned())));
        assert_eq!(Shape::none().validate(), Err(ShapeError::Empty));
    }

    #[test]
    fn reads_settings_that_name_only_a_part() {
        let text = r#"{"sections":[{"name":"Decision Log"}]}"#;
        let shape: Shape = serde_json::from_str(text).expect("settings");
        assert_eq!(shape.sections[0].role, Role::Custom);
        assert_eq!(shape.routes, Shape::default().routes);
        assert_eq!(shape.validate(), Ok(()));
        assert_eq!(shape.route("risk"), Some(0), "no such role here: home");
    }
}
