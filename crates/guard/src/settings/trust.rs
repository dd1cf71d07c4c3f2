//! Projects whose jobs are accepted without asking the user.

use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::wild;

/// Which projects are trusted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TrustSettings {
    /// Folders whose jobs are accepted without asking, for containers and second machines. Real paths, absolute or `~/…`; `*` stands for any letters of one part, `**` for any parts.
    pub projects: Vec<String>,
}

impl TrustSettings {
    /// The first invalid value, as (key path, message).
    pub(super) fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        let usable = |glob: &String| {
            (glob.starts_with('/') || glob.starts_with("~/"))
                && !glob.split('/').any(|part| part == "." || part == "..")
        };
        let wrong = self.projects.iter().find(|glob| !usable(glob))?;
        let why = format!("{wrong:?} must begin with `/` or `~/`, without `.` and `..`");
        Some((vec!["trust", "projects"], why))
    }
}

/// Whether jobs of the project at this real path are accepted without asking.
pub fn accepts(trust: &TrustSettings, home: Option<&Path>, project: &Path) -> bool {
    if trust.projects.is_empty() {
        return false;
    }
    let Some(project) = parts(project) else { return false };
    trust.projects.iter().any(|glob| {
        let (mut pattern, glob) = match glob.strip_prefix("~/") {
            Some(rest) => match home.and_then(parts) {
                Some(home) => (home.into_iter().map(Part::Exact).collect(), rest),
                None => return false,
            },
            None => (Vec::new(), glob.as_str()),
        };
        pattern.extend(glob.split('/').filter(|part| !part.is_empty()).map(Part::Glob));
        let any = |part: &Part| matches!(part, Part::Glob("**"));
        wild::fits(&pattern, &project, any, |part, name| part.is_like(name))
    })
}

/// One part of a glob.
enum Part<'a> {
    /// From the home folder's path, where `*` is a plain letter.
    Exact(&'a str),
    Glob(&'a str),
}

impl Part<'_> {
    fn is_like(&self, name: &str) -> bool {
        match self {
            Self::Exact(part) => *part == name,
            Self::Glob(part) => {
                let letters = |text: &str| text.chars().collect::<Vec<_>>();
                wild::fits(&letters(part), &letters(name), |c| *c == '*', |c, name| c == name)
            }
        }
    }
}

/// The parts of a path, if it is absolute and without `.` and `..`.
fn parts(path: &Path) -> Option<Vec<&str>> {
    let mut components = path.components();
    if components.next() != Some(Component::RootDir) {
        return None;
    }
    let name = |component| match component {
        Component::Normal(name) => name.to_str(),
        _ => None,
    };
    components.map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_accept_folders_part_by_part() {
        let accepted = |glob: &str, project: &str| {
            let trust = TrustSettings { projects: vec!["/nowhere".into(), glob.into()] };
            assert_eq!(trust.problem(), None);
            accepts(&trust, Some(Path::new("/home/*me")), Path::new(project))
        };
        for (glob, project) in [
            ("/srv/app", "/srv/app"),
            ("/srv/app/", "/srv/app"),
            ("/srv/*", "/srv/app"),
            ("/srv/a*p-*", "/srv/app-2"),
            ("/srv/**", "/srv"),
            ("/srv/**", "/srv/a/b"),
            ("/srv/**/app", "/srv/a/b/app"),
            ("/**", "/srv"),
            ("~/code/*", "/home/*me/code/app"),
            ("~/", "/home/*me"),
        ] {
            assert!(accepted(glob, project), "{glob} {project}");
        }
        for (glob, project) in [
            ("/srv/*", "/srv"),
            ("/srv/*", "/srv/a/b"),
            ("/srv/app", "/srv/App"),
            ("/srv/app", "/srv/app/sub"),
            ("/srv/a?p", "/srv/app"),
            ("/srv/**/app", "/srv/app2"),
            ("~/code/*", "/home/some/code/app"),
            ("~/code/*", "/root/code/app"),
            ("/**", "work"),
            ("/srv/**", "/srv/../etc"),
        ] {
            assert!(!accepted(glob, project), "{glob} {project}");
        }
        let none = TrustSettings::default();
        assert!(!accepts(&none, None, Path::new("/srv/app")));
        let home = TrustSettings { projects: vec!["~/**".into()] };
        assert!(!accepts(&home, None, Path::new("/srv/app")));
    }

    #[test]
    fn a_glob_that_is_no_whole_path_is_named() {
        for glob in ["", "work/*", "**", "~", "~you/x", "/srv/../etc", "/./x"] {
            let trust = TrustSettings { projects: vec![glob.into()] };
            let (key, why) = trust.problem().unwrap();
            assert_eq!(key, ["trust", "projects"], "{glob}");
            assert!(why.starts_with(&format!("{glob:?} must begin")), "{why}");
        }
    }
}
