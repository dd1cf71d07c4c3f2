//! An installation to kill, with a small program, because copying and hashing the real one takes too
//! long.

use std::path::{Path, PathBuf};

use brain_guard::cmd::install::installation::Installation;
use brain_guard::cmd::install::{self, keys, shell};

/// Installs the program, and binds the chords.
pub fn install(root: &Path) -> anyhow::Result<()> {
    let at = installation(root);
    install::install(&at, &program(root), &mut std::io::sink())?;
    keys::bind(&at.config, &mut std::io::sink())
}

/// The program that is installed.
pub fn program(root: &Path) -> PathBuf {
    root.join("home/program")
}

pub fn installation(root: &Path) -> Installation {
    let home = root.join("home");
    let data = home.join(".local/share");
    Installation {
        links: home.join(".local/bin"),
        shells: shell::folders(&data, &home.join(".config")),
        path_folders: vec![home.join(".local/bin")],
        client: Some(home.join("client/claude")),
        config: home.join(".claude"),
        state: data.join("state"),
        store: data.join("brain-guard"),
        data: data.join("brain-guard"),
    }
}
