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

/// What the settings in force were made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Files {
    /// The texts that the files ask for now, without the faulty ones.
    pub texts: Texts,
    /// The texts that a person agreed to.
    pub agreed: Texts,
    /// The faulty files. They do not take effect.
    pub faults: Vec<Fault>,
    folder: PathBuf,
    home: Option<PathBuf>,
}

impl Files {
    /// The settings that a person agreed to.
    pub fn agreed(&self) -> Settings {
        self.merged(&self.agreed)
    }

    /// The settings that the files ask for now, without the faulty ones.
    pub fn wanted(&self) -> Settings {
        self.merged(&self.texts)
    }

    /// [`Self::wanted`], with those values of the project's file that have no effect because they
    /// are milder than the user's.
    pub fn asked(&self) -> Settings {
        let user = usable_users(&self.texts);
        let over = self.texts.project.as_deref().and_then(|text| over(&user, "", text).ok());
        let mut asked = over.map_or(user, |(_, asked)| asked);
        asked.mode = asked.mode_in(&self.folder, self.home.as_deref());
        asked
    }

    fn merged(&self, texts: &Texts) -> Settings {
        let user = usable_users(texts);
        let over = texts.project.as_deref().and_then(|text| over(&user, "", text).ok());
        let mut held = over.map_or(user, |(held, _)| held);
        held.mode = held.mode_in(&self.folder, self.home.as_deref());
        held
    }
}

/// The user's settings of texts that were checked.
fn usable_users(texts: &Texts) -> Settings {
    texts.user.as_deref().and_then(|text| users("", text).ok()).unwrap_or_default()
}

impl Sources {
    /// The settings in force where a person last agreed to the texts `agreed`; without one, those
    /// of the files.
    pub fn load(self, agreed: Option<&Texts>) -> (Settings, Files) {
        let mut faults = Vec::new();
        let old = agreed.cloned().unwrap_or_default();
        let user = usable(self.user, old.user.as_deref(), &mut faults, users_fault);
        let project = usable(self.project, old.project.as_deref(), &mut faults, |path, text| {
            let texts = Texts { user: user.clone(), project: None };
            over(&usable_users(&texts), path, text).err()
        });
        let texts = Texts { user, project };
        let agreed = agreed.cloned().unwrap_or_else(|| texts.clone());
        let (folder, home) = (self.folder, self.home);
        let files = Files { texts, agreed, faults, folder, home };
        let wanted = files.wanted();
        let settings = if files.agreed == files.texts {
            wanted
        } else {
            let agreed = files.agreed();
            if agreed == wanted { wanted } else { agreed.tightened(&wanted) }
        };
        (settings, files)
    }
}

/// The text of a file, or, if that is faulty, the one that a person agreed to.
fn usable(
    (path, text): (String, Result<Option<String>, Fault>),
    agreed: Option<&str>,
    faults: &mut Vec<Fault>,
    fault: impl Fn(&str, &str) -> Option<Fault>,
) -> Option<String> {
    let checked = text.and_then(|text| match text.as_deref().and_then(|text| fault(&path, text)) {
        Some(fault) => Err(fault),
        None => Ok(text),
    });
    checked.unwrap_or_else(|fault| {
        faults.push(fault);
        agreed.map(str::to_owned)
    })
}

fn users_fault(path: &str, text: &str) -> Option<Fault> {
    users(path, text).err()
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
