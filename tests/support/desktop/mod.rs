//! A virtual desktop for one test: Xvfb, openbox, a keyboard through XTEST, and a clipboard.
//!
//! It shares no code with the carrier under test, so that the carrier does not judge itself.

mod keys;
mod windows;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Window};
use x11rb::rust_connection::RustConnection;

pub use keys::{Held, Locked};
pub use windows::Twin;

use crate::support::process::{self, DEADLINE};

/// Screen size and depth. Two terminals fit side by side, so that no window covers another.
const SCREEN: &str = "2200x1000x24";

/// Limit for one program of the desktop.
const PATIENCE: Duration = Duration::from_secs(10);

/// The X server with its window manager; both end when it is dropped.
#[derive(Clone)]
pub struct Desktop(Arc<Inner>);

struct Inner {
    name: String,
    env: BTreeMap<String, String>,
    x: RustConnection,
    root: Window,
    children: Vec<Child>,
}

impl Desktop {
    /// Starts on a free display number. The programs get this environment, so that the search by
    /// HOME finds them.
    pub fn start(env: &BTreeMap<String, String>) -> Self {
        let mut env = env.clone();
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp", "-noreset"]);
        command.env_clear().envs(&env).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().expect("Xvfb is installed: `./test` does it");
        let mut number = String::new();
        BufReader::new(server.stdout.take().expect("a pipe"))
            .read_line(&mut number)
            .expect("Xvfb says its number");
        let name = format!(":{}", number.trim());
        env.insert("DISPLAY".to_owned(), name.clone());
        let manager = Command::new("openbox")
            .env_clear()
            .envs(&env)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("openbox is installed: `./test` does it");
        let (x, screen) = RustConnection::connect(Some(&name)).expect("the display answers");
        let root = x.setup().roots[screen].root;
        let desktop = Self(Arc::new(Inner { name, env, x, root, children: vec![manager, server] }));
        let managed = process::poll(DEADLINE, Duration::from_millis(10), || {
            desktop.window_of(root, "_NET_SUPPORTING_WM_CHECK")
        });
        managed.expect("openbox manages the display");
        desktop
    }

    /// The display's name, such as `:7`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The environment of a program on this desktop.
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.0.env
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.0.env);
        command
    }

    /// Sets the keyboard layout: `us`, `de`.
    pub fn layout(&self, name: &str) {
        let output = process::run(self.command("setxkbmap").arg(name), PATIENCE);
        let output = output.expect("setxkbmap is installed: `./test` does it");
        assert!(output.status.success(), "setxkbmap {name}: {}", output.stderr);
    }

    /// Puts a text into the clipboard.
    pub fn select(&self, text: &str) {
        let mut child = self
            .command("xclip")
            .args(["-selection", "clipboard", "-i"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("xclip is installed: `./test` does it");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(text.as_bytes()).expect("xclip reads");
        drop(stdin);
        // xclip forks and serves the text until another program owns the selection.
        child.wait().expect("own child");
    }

    /// The clipboard; `None` without an owner.
    pub fn selected(&self) -> Option<String> {
        let mut command = self.command("xclip");
        command.args(["-selection", "clipboard", "-o"]);
        let output = process::run(&mut command, PATIENCE).ok()?;
        output.status.success().then_some(output.stdout)
    }

    fn x(&self) -> &RustConnection {
        &self.0.x
    }

    fn atom(&self, name: &str) -> u32 {
        let asked = self.x().intern_atom(false, name.as_bytes()).expect("the display lives");
        asked.reply().expect("the display answers").atom
    }

    /// The 32-bit values of a property; empty if the property or the window is missing.
    fn property(&self, window: Window, name: &str) -> Vec<u32> {
        let asked =
            self.x().get_property(false, window, self.atom(name), AtomEnum::ANY, 0, 1024).ok();
        let reply = asked.and_then(|asked| asked.reply().ok());
        reply.and_then(|reply| Some(reply.value32()?.collect())).unwrap_or_default()
    }

    fn window_of(&self, window: Window, name: &str) -> Option<Window> {
        self.property(window, name).first().copied().filter(|found| *found != 0)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        for child in &mut self.children {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts a program on the desktop; the caller must end it.
pub fn spawn(desktop: &Desktop, program: &str, arguments: &[String], folder: &Path) -> Child {
    let mut command = desktop.command(program);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap_or_else(|error| panic!("{program}: {error}; `./test` installs it"))
}
