//! `install`: installs, plays the demo with the installed plugin, and says whether it is ready.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::Result;

use super::import::AT_SESSION_END;
use super::install::client::Registration;
use super::install::installation::{Installation, program, settings};
use super::install::{install, keys};
use super::output::Lines;
use super::{Context, Exit, Run, demo, doctor};
use crate::cli::InstallArgs;
use base::env::Env;
use base::switch::Switch;
use guard::settings::{Mode, Settings};
use sessions::settings::ImportWhen;

/// Whether this program starts as fast as it can: without the system's loader.
const IS_STATIC: bool = cfg!(any(not(target_os = "linux"), target_feature = "crt-static"));

/// Why `cargo xtask install` could not build a static program.
const WHY_NOT_STATIC: &str = "BRAIN_GUARD_NOT_STATIC";

impl Run for InstallArgs {
    fn run(&self, Context { env, .. }: Context) -> Result<Exit> {
        let (at, (settings, faults)) = (Installation::find(env)?, settings(env)?);
        at.check_owner()?;
        let stdout = &mut Lines::default();
        let mut registration = install(&at, &program(env)?, stdout)?;
        let command = at.typed(&at.command());
        match settings.boundary.chords {
            Switch::Off => keys::unbind(&at.config, ", boundary.chords is off", stdout)?,
            Switch::On if self.no_keybindings => {
                keys::unbind(&at.config, ", as you asked", stdout)?;
            }
            Switch::On => {
                keys::bind(&at.config, stdout)?;
                writeln!(stdout, "         without them: `{command} install --no-keybindings`")?;
            }
        }
        writeln!(stdout, "tiers    {}", tiers(&settings))?;
        writeln!(stdout, "         to change them: `{command} settings set profile relaxed`")?;
        for fault in faults {
            writeln!(stdout, "         {fault}; the file has no effect: {}", fault.way_out)?;
        }
        if settings.surgery.import != ImportWhen::SessionEnd {
            writeln!(
                stdout,
                "history  to import each session as it ends, for search and surgery: `{command} {AT_SESSION_END}`"
            )?;
        }
        let mut failed = None;
        if !self.no_demo {
            let title = "demo: a session through the installed hook, without a model or network";
            writeln!(stdout, "\n{title}")?;
            let played = demo::run(env, &at.current());
            failed = played.err().map(|why| format!("the demo failed: {why:#}"));
        }
        if !IS_STATIC {
            let why = env.get(WHY_NOT_STATIC);
            let why = why.as_deref().unwrap_or("build it with `cargo xtask install`");
            writeln!(stdout, "\nthe program is not static, so every hook starts slower: {why}")?;
        }
        let mut obstacle = None;
        if registration == Registration::Ready {
            obstacle = doctor::obstacle(env, &at).or_else(|| {
                let why = "`brain-guard doctor` finds nothing wrong; is there room in the folder of TMPDIR?";
                failed.map(|failed| format!("{failed} ({why})"))
            });
        } else if failed.is_some() {
            // Whatever the client says, the program itself must run first.
            obstacle = doctor::own_obstacle(env, &at).or(failed);
        } else if let Registration::Failed(why) = &mut registration
            && let Some(obstacle) = doctor::obstacle(env, &at)
        {
            // The checks of `doctor` know whether the client is too old; its own error does not say.
            *why = format!("{obstacle} ({why})");
        }
        if registration == Registration::Ready && settings.mode == Mode::Off && obstacle.is_none() {
            obstacle =
                Some(format!("mode is off in your settings; `{command} settings set mode on`"));
        }
        let client = at.client.as_deref().unwrap_or(Path::new("claude"));
        let sentence = match obstacle {
            Some(obstacle) => format!("installed, but it does not work yet: {obstacle}"),
            None => registration.sentence(&at.typed(client), &command),
        };
        writeln!(stdout, "\n{sentence}")?;
        if let Some(user) = other_user(env) {
            writeln!(
                stdout,
                "\nyou are root, and this is root's installation, in {}: to install for {user}, run this as {user}, without sudo; to take it back: `{command} uninstall`",
                at.data.display()
            )?;
        }
        Ok(Exit::Done)
    }
}

/// If we are root, another user for whom this may be meant: who ran `sudo`, or the owner of HOME,
/// whom root's files may keep out.
fn other_user(env: &Env) -> Option<String> {
    let owner = fs::metadata(env.home()?).ok()?.uid();
    let owner = (owner != 0).then(|| format!("user {owner}"));
    let asked = env.get("SUDO_USER").filter(|user| user != "root");
    asked.or(owner).filter(|_| rustix::process::geteuid().is_root())
}

/// Where the tiers begin.
fn tiers(settings: &Settings) -> String {
    let at = |limit| {
        let ramp = settings.ramp(limit);
        let at: Vec<String> = ramp.tiers().iter().map(|t| format!("{:.0}", t.context)).collect();
        at.join(" / ")
    };
    let (large, small) = (at(967_000), at(167_000));
    format!("{large} % of contexts of 500k tokens and more, {small} % of smaller ones")
}
