//! A progress bar on a terminal, for long work.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

/// A session of fewer bytes gets no bar.
const LONG: u64 = 50 * 1000 * 1000;

/// A bar for the bytes of a session file.
pub fn bar(path: &Path) -> ProgressBar {
    let bytes = path.metadata().map_or(0, |meta| meta.len());
    if bytes < LONG || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("  {bar:40} {bytes} of {total_bytes}, {eta} left");
    let bar = ProgressBar::new(bytes);
    // If the template is invalid, the default one is good enough.
    style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
}
