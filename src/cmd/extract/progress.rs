//! A bar for what takes long, on a terminal.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

/// Bytes of a session from which on a bar is shown.
const LONG: u64 = 50 * 1000 * 1000;

/// A bar over the bytes of a session's file.
pub fn bar(path: &Path) -> ProgressBar {
    let bytes = path.metadata().map_or(0, |meta| meta.len());
    if bytes < LONG || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("  {bar:40} {bytes} of {total_bytes}, {eta} left");
    let bar = ProgressBar::new(bytes);
    // The template is right, or the default one is good enough.
    style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
}
