//! An xterm on a desktop. A terminal emulator reads the xterm's output log to get the screen, so
//! the tests never touch the window for it.

use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::path::Path;
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::tmux::SIZE;
use crate::support::desktop::{self, Desktop};
use crate::support::evidence::lock;
use crate::support::process;

#[derive(Clone)]
pub struct Xterm(Arc<Inner>);

struct Inner {
    desktop: Desktop,
    window: u32,
    pid: u32,
    child: Mutex<Child>,
    seen: Mutex<Seen>,
}

/// The log read so far, and the screen that it draws.
struct Seen {
    log: File,
    parser: vt100::Parser,
}

impl Xterm {
    /// Opens a window that runs `program`; `place` is its corner in X syntax: `+0+0`.
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

    pub fn desktop(&self) -> &Desktop {
        &self.0.desktop
    }

    pub fn window(&self) -> u32 {
        self.0.window
    }

    /// The process id of the terminal itself.
    pub fn pid(&self) -> u32 {
        self.0.pid
    }

    pub fn screen(&self) -> String {
        let mut seen = lock(&self.0.seen);
        let mut bytes = Vec::new();
        // After an error, the next call reads the rest.
        let _ = seen.log.read_to_end(&mut bytes);
        seen.parser.process(&bytes);
        let screen = seen.parser.screen();
        let rows: Vec<String> = screen.rows(0, SIZE.0).collect();
        rows.join("\n")
    }

    /// Brings the window to the front and types text.
    pub fn type_text(&self, text: &str) {
        self.0.desktop.activate(self.0.window);
        self.0.desktop.type_text(text);
    }

    /// Brings the window to the front and presses keys given by tmux names.
    pub fn keys(&self, names: &str) {
        self.0.desktop.activate(self.0.window);
        self.0.desktop.keys(names);
    }

    /// Whether the terminal's process has ended.
    pub fn ended(&self) -> bool {
        !matches!(lock(&self.0.child).try_wait(), Ok(None))
    }

    /// Closes the terminal; its program gets a hang-up.
    pub fn kill(&self) {
        let mut child = lock(&self.0.child);
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}
