//! A progress bar on a terminal, for long work.

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

use super::output::is_captured;

/// Work on fewer bytes gets no bar.
const LONG: u64 = 50 * 1000 * 1000;

/// A bar for so many bytes; none where the output goes elsewhere.
pub fn bar(bytes: u64) -> ProgressBar {
    if bytes < LONG || is_captured() || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("  {bar:40} {bytes} of {total_bytes}, {eta} left");
    let bar = ProgressBar::new(bytes);
    // If the template is invalid, the default one is good enough.
    style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
}

/// A bar for the bytes of a session file.
pub fn of_file(path: &Path) -> ProgressBar {
    bar(path.metadata().map_or(0, |meta| meta.len()))
}

/// A sink that moves a bar.
pub struct Counted<W> {
    bar: ProgressBar,
    sink: W,
}

impl<W> Counted<W> {
    /// A sink whose bar ends at so many bytes.
    pub fn new(bytes: u64, sink: W) -> Self {
        Self { bar: bar(bytes), sink }
    }

    /// Returns the sink after the last write.
    pub fn done(self) -> W {
        self.bar.finish_and_clear();
        self.sink
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(bytes)?;
        self.bar.inc(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
