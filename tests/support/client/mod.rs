//! The real client: its binary, the terminal session (`tui`), and the `-p` run (`run`).

mod run;
mod terminal;
mod tmux;
mod tui;
mod xterm;

use std::path::{Path, PathBuf};

pub use run::Run;
pub use terminal::Terminal;
pub use tmux::Tmux;
pub use tui::Tui;
pub use xterm::Xterm;

/// The version that all tests run; `tests/prepare` fetches it.
pub const PINNED: &str = "2.1.332";

/// The oldest supported version: the first whose events the module needs. Fewer tests run it.
pub const OLDEST: &str = "2.1.286";

/// The binary of a version. A missing binary fails the test, because a skipped test proves
/// nothing.
pub fn binary(version: &str) -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients");
    let clients = std::env::var_os("BRAIN_GUARD_CLIENTS").map_or_else(default, PathBuf::from);
    let binary = clients.join(version).join("node_modules/.bin/claude");
    assert!(
        binary.exists(),
        "no Claude Code {version} at {}: `./test` installs it, or BRAIN_GUARD_CLIENTS names a folder that has it",
        binary.display()
    );
    binary
}
