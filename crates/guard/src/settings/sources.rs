//! Which settings a session works by: a copy of the files, taken when it began or when a person
//! last agreed to them, and everything in the files that is stricter.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Settings;
use super::file::{Fault, parse};
use super::project::ProjectSettings;

/// The texts of the settings files. `None` stands for a file that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Texts {
    /// The user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The project's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// The settings files as they are on disk.
#[derive(Debug)]
pub struct Sources {
    /// The user's, as path and text.
    pub user: (String, Result<Option<String>, Fault>),
    /// The project's.
    pub project: (String, Result<Option<String>, Fault>),
    /// The project's folder.
    pub folder: PathBuf,
    /// The user's home, for `~/` in `projects`.
    pub home: Option<PathBuf>,
}

/// The settings of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The settings in force.
    pub settings: Settings,
    /// The settings that the files ask for, without the faulty ones.
    pub wanted: Settings,
    /// The texts that `wanted` was made of.
    pub texts: Texts,
    /// The faulty files. They do not take effect.
    pub faults: Vec<Fault>,
    /// `wanted`, with those values of the project's file that have no effect because they are
    /// milder than the user's.
    pub asked: Settings,
    /// The copy that a person agreed to.
    pub agreed: Settings,
}

impl Sources {
    /// The settings in force where a person last agreed to the texts `agreed`; without one, to
    /// those on disk.
    pub fn load(self, agreed: Option<&Texts>) -> Loaded {
        let mut faults = Vec::new();
        let (user, project) = (&self.user.0, &self.project.0);
        let (old_user, old_project) = match agreed {
            Some(texts) => (texts.user.clone(), texts.project.clone()),
            None => (None, None),
        };
        let mut usable = |text: Result<Option<String>, Fault>,
                          old: Option<String>,
                          check: &dyn Fn(&str) -> Result<(), Fault>| {
            let checked = text.and_then(|text| {
                text.as_deref().map_or(Ok(()), check)?;
                Ok(text)
            });
            checked.unwrap_or_else(|fault| {
                faults.push(fault);
                old
            })
        };
        let new_user = usable(self.user.1, old_user, &|text| users(user, text).map(drop));
        let of_user = new_user.as_deref().and_then(|text| users(user, text).ok());
        let of_user = of_user.unwrap_or_default();
        let new_project =
            usable(self.project.1, old_project, &|text| over(&of_user, project, text).map(drop));
        let texts = Texts { user: new_user, project: new_project };
        let both = |texts: &Texts| {
            let user = texts.user.as_deref().and_then(|text| users("", text).ok());
            let user = user.unwrap_or_default();
            let over = texts.project.as_deref().and_then(|text| over(&user, "", text).ok());
            let (mut held, asked) = over.unwrap_or_else(|| (user.clone(), user));
            held.mode = held.mode_in(&self.folder, self.home.as_deref());
            (held, asked)
        };
        let (wanted, asked) = both(&texts);
        let agreed = match agreed {
            Some(agreed) if *agreed != texts => both(agreed).0,
            _ => wanted.clone(),
        };
        let settings = if agreed == wanted { wanted.clone() } else { agreed.tightened(&wanted) };
        Loaded { settings, wanted, texts, faults, asked, agreed }
    }
}

/// The user's settings.
///
/// # Errors
/// The first fault.
pub fn users(path: &str, text: &str) -> Result<Settings, Fault> {
    let settings: Settings = parse(path, text)?;
    match settings.problem() {
        Some((key, why)) => Err(Fault::rule(path, text, &key, &why)),
        None => Ok(settings),
    }
}

/// The user's settings tightened by a project's file, and what the file asks for.
///
/// # Errors
/// The first fault.
pub fn over(user: &Settings, path: &str, text: &str) -> Result<(Settings, Settings), Fault> {
    const WAY_OUT: &str =
        "remove it: a project's settings can only tighten; you can set it in your own settings";
    let parsed: ProjectSettings = parse(path, text).map_err(|fault| Fault {
        way_out: if fault.key.is_empty() { fault.way_out } else { WAY_OUT.into() },
        ..fault
    })?;
    parsed.over(user).map_err(|(key, why)| Fault {
        way_out: WAY_OUT.into(),
        ..Fault::rule(path, text, &key, &why)
    })
}
