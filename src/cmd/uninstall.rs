//! `brain-guard uninstall`: undoes the installation. What agents and users wrote (the state with the
//! notes, the settings, the store) stays, unless `--purge` removes it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::install::client::{Client, MARKETPLACE, NOT_FOUND, PLUGIN};
use super::install::installation::Installation;
use super::install::{COMMAND, keys, place, shell};
use super::output::Lines;
use super::purge::size::measure;
use super::purge::{RemovalFailure, Selection, list, shown};
use super::succession::wake;
use super::{Context, Exit, Run, confirmed, err, operator, out, selector};
use crate::cli::{PurgeArgs, PurgeKind, UninstallArgs};
use base::clock::Time;
use base::env::Env;
use base::shown::{shell_quote, size};
use guard::boundary::Step;
use guard::client::open_sessions;
use guard::files::boundary;

/// Uninstalls. The client comes first, so that no session starts with a hook whose binary is gone.
///
/// # Errors
/// A client that refuses (then nothing was removed), or a folder that cannot be removed.
pub fn uninstall(at: &Installation, out: &mut dyn Write) -> Result<()> {
    match &at.client {
        Some(program) => leave(at, program, out)?,
        None => writeln!(
            out,
            "client   {NOT_FOUND}. Claude Code's own record of the plugin stays in {0}/plugins and {0}/settings.json. If Claude Code is installed, run `claude plugin uninstall {PLUGIN}` and `claude plugin marketplace remove {MARKETPLACE}`",
            at.config.display()
        )?,
    }
    keys::unbind(&at.config, "", out)?;
    at.unlink_command(out)?;
    if shell::remove(&at.current(), &at.shells).context("could not remove completions")? {
        writeln!(out, "shell    completions and man pages removed")?;
    }
    let data = at.data.display();
    if !at.data.exists() {
        return Ok(writeln!(out, "plugin   {data} was not there")?);
    }
    let was_there = at.current().is_symlink();
    let could_not = || format!("could not remove {data}");
    place::remove(&at.data, None).with_context(could_not)?;
    if !was_there || open_sessions(&at.config).is_empty() {
        let done = if was_there { "removed" } else { "was not there" };
        return Ok(writeln!(out, "plugin   {} {done}", at.current().display())?);
    }
    place::leave_idle_hook(&at.data).with_context(could_not)?;
    let idle = collapsed(&at.data, vec![at.current(), at.data.join(place::IDLE)]);
    Ok(writeln!(
        out,
        "plugin   {data}: removed, but for a hook that does nothing, because sessions are open; when they have ended: `rm -r {}`",
        quoted(&idle)
    )?)
}

/// Makes the client forget the plugin.
fn leave(at: &Installation, program: &Path, out: &mut dyn Write) -> Result<()> {
    let client = Client::new(program);
    let program = program.display();
    let unchanged = || {
        format!(
            "brain-guard's files are unchanged; repair what {program} reports, or remove it, then run this again"
        )
    };
    if let Some(other) = client.forget(&at.current()).with_context(unchanged)? {
        let other = other.display();
        writeln!(out, "client   {program} reads it from {other}, which stays")?;
    } else {
        writeln!(
            out,
            "client   {program} no longer has the plugin; in a running session, /reload-plugins ends its hooks, strip and commands"
        )?;
        // The client's copies, and the folder it made for the plugin's data, which we never use.
        let plugins = at.config.join("plugins");
        remove_folder(&plugins.join("cache").join(MARKETPLACE).join(COMMAND))?;
        // They stay if something else is in them.
        let _ = fs::remove_dir(plugins.join("cache").join(MARKETPLACE));
        let _ = fs::remove_dir(plugins.join("data").join(format!("{COMMAND}-{MARKETPLACE}")));
    }
    for copy in client.copies()? {
        let id = copy.id;
        writeln!(out, "         it keeps {id}; to remove it: `claude plugin uninstall {id}`")?;
    }
    Ok(())
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => {
            Err(why).with_context(|| format!("could not remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// These paths, with `folder` in place of all that is in it.
fn collapsed(folder: &Path, mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut inside = fs::read_dir(folder).into_iter().flatten().flatten().peekable();
    if inside.peek().is_some() && inside.all(|entry| paths.contains(&entry.path())) {
        paths.retain(|path| !path.starts_with(folder));
        paths.push(folder.to_path_buf());
    }
    paths
}

/// Paths for a shell.
fn quoted(paths: &[PathBuf]) -> String {
    let quoted: Vec<String> =
        paths.iter().map(|path| shell_quote(&path.to_string_lossy())).collect();
    quoted.join(" ")
}

/// Our data, and what it is.
fn data(at: &Installation) -> [(PathBuf, &'static str); 4] {
    [
        (at.state.clone(), "notes, state, log"),
        (at.config.join("brain-guard"), "settings and texts"),
        (at.store.join("sessions"), "imported sessions and their tags"),
        (at.store.join("extracted"), "content of placeholders, which only brain-guard restores"),
    ]
}

/// Our data that is removed as a whole. A store that the user put elsewhere may hold other files.
fn purgeable(at: &Installation) -> Vec<(PathBuf, &'static str)> {
    let is_elsewhere = |path: &Path| path.starts_with(&at.store) && at.store != at.data;
    data(at).into_iter().filter(|(path, _)| !is_elsewhere(path)).collect()
}

/// Lists the folders of our data that are there, with sizes.
fn list_folders(folders: Vec<(PathBuf, &str)>, title: &str, out: &mut dyn Write) -> Result<()> {
    let there = folders.into_iter().filter(|(path, _)| path.exists());
    for (number, (path, holds)) in there.enumerate() {
        let title = if number == 0 { title } else { "" };
        let (_, bytes, _) = measure(std::slice::from_ref(&path));
        writeln!(out, "{title:<8} {} ({holds}, {})", path.display(), size(bytes))?;
    }
    Ok(())
}

/// Lists our data that is still there, with sizes, and how to remove it.
///
/// # Errors
/// The output cannot be written.
pub fn list_kept(at: &Installation, out: &mut dyn Write) -> Result<()> {
    list_folders(data(at).into(), "kept", out)?;
    let paths = data(at).into_iter().map(|(path, _)| path).filter(|path| path.exists()).collect();
    let paths = collapsed(&at.data, paths);
    if !paths.is_empty() {
        writeln!(out, "         to remove all of it: `rm -r {}`", quoted(&paths))?;
    }
    Ok(())
}

impl Run for UninstallArgs {
    fn run(&self, Context { env, now }: Context) -> Result<Exit> {
        operator::refuse_agent(env, "uninstall")?;
        let at = Installation::find(env)?;
        at.check_owner()?;
        let all = PurgeArgs { all_projects: true, forget: true, ..PurgeArgs::default() };
        let purged = self.purge.then(|| Selection::find(env, &all, now)).transpose()?;
        if let Some(selection) = &purged {
            list(&selection.chosen, now);
            list_needed(selection);
            let is_open = selection.chosen.iter().any(|kept| kept.keep_reason.is_some());
            if !is_open {
                // With settings, and the indexes that belong to no session.
                list_folders(purgeable(&at), "all of", &mut Lines::default())?;
            }
            let what = if is_open {
                "the plugin and all of this that does not stay would be removed"
            } else {
                "the plugin and all of this would be removed"
            };
            let otherwise =
                "--yes removes them, and `brain-guard uninstall` removes only the plugin";
            if !self.yes && !confirmed(what, otherwise)? {
                return Ok(Exit::Refused);
            }
        }
        uninstall(&at, &mut Lines::default())?;
        withdraw_boundaries(env, now)?;
        // A strip asks the program, gets no answer, and goes away.
        wake::all_strips(env, now);
        let is_gone = purged.is_none_or(|selection| purge(&at, &selection));
        list_kept(&at, &mut Lines::default())?;
        Ok(if is_gone { Exit::Done } else { Exit::Refused })
    }
}

/// Lets sessions that were about to be cleared go on: their hooks would no longer deliver the notes.
fn withdraw_boundaries(env: &Env, now: Time) -> Result<()> {
    let here = selector::places(env, Path::new("/"))?;
    for state in here.all_states() {
        let places = here.for_state(&state);
        for token in boundary::all(&places) {
            let withdrawn = boundary::update(&places, &token.id, |token| {
                token.withdraw("brain-guard was uninstalled", now)
            });
            let session = &token.parent;
            match withdrawn {
                Ok(Some(true)) => {
                    let notes = match token.step {
                        Step::Unsealed => places.compaction(&token.job).display().to_string(),
                        _ => token.sealed,
                    };
                    out(format_args!("session  {session} is not cleared; its notes are {notes}"));
                }
                Ok(_) => {}
                Err(e) => err(format_args!(
                    "session {session} may still be cleared, and gets no notes then: {} could not be changed ({e}); end the session",
                    places.token(&token.id).display()
                )),
            }
        }
    }
    Ok(())
}

/// Names the sessions whose placeholders need the data.
fn list_needed(selection: &Selection) {
    let going = selection.chosen.iter().filter(|kept| kept.keep_reason.is_none());
    for kept in going.filter(|kept| kept.kind == PurgeKind::Extracted) {
        let session = kept.session.as_deref().unwrap_or_default();
        out(format_args!(
            "what was extracted from session {session} can't be restored then; to save it first: \
             brain-guard extract restore {session} all > FILE"
        ));
    }
}

/// Removes what `purge --all-projects --forget` removes, the settings, and the folders that are ours
/// alone. What belongs to an open session stays, and then the settings and indexes, too. Returns
/// whether everything is gone.
fn purge(at: &Installation, selection: &Selection) -> bool {
    let mut failed = selection.remove();
    let is_open = selection.chosen.iter().any(|kept| kept.keep_reason.is_some());
    if is_open {
        err("data of open sessions stays, and with it the settings; when they have ended, remove \
             the folders below with rm");
    } else if failed.is_empty() {
        for (path, _) in purgeable(at) {
            let was_there = path.exists();
            match remove_folder(&path) {
                Ok(()) if was_there => out(format_args!("removed  {}", shown(&path))),
                Ok(()) => {}
                Err(why) => failed.push(RemovalFailure { path, why: format!("{why:#}") }),
            }
        }
        // It stays if something else is in it.
        let _ = fs::remove_dir(&at.store);
    }
    for RemovalFailure { path, why } in &failed {
        err(format_args!("{} could not be removed: {why}", shown(path)));
    }
    !is_open && failed.is_empty()
}
