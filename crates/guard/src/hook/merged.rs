//! Caches the merged settings. Merging takes longer than the rest of a decision, and settings
//! rarely change.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::variables::variables;
use crate::compaction::Shape;
use crate::settings::Settings;
use crate::settings::layers::{self, Diagnostic, File, Variables};
use base::atomic::{self, Mark};
use base::env::Env;
use base::paths::{Places, short_digest};

/// Invalidates the cache when the code or the defaults change within a version.
const BUILD: &str = env!("BUILD_ID");

/// The largest settings file of a project that is read.
const PROJECT_BYTES: u64 = 64 * 1024;

/// A cache entry.
#[derive(Serialize, Deserialize)]
struct Kept {
    build: String,
    layers: Layers,
    settings: Settings,
    diagnostics: Vec<Diagnostic>,
}

/// Identifies the state of the layers without reading them.
#[derive(PartialEq, Serialize, Deserialize)]
struct Layers {
    /// `None` without a file.
    user: Option<Mark>,
    project: Option<Mark>,
    variables: Variables,
}

/// The merged settings and their problems, from the cache if no layer changed.
pub fn settings(places: &Places, env: &Env) -> (Settings, Vec<Diagnostic>) {
    // Taken before reading: a layer that changes in between is read once more.
    let layers = Layers {
        user: atomic::mark(&places.user_settings),
        project: atomic::mark(&places.project_settings()),
        variables: variables(places, env),
    };
    if layers.user.is_none() && layers.project.is_none() && layers.variables.is_empty() {
        return (Settings::default(), Vec::new());
    }
    let path = places.merged_settings(&name(&layers.variables));
    let kept = atomic::read_record(&path).ok().flatten();
    let kept: Option<Kept> = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let Some(kept) = kept
        && kept.build == BUILD
        && kept.layers == layers
    {
        return (kept.settings, kept.diagnostics);
    }
    let (user, project) = settings_files(places);
    // A file that could not be read now may be readable next time.
    let is_read = |file: &Option<File>, mark: &Option<Mark>| {
        file.as_ref().is_none_or(|file| file.text.is_ok()) && file.is_some() == mark.is_some()
    };
    let whole = is_read(&user, &layers.user) && is_read(&project, &layers.project);
    let (settings, diagnostics) =
        layers::merge_briefly(user.as_ref(), project.as_ref(), &layers.variables);
    if whole && places.state.join("merged").is_dir() {
        let kept = Kept { build: BUILD.to_owned(), layers, settings, diagnostics };
        // If this fails, the next call merges again.
        let _ = atomic::write_unsynced(&path, written(&kept).as_bytes());
        return (kept.settings, kept.diagnostics);
    }
    (settings, diagnostics)
}

/// Sessions with settings variables use separate cache files.
fn name(variables: &Variables) -> String {
    if variables.is_empty() {
        return "settings".into();
    }
    format!("settings-{}", short_digest(variables.text().as_bytes()))
}

/// Leaves out the default shape of the file, which is most of the text.
fn written(kept: &Kept) -> String {
    let mut value = serde_json::to_value(kept).unwrap_or_default();
    if kept.settings.file.shape == Shape::default()
        && let Some(file) = value.pointer_mut("/settings/file").and_then(|f| f.as_object_mut())
    {
        file.remove("shape");
    }
    value.to_string()
}

/// The settings files of the user and the project, if they exist.
pub fn settings_files(places: &Places) -> (Option<File>, Option<File>) {
    let file = |path: &Path, text: io::Result<Option<String>>| {
        Some(File { path: path.display().to_string(), text: text.transpose()? })
    };
    let (user, project) = (&places.user_settings, places.project_settings());
    let brought = project.parent().is_some_and(|folder| !folder.is_symlink());
    let brought = if brought { atomic::read_untrusted(&project, PROJECT_BYTES) } else { Ok(None) };
    (file(user, atomic::read_text(user)), file(&project, brought))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the test plays the user who writes settings")]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::json;

    use super::*;

    fn places(root: &Path) -> (Env, Places) {
        let env = Env::from_pairs([("HOME", root.to_str().unwrap())]);
        let places = Places::for_project(&env, root).unwrap();
        fs::create_dir_all(places.user_settings.parent().unwrap()).unwrap();
        fs::create_dir_all(places.project_settings().parent().unwrap()).unwrap();
        (env, places)
    }

    #[test]
    fn what_is_kept_is_what_the_layers_come_to() {
        let dir = tempfile::tempdir().unwrap();
        let (env, places) = places(dir.path());
        places.ensure_state().unwrap();
        let user = json!({
            "tiers": {"coach": {"context": 22.5}, "own": {"context": 23, "file": 75, "blocks": ["shell"]}},
            "when": [{"model": "claude-haiku*", "words": 900}], "nonsense": 1,
            "file": {"shape": {"routes": {"mine": "risks"}}},
        });
        let narrow = Env::from_pairs([
            ("HOME", dir.path().to_str().unwrap()),
            ("BRAIN_GUARD_SET_FILE__WORDS", "900"),
        ]);
        let all =
            [user.to_string(), json!({"coach": {"reread_lines": 100}}).to_string(), "{".into()];
        for text in all {
            fs::write(&places.user_settings, text).unwrap();
            for env in [&env, &narrow] {
                let merged = super::super::facts::read_settings(&places, env);
                assert_eq!(settings(&places, env), merged);
                let path = places.merged_settings(&name(&variables(&places, env)));
                let before = fs::metadata(&path).unwrap().modified().unwrap();
                assert_eq!(settings(&places, env), merged, "from what was kept");
                assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
            }
        }
    }

    #[test]
    fn a_change_and_damage_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        let (env, places) = places(dir.path());
        places.ensure_state().unwrap();
        let words = || settings(&places, &env).0.file.words;
        fs::write(&places.user_settings, r#"{"file":{"words":900}}"#).unwrap();
        assert_eq!(words(), 900);
        fs::write(places.project_settings(), r#"{"file":{"words":800}}"#).unwrap();
        assert_eq!(words(), 800);
        fs::remove_file(places.project_settings()).unwrap();
        assert_eq!(words(), 900);
        for damage in ["", "{", "{\"build\":\"\"}"] {
            fs::write(places.merged_settings("settings"), damage).unwrap();
            assert_eq!(words(), 900);
        }
        fs::remove_file(&places.user_settings).unwrap();
        assert_eq!(words(), 2000);
    }

    /// Package stores give every file the time 1.
    #[test]
    fn another_file_of_the_same_time_and_size_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let (env, places) = places(dir.path());
        places.ensure_state().unwrap();
        let words = || settings(&places, &env).0.file.words;
        let put = |words: u32| {
            let new = dir.path().join("new");
            fs::write(&new, format!("{{\"file\":{{\"words\":{words}}}}}")).unwrap();
            let second = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
            fs::File::options().write(true).open(&new).unwrap().set_modified(second).unwrap();
            fs::rename(&new, &places.user_settings).unwrap();
        };
        put(900);
        assert_eq!((words(), words()), (900, 900));
        put(800);
        assert_eq!(words(), 800);
    }

    #[test]
    fn what_could_not_be_read_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (env, places) = places(dir.path());
        places.ensure_state().unwrap();
        let file = fs::File::create(&places.user_settings).unwrap();
        file.set_len(atomic::MAX_READ + 1).unwrap();
        assert_eq!(settings(&places, &env).0, Settings::default());
        assert!(!places.merged_settings("settings").exists());
    }

    #[test]
    fn without_a_state_nothing_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let (env, places) = places(dir.path());
        fs::write(&places.user_settings, r#"{"file":{"words":900}}"#).unwrap();
        assert_eq!(settings(&places, &env).0.file.words, 900);
        assert!(!places.state.exists());
    }
}
