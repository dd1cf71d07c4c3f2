//! A progress bar on a terminal, for long work.

use std::io::{self, IsTerminal as _, Write};

use indicatif::{ProgressBar, ProgressStyle};

use surgery::plan::Plan;

/// An export of fewer bytes gets no bar.
const LONG: u64 = 50 * 1000 * 1000;

/// The progress of an export.
pub struct Progress(ProgressBar);

impl Progress {
    /// For the rounds that a plan keeps whole.
    pub fn over(plan: &Plan) -> Self {
        let bytes = plan.whole().filter_map(|place| plan.at(place)).map(|(_, round)| round.bytes);
        let bytes: u64 = bytes.sum();
        if bytes < LONG || !io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("  {bar:40} {bytes} of {total_bytes}, {eta} left");
        let bar = ProgressBar::new(bytes);
        // If the template is invalid, the default one is good enough.
        Self(style.map(|style| bar.clone().with_style(style)).unwrap_or(bar))
    }

    /// Wraps a sink to count written bytes.
    pub fn through<W: Write>(self, sink: W) -> Counted<W> {
        Counted { bar: self.0, sink }
    }
}

/// A sink that moves the bar.
pub struct Counted<W> {
    bar: ProgressBar,
    sink: W,
}

impl<W> Counted<W> {
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
