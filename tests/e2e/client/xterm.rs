//! An xterm on a desktop. What it shows is read from its log of everything the program wrote, by a terminal
//! emulator: no window is touched for it.

use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::path::Path;
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::tmux::SIZE;
use crate::desktop::{self, Desktop};
use crate::evidence::lock;
use crate::process;

/// The terminal; `kill` ends it.
#[derive(Clone)]
pub struct Xterm(Arc<Inner>);

struct Inner {
    desktop: Desktop,
    window: u32,
    pid: u32,
    child: Mutex<Child>,
    seen: Mutex<Seen>,
}

/// The log as far as it was read, and what it draws.
struct Seen {
    log: File,
    parser: vt100::Parser,
}

impl Xterm {
    /// Opens a window with `program` in it; `place` is its corner, in X's own words: `+0+0`.
    pub fn start(
        desktop: &Desktop,
        log: &Path,
        place: &str,
        folder: &Path,
        program: &[String],
    ) -> Self {
        let shape = format!("{}x{}{place}", SIZE.0, SIZE.1);
        let words = ["-geometry", &shape, "-fn", "fixed", "-u8", "-l", "-lf"];
        let mut arguments: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        arguments.extend([log.display().to_string(), "-e".to_owned()]);
        arguments.extend(program.iter().cloned());
        let child = desktop::spawn(desktop, "xterm", &arguments, folder);
        let pid = child.id();
        let opened = process::poll(Duration::from_secs(10), Duration::from_millis(10), || {
            File::open(log).ok()
        });
        let log = opened.unwrap_or_else(|| panic!("xterm wrote no log to {}", log.display()));
        let window = desktop.window(pid);
        let [rows, columns] =
            [SIZE.1, SIZE.0].map(|size| NonZero::new(size).expect("a terminal has cells"));
        let seen = Mutex::new(Seen { log, parser: vt100::Parser::new(rows, columns, 0) });
        Self(Arc::new(Inner {
            desktop: desktop.clone(),
            window,
            pid,
            child: Mutex::new(child),
            seen,
        }))
    }

    /// The desktop it stands on.
    pub fn desktop(&self) -> &Desktop {
        &self.0.desktop
    }

    /// Its window.
    pub fn window(&self) -> u32 {
        self.0.window
    }

    /// The terminal's own process id.
    pub fn pid(&self) -> u32 {
        self.0.pid
    }

    /// The visible lines.
    pub fn screen(&self) -> String {
        let mut seen = lock(&self.0.seen);
        let mut bytes = Vec::new();
        // What can't be read now is read the next time.
        let _ = seen.log.read_to_end(&mut bytes);
        seen.parser.process(&bytes);
        let screen = seen.parser.screen();
        let rows: Vec<String> = screen.rows(0, SIZE.0).collect();
        rows.join("\n")
    }

    /// Brings it to the front and types text.
    pub fn type_text(&self, text: &str) {
        self.0.desktop.activate(self.0.window);
        self.0.desktop.type_text(text);
    }

    /// Brings it to the front and presses keys by tmux's names for them.
    pub fn keys(&self, names: &str) {
        self.0.desktop.activate(self.0.window);
        self.0.desktop.keys(names);
    }

    /// Whether the window is gone.
    pub fn ended(&self) -> bool {
        !matches!(lock(&self.0.child).try_wait(), Ok(None))
    }

    /// Closes it; what runs in it gets the hang-up.
    pub fn kill(&self) {
        let mut child = lock(&self.0.child);
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}
