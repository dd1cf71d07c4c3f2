//! Starts the client on a new session.

use std::io::{self, IsTerminal as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use super::made::Made;
use super::view;
use base::env::Env;
use base::process;
use carrier::tmux::Opener;

/// Opens new tmux windows.
#[derive(Debug)]
pub struct Windows(Opener);

impl Windows {
    /// Finds the tmux server that this process runs in.
    ///
    /// # Errors
    /// No tmux; the error says what to do instead.
    pub fn find(env: &Env) -> anyhow::Result<Self> {
        match Opener::find(env) {
            Ok(opener) => Ok(Self(opener)),
            Err(why) => bail!(
                "--run opens windows in tmux, and {why}; run this in tmux, or leave --run out: the commands that start the sessions are printed"
            ),
        }
    }

    /// Opens a window in which the client continues `made`; returns the window's id.
    ///
    /// # Errors
    /// No client on the PATH, or an error of tmux.
    pub fn open(&self, env: &Env, made: &Made, name: &str) -> anyhow::Result<String> {
        let cwd = folder(made)?;
        let program = client(env, made)?.display().to_string();
        let mut words = vec![program];
        words.extend(arguments(made)?);
        // A new window has the tmux server's environment, so pass the client's folder explicitly.
        let config = env.get("CLAUDE_CONFIG_DIR").map(|value| format!("CLAUDE_CONFIG_DIR={value}"));
        let folder = cwd.display().to_string();
        Ok(self.0.open(name, &folder, config.as_deref(), &words)?)
    }
}

/// Replaces this process with the client. Returns only on failure.
///
/// # Errors
/// No terminal, or no client.
pub fn replace_process(env: &Env, made: &Made) -> anyhow::Result<()> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        bail!(
            "--run needs a terminal or tmux, and there is neither; the session was made, start it with:\n  {}",
            view::command(made)
        );
    }
    let program = client(env, made)?;
    let mut command = Command::new(&program);
    command.current_dir(folder(made)?).args(arguments(made)?);
    Err(command.exec()).with_context(|| format!("could not start {}", program.display()))
}

fn folder(made: &Made) -> anyhow::Result<PathBuf> {
    let cwd = made.cwd().context("the session's rows don't say in which folder it ran")?;
    let cwd = Path::new(cwd);
    if !cwd.is_dir() {
        bail!("{}, the folder that the session ran in, does not exist", cwd.display());
    }
    Ok(cwd.to_path_buf())
}

fn client(env: &Env, made: &Made) -> anyhow::Result<PathBuf> {
    process::on_path(env.os("PATH").as_deref(), "claude").with_context(|| {
        format!("claude is not on the PATH; start it with: {}", view::command(made))
    })
}

fn arguments(made: &Made) -> anyhow::Result<[String; 2]> {
    let path = made.path.as_ref().context("nothing was written")?.display().to_string();
    let session = if made.by_id { made.id.clone() } else { path };
    Ok(["--resume".to_owned(), session])
}
