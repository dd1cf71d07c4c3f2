//! `/brain-guard:setup`: links the command and binds the chords, for a copy that the client
//! installed from a marketplace. `install` never ran for it.
//!
//! The link leads into the client's plugin cache, which has a folder for each version. So a
//! session's start points it to the version that runs.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::install::installation::{self, Installation, cached_plugin};
use super::install::{COMMAND, keys, place};
use super::{Failure, operator};
use base::env;
use base::{atomic, switch::Switch};
use guard::hook::event::Source;
use guard::hook::facts::Facts;

/// What the first session of a copy that is not set up shows.
const OFFER: &str = "brain-guard: /brain-guard:setup adds the terminal command and the key chords";

/// The file that says that [`OFFER`] was shown, beside the state of all projects.
const OFFERED: &str = "setup-offered";

/// What the command's link leads to: the file that starts the program that fits the machine. A home
/// folder may be shared by machines of two kinds.
fn launcher(program: &Path) -> PathBuf {
    program.with_file_name(COMMAND)
}

/// Runs the command as typed at the client's prompt, and returns the answer.
pub fn at_the_prompt(facts: &Facts, args: &str) -> String {
    typed(facts, args).unwrap_or_else(|e| format!("brain-guard: {e:#}"))
}

fn typed(facts: &Facts, args: &str) -> anyhow::Result<String> {
    operator::refuse_prompt_of_agent(&facts.places, "setup")?;
    let (at, program) =
        (Installation::find(facts.env)?, launcher(&installation::program(facts.env)?));
    match args.trim() {
        "" => set_up(&at, &program, installation::settings(facts.env)?.0.boundary.chords),
        "off" => undo(&at),
        other => Err(Failure::usage(format_args!(
            "/brain-guard:setup takes nothing or `off`, not `{other}`"
        ))
        .into()),
    }
}

/// What to say instead, if `install` made the command's link.
fn installed(at: &Installation) -> Option<String> {
    let link = at.link();
    let is_installed = place::leads_to(&link, &at.current().join(place::BINARY));
    is_installed.then(|| {
        format!(
            "brain-guard: nothing changed. `{COMMAND} install` made {}; `{COMMAND} uninstall` in a terminal removes it",
            link.display()
        )
    })
}

fn set_up(at: &Installation, program: &Path, chords: Switch) -> anyhow::Result<String> {
    if let Some(said) = installed(at) {
        return Ok(said);
    }
    if cached_plugin(program).is_none() {
        return Ok(format!(
            "brain-guard: nothing changed. This copy of the plugin is not from a marketplace; `{} install` in a terminal sets it up",
            program.display()
        ));
    }
    let mut out = b"brain-guard\n".to_vec();
    at.link_command(program, &mut out)?;
    match chords {
        Switch::On => keys::bind(&at.config, &mut out)?,
        Switch::Off => keys::unbind(&at.config, ", boundary.chords is off", &mut out)?,
    }
    write!(out, "undo     /brain-guard:setup off")?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn undo(at: &Installation) -> anyhow::Result<String> {
    if let Some(said) = installed(at) {
        return Ok(said);
    }
    let mut out = b"brain-guard\n".to_vec();
    at.unlink_command(&mut out)?;
    keys::unbind(&at.config, "", &mut out)?;
    Ok(String::from_utf8_lossy(&out).trim_end().to_owned())
}

/// Points the command's link to the running version, and returns the offer for the user of a copy
/// that is not set up. Reads only the environment unless the copy is from a marketplace.
pub fn at_session_start(facts: &Facts, source: Source) -> Option<String> {
    let folder = facts.env.path(env::PLUGIN_ROOT)?;
    cached_plugin(&folder.join(place::BINARY))?;
    // The others happen in a client that may run since before an update.
    if !matches!(source, Source::Startup | Source::Resume | Source::Fork) {
        return None;
    }
    let program = launcher(&facts.env.program()?);
    let plugin = cached_plugin(&program)?;
    let link = facts.env.home()?.join(installation::LINKS).join(COMMAND);
    match fs::read_link(&link) {
        Ok(target) if cached_plugin(&target) == Some(plugin) => {
            if let Err(e) = place::link(&link, &program, |_| true) {
                facts.fault("terminal command not pointed to this version", &e);
            }
            None
        }
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            let may = source == Source::Startup && facts.seen.interactive;
            (may && is_first_offer(facts)).then(|| OFFER.to_owned())
        }
        _ => None,
    }
}

/// Whether the offer was never made, in any project. From now on it was.
fn is_first_offer(facts: &Facts) -> bool {
    let states = &facts.places.states;
    let mark =
        atomic::create_private_dir(states).and_then(|()| atomic::claim(&states.join(OFFERED)));
    mark.unwrap_or_else(|why| {
        facts.fault("offer of the setup not kept", &why);
        false
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::cmd::install::shell;

    struct Copy {
        dir: tempfile::TempDir,
        at: Installation,
    }

    impl Copy {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let folder = |name: &str| dir.path().join(name);
            let at = Installation {
                data: folder("data"),
                links: folder("bin"),
                path_folders: vec![folder("bin")],
                shells: shell::folders(&folder("data"), &folder("config")),
                client: None,
                config: folder("claude"),
                state: folder("state"),
                store: folder("data"),
            };
            Self { dir, at }
        }

        fn program(&self, version: &str) -> PathBuf {
            let cache = self.dir.path().join("claude/plugins/cache/market/brain-guard");
            cache.join(version).join(place::BINARY)
        }

        fn set_up(&self, version: &str) -> String {
            set_up(&self.at, &self.program(version), Switch::On).unwrap()
        }

        fn target(&self) -> Option<PathBuf> {
            fs::read_link(self.at.link()).ok()
        }
    }

    #[test]
    fn setup_links_and_binds_once_and_off_undoes_both() {
        let copy = Copy::new();
        let keys = copy.at.config.join("keybindings.json");
        let said = copy.set_up("1.0");
        assert_eq!(copy.target(), Some(copy.program("1.0")));
        assert!(keys.exists());
        let lines: Vec<_> = said.lines().collect();
        assert!(lines[1].starts_with("command  ") && lines[1].ends_with("(new)"), "{said}");
        assert!(lines[2].starts_with("keys     ") && lines.len() == 4, "{said}");
        assert_eq!(lines[3], "undo     /brain-guard:setup off");
        assert_eq!(copy.set_up("1.0").matches("(unchanged").count(), 2);
        let said = undo(&copy.at).unwrap();
        assert!(said.contains("removed") && said.contains("taken out"), "{said}");
        assert!(copy.target().is_none() && !keys.exists());
        assert!(undo(&copy.at).unwrap().contains("was not there"));
    }

    #[test]
    fn setup_leads_the_link_to_its_own_version() {
        let copy = Copy::new();
        copy.set_up("1.0");
        assert!(copy.set_up("1.1").contains("brain-guard (new)"));
        assert_eq!(copy.target(), Some(copy.program("1.1")));
    }

    #[test]
    fn what_install_made_stays() {
        let copy = Copy::new();
        let installed = copy.at.current().join(place::BINARY);
        fs::create_dir(&copy.at.links).unwrap();
        symlink(&installed, copy.at.link()).unwrap();
        assert!(copy.set_up("1.0").contains("nothing changed"));
        assert!(undo(&copy.at).unwrap().contains("nothing changed"));
        assert_eq!(copy.target(), Some(installed));
        assert!(!copy.at.config.exists());
    }

    #[test]
    fn a_command_of_somebody_else_stays() {
        let copy = Copy::new();
        fs::create_dir(&copy.at.links).unwrap();
        fs::write(copy.at.link(), "theirs").unwrap();
        for said in [copy.set_up("1.0"), undo(&copy.at).unwrap()] {
            assert!(said.contains("is not ours and stays"), "{said}");
        }
        assert_eq!(fs::read_to_string(copy.at.link()).unwrap(), "theirs");
    }

    #[test]
    fn a_copy_that_is_not_from_a_marketplace_is_left_to_install() {
        let copy = Copy::new();
        let said = set_up(&copy.at, Path::new("/src/bin/brain-guard"), Switch::On).unwrap();
        assert!(said.contains("not from a marketplace"));
        assert!(copy.target().is_none() && !copy.at.config.exists());
    }
}
