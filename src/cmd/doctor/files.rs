//! Checks whether the installed release is intact: every file, the binary, one version.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::mend::Mend;
use super::{FIX, Finding};
use crate::cmd::install::assets::ASSETS;
use crate::cmd::install::place;
use base::env::Env;

/// Maximum files to name in a finding; the others are counted.
const NAMED: usize = 3;

/// Compares the release with its own digest, and with the files in this program.
pub fn look(current: &Path, env: &Env) -> Vec<Finding> {
    let name = fs::read_link(current).unwrap_or_default().display().to_string();
    let binary = current.join(place::BINARY);
    let bytes = fs::read(&binary).unwrap_or_default();
    let laid = |path: &str| fs::read(current.join(path)).ok();
    let odd: Vec<&str> = ASSETS
        .iter()
        .filter(|(path, text)| laid(path).as_deref() != Some(*text))
        .map(|(path, _)| path.as_str())
        .collect();
    let digest = place::digest(
        ASSETS.iter().map(|(path, _)| (path.as_str(), laid(path).unwrap_or_default())),
        &bytes,
    );
    let is_whole = name.ends_with(&format!("-{digest}"));
    let ours = name.starts_with(concat!(env!("CARGO_PKG_VERSION"), "-"));
    let mut found = vec![files(&odd, is_whole, ours, &binary, env)];
    found.extend(executable(&binary));
    found.extend(versions(current, &name));
    found
}

fn files(odd: &[&str], is_whole: bool, ours: bool, binary: &Path, env: &Env) -> Finding {
    let named = odd.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = odd.len().saturating_sub(NAMED);
    let list = if more == 0 { named } else { format!("{named} and {more} more") };
    if is_whole && odd.is_empty() {
        return Finding::ok(
            "files",
            format!("{} files and the binary are as installed", ASSETS.len()),
        );
    }
    if is_whole || !ours {
        let seen = format!("the installed files belong to another build than this program: {list}");
        return Finding::note("files", seen, "run `brain-guard install` with the one you want");
    }
    if odd.is_empty() {
        let seen = format!("{} is not the binary that was installed", binary.display());
        // This program is that binary, so it would only install itself again.
        let itself = env.program().is_some_and(|program| same(&program, binary));
        return if itself {
            Finding::problem("files", seen, "install again, from the source or another download")
        } else {
            Finding::problem("files", seen, FIX).mended_by(Mend::Install)
        };
    }
    Finding::problem("files", format!("missing or changed since the installation: {list}"), FIX)
        .mended_by(Mend::Install)
}

fn same(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    real(a) == real(b)
}

fn executable(binary: &Path) -> Option<Finding> {
    let mode = fs::metadata(binary).ok()?.permissions().mode();
    (mode & 0o111 == 0).then(|| {
        let seen = format!("{} may not be executed, so no hook runs", binary.display());
        Finding::problem("binary", seen, FIX).mended_by(Mend::Install)
    })
}

/// The manifest and the module must have the release's version: a module of another version does
/// nothing.
fn versions(current: &Path, release: &str) -> Option<Finding> {
    let text = |path: &str| fs::read_to_string(current.join(path)).unwrap_or_default();
    let version = release.rsplit_once('-')?.0;
    let manifest: Value = serde_json::from_str(&text(".claude-plugin/plugin.json")).ok()?;
    let module = text("hooks/brain-guard.tsx");
    let module = module.split_once("const VERSION = '").and_then(|(_, rest)| rest.split_once('\''));
    let (module, _) = module?;
    let manifest = manifest["version"].as_str().unwrap_or("none");
    let differ = [manifest, module].iter().any(|found| *found != version);
    differ.then(|| {
        let seen = format!(
            "the plugin is {version}, its manifest says {manifest}, its module {module}: a module of another version does nothing"
        );
        Finding::problem("versions", seen, FIX).mended_by(Mend::Install)
    })
}
