//! `/brain-guard:setup`: links the command and binds the chords, for a copy that the client
//! installed from a marketplace. `install` never ran for it.
//!
//! The link leads into the client's plugin cache, which has a folder for each version. So a
//! session's start points it to the version that runs.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::install::cached::{Cached, is_other_version};
use super::install::place::{self, Change};
use super::install::{COMMAND, keys};
use super::{Failure, operator, setup};
use base::env::{self, Env};
use base::{atomic, switch::Switch};
use guard::hook::event::Source;
use guard::hook::facts::Facts;

/// What the first session of a copy that is not set up shows.
const OFFER: &str = "brain-guard: /brain-guard:setup adds the terminal command and the key chords";

/// The file that says that [`OFFER`] was shown, beside the state of all projects.
const OFFERED: &str = "setup-offered";

/// What is in the place of the command's link.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// The link that `install` makes.
    Installed,
    /// A link to a version of this plugin in the client's cache.
    Ours,
    Foreign,
}

/// What the command's link leads to: the file that starts the program that fits the machine. A home
/// folder may be shared by machines of two kinds.
fn launcher(program: &Path) -> PathBuf {
    program.with_file_name(COMMAND)
}

/// A copy of the plugin, and the places of what is set up.
#[derive(Debug)]
struct Copy {
    /// What the link leads to, if the copy is from a marketplace.
    program: PathBuf,
    /// The program of the installed copy.
    installed: PathBuf,
    link: PathBuf,
    /// Whether the link's folder is on the `PATH`.
    on_path: bool,
    /// The client's config folder.
    config: PathBuf,
    /// Whether the settings want the chords.
    chords: Switch,
}

/// Runs the command as typed at the client's prompt, and returns the answer.
pub fn at_the_prompt(facts: &Facts, args: &str) -> String {
    typed(facts, args).unwrap_or_else(|e| format!("brain-guard: {e:#}"))
}

fn typed(facts: &Facts, args: &str) -> anyhow::Result<String> {
    operator::refuse_prompt_of_agent(&facts.places, "setup")?;
    let copy = Copy::new(facts.env)?;
    match args.trim() {
        "" => copy.set_up(),
        "off" => copy.undo(),
        other => Err(Failure::usage(format_args!(
            "/brain-guard:setup takes nothing or `off`, not `{other}`"
        ))
        .into()),
    }
}

impl Copy {
    fn new(env: &Env) -> anyhow::Result<Self> {
        let places = setup::uninstall_plan(env)?;
        Ok(Self {
            program: launcher(
                &env.program().context("brain-guard cannot find its own program file")?,
            ),
            installed: places.data.join(place::CURRENT).join(place::BINARY),
            link: places.links.join(COMMAND),
            on_path: setup::on_path(env, &places.links),
            config: places.config,
            chords: setup::settings(env)?.boundary.chords,
        })
    }

    fn found(&self) -> Found {
        let plugin = |path| Cached::parse(path).map(|cached| cached.plugin);
        match fs::read_link(&self.link) {
            Ok(target) if target == self.installed => Found::Installed,
            Ok(target) if plugin(&target).is_some_and(|p| plugin(&self.program) == Some(p)) => {
                Found::Ours
            }
            Err(why) if why.kind() == io::ErrorKind::NotFound => Found::Nothing,
            _ => Found::Foreign,
        }
    }

    fn set_up(&self) -> anyhow::Result<String> {
        let link = self.link.display();
        let found = self.found();
        if found == Found::Installed {
            return Ok(format!(
                "brain-guard: nothing to do. `{COMMAND} install` made {link}; `{COMMAND} uninstall` removes it"
            ));
        }
        if Cached::parse(&self.program).is_none() {
            return Ok(format!(
                "brain-guard: nothing changed. This copy of the plugin is not from a marketplace; `{} install` in a terminal sets it up",
                self.program.display()
            ));
        }
        let change = match found {
            Found::Foreign => None,
            Found::Ours if place::point(&self.link, &self.program)? => Some(Change::Mended),
            _ => place::link(&self.link, &self.program)
                .with_context(|| format!("could not link {link}"))?,
        };
        let mut out = b"brain-guard\n".to_vec();
        match change {
            Some(change) => writeln!(out, "command  {link} ({change})")?,
            None => writeln!(
                out,
                "command  {link} is not ours and stays; move it away and type this again"
            )?,
        }
        if !self.on_path && change.is_some() {
            writeln!(
                out,
                "         its folder is not on your PATH; add it, or call it by this path"
            )?;
        }
        match self.chords {
            Switch::On => keys::add(&self.config, &mut out)?,
            Switch::Off => keys::bind(&self.config, keys::Wish::Off, &mut out)?,
        }
        write!(out, "undo     /brain-guard:setup off")?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    fn undo(&self) -> anyhow::Result<String> {
        let link = self.link.display();
        let command = match self.found() {
            Found::Installed => {
                return Ok(format!(
                    "brain-guard: nothing changed. `{COMMAND} install` made {link}; `{COMMAND} uninstall` in a terminal removes it"
                ));
            }
            Found::Ours => {
                fs::remove_file(&self.link).with_context(|| format!("could not remove {link}"))?;
                "removed"
            }
            Found::Nothing => "was not there",
            Found::Foreign => "is not ours and stays",
        };
        let mut out = Vec::new();
        writeln!(out, "brain-guard\ncommand  {link} {command}")?;
        keys::unbind(&self.config, &mut out)?;
        Ok(String::from_utf8_lossy(&out).trim_end().to_owned())
    }
}

/// Points the command's link to the running version, and returns the offer for the user of a copy
/// that is not set up. Reads only the environment unless the copy is from a marketplace.
pub fn at_session_start(facts: &Facts, source: Source) -> Option<String> {
    let folder = facts.env.path(env::PLUGIN_ROOT)?;
    let is_cached = Cached::parse(&folder.join(place::BINARY)).is_some();
    // The others happen in a client that may run since before an update.
    let is_start = matches!(source, Source::Startup | Source::Resume | Source::Fork);
    if !is_cached || !is_start {
        return None;
    }
    let program = launcher(&facts.env.program()?);
    Cached::parse(&program)?;
    let link = setup::links(facts.env).ok()?.join(COMMAND);
    match fs::read_link(&link) {
        Ok(target) => {
            if is_other_version(&target, &program)
                && let Err(e) = place::point(&link, &program)
            {
                facts.fault("terminal command not pointed to this version", &e);
            }
            None
        }
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            let may = source == Source::Startup && facts.seen.interactive;
            (may && is_first_offer(facts)).then(|| OFFER.to_owned())
        }
        Err(_) => None,
    }
}

/// Whether the offer was never made, in any project. From now on it was.
fn is_first_offer(facts: &Facts) -> bool {
    let Some(states) = facts.places.state.parent() else { return false };
    let mark = || {
        atomic::create_private_dir(states)?;
        File::options().write(true).create_new(true).open(states.join(OFFERED))
    };
    match mark() {
        Ok(_) => true,
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => false,
        Err(why) => {
            facts.fault("offer of the setup not kept", &why);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn copy(folder: &Path, version: &str) -> Copy {
        let cache = folder.join("claude/plugins/cache/market/brain-guard");
        Copy {
            program: cache.join(version).join(place::BINARY),
            installed: folder.join("data/current").join(place::BINARY),
            link: folder.join("bin/brain-guard"),
            on_path: true,
            config: folder.join("claude"),
            chords: Switch::On,
        }
    }

    #[test]
    fn setup_links_and_binds_once_and_off_undoes_both() {
        let dir = tempfile::tempdir().unwrap();
        let copy = copy(dir.path(), "1.0");
        let keys = copy.config.join("keybindings.json");
        let said = copy.set_up().unwrap();
        assert_eq!(fs::read_link(&copy.link).unwrap(), copy.program);
        assert!(keys.exists());
        let lines: Vec<_> = said.lines().collect();
        assert!(lines[1].starts_with("command  ") && lines[1].ends_with("(new)"), "{said}");
        assert!(lines[2].starts_with("keys     ") && lines.len() == 4, "{said}");
        assert_eq!(lines[3], "undo     /brain-guard:setup off");
        assert_eq!(copy.set_up().unwrap().matches("(unchanged").count(), 2);
        let said = copy.undo().unwrap();
        assert!(said.contains("removed") && said.contains("taken out"), "{said}");
        assert!(!copy.link.is_symlink() && !keys.exists());
        assert!(copy.undo().unwrap().contains("was not there"));
    }

    #[test]
    fn setup_leads_the_link_to_its_own_version() {
        let dir = tempfile::tempdir().unwrap();
        copy(dir.path(), "1.0").set_up().unwrap();
        let new = copy(dir.path(), "1.1");
        assert!(new.set_up().unwrap().contains("(mended)"));
        assert_eq!(fs::read_link(&new.link).unwrap(), new.program);
    }

    #[test]
    fn what_install_made_stays() {
        let dir = tempfile::tempdir().unwrap();
        let copy = copy(dir.path(), "1.0");
        fs::create_dir(copy.link.parent().unwrap()).unwrap();
        symlink(&copy.installed, &copy.link).unwrap();
        assert!(copy.set_up().unwrap().contains("nothing to do"));
        assert!(copy.undo().unwrap().contains("nothing changed"));
        assert_eq!(fs::read_link(&copy.link).unwrap(), copy.installed);
        assert!(!copy.config.exists());
    }

    #[test]
    fn a_command_of_somebody_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let copy = copy(dir.path(), "1.0");
        fs::create_dir(copy.link.parent().unwrap()).unwrap();
        fs::write(&copy.link, "theirs").unwrap();
        for said in [copy.set_up().unwrap(), copy.undo().unwrap()] {
            assert!(said.contains("is not ours and stays"), "{said}");
        }
        assert_eq!(fs::read_to_string(&copy.link).unwrap(), "theirs");
    }

    #[test]
    fn a_copy_that_is_not_from_a_marketplace_is_left_to_install() {
        let dir = tempfile::tempdir().unwrap();
        let copy = Copy { program: "/src/bin/brain-guard".into(), ..copy(dir.path(), "1.0") };
        assert!(copy.set_up().unwrap().contains("not from a marketplace"));
        assert!(!copy.link.is_symlink() && !copy.config.exists());
    }
}
