//! Reads the settings files for a session.

use std::io;
use std::path::Path;

use crate::boundary::Times;
use crate::settings::Settings;
use crate::settings::file::Fault;
use crate::settings::sources::{Files, Sources, Texts};
use base::atomic;
use base::env::Env;
use base::paths::Places;
use sessions::settings::Fixed;

/// The largest settings file that is read.
const MOST: u64 = 64 * 1024;

/// The settings files of the user and the project, as they are now.
pub fn sources(places: &Places, env: &Env) -> Sources {
    let file = |path: &Path, read: io::Result<Option<String>>| {
        let path = path.display().to_string();
        let text = read.map_err(|e| Fault::unreadable(&path, &e));
        (path, text)
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (user, project) = (&places.user_settings, places.project_settings());
    let linked = || project.parent().is_some_and(Path::is_symlink);
    let brought = atomic::read_no_follow(&project, MOST);
    let brought = if matches!(brought, Ok(None)) || !linked() { brought } else { Ok(None) };
    Sources {
        user: file(user, atomic::read_within(user, MOST).map(|bytes| bytes.map(text))),
        project: file(&project, brought),
        folder: places.project.clone(),
        home: env.home(),
    }
}

/// The settings of a session that agreed to these texts; without them, those of the files.
pub fn load(places: &Places, env: &Env, agreed: Option<&Texts>) -> (Settings, Files) {
    let (mut settings, files) = sources(places, env).load(agreed);
    settings.boundary.times = Times::of(env);
    settings.extract.fixed = Fixed::of(env);
    (settings, files)
}
