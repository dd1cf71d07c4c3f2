//! A display with terminals for one test; everything ends with the test.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use base::env::Env;
use carrier::terminal::{Refusal, Stroke, Terminal as _};
use carrier::x11::{self, Options, Touched, Window};
use guard::boundary::Client;
use guard::files::state;
use guard::session::reach::X11Display;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

/// Limit for any single wait.
const DEADLINE: Duration = Duration::from_secs(20);

/// The client's title when it is idle.
pub const IDLE: &str = "\u{2733} Claude Code";

#[track_caller]
pub fn wait<T>(what: &str, mut wanted: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = wanted() {
            return found;
        }
        assert!(Instant::now() < end, "no {what} within {DEADLINE:?}");
        sleep(Duration::from_millis(10));
    }
}

/// Presses a chord once nobody has used the keyboard for a moment. Opening a window counts as use.
#[track_caller]
pub fn press(
    window: &mut Window,
    strokes: &[Stroke],
    commit: &mut dyn FnMut() -> bool,
) -> Result<bool, Refusal> {
    wait("pause in the input", || {
        let pressed = window.chord(strokes, commit);
        let is_used = matches!(&pressed, Err(Refusal::Later(why)) if why.starts_with("somebody"));
        (!is_used).then_some(pressed)
    })
}

/// An X server and the programs on it.
pub struct Screen {
    server: Child,
    others: RefCell<Vec<Child>>,
    folder: tempfile::TempDir,
    /// `$DISPLAY`.
    pub name: String,
    pub conn: RustConnection,
    root: u32,
}

impl Screen {
    /// Starts a server with a window manager.
    pub fn start() -> Self {
        let screen = Self::bare();
        screen.run("openbox", &["--sm-disable"]);
        wait("window manager", || {
            (!screen.ids("_NET_SUPPORTING_WM_CHECK").is_empty()).then_some(())
        });
        screen
    }

    /// Starts a server without a window manager.
    pub fn bare() -> Self {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().expect("Xvfb is installed: ./test installs it");
        let mut number = String::new();
        let mut pipe = BufReader::new(server.stdout.take().expect("a pipe"));
        pipe.read_line(&mut number).expect("Xvfb says its number");
        let name = format!(":{}", number.trim());
        let (conn, at) = RustConnection::connect(Some(&name)).expect("Xvfb answers");
        let root = conn.setup().roots[at].root;
        let folder = tempfile::tempdir().expect("a folder");
        Self { server, others: RefCell::default(), folder, name, conn, root }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", self.folder.path());
        command.env("DISPLAY", &self.name).env("LANG", "C.UTF-8");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Starts a program that ends with the test.
    pub fn run(&self, program: &str, arguments: &[&str]) {
        let started = self.command(program).args(arguments).process_group(0).spawn();
        self.keep(started.unwrap_or_else(|e| panic!("{program}: {e}; ./test installs it")));
    }

    /// Registers a program that ends with the test.
    pub fn keep(&self, child: Child) {
        self.others.borrow_mut().push(child);
    }

    /// Stops or continues the server's process.
    pub fn stand_still(&self, still: bool) {
        use rustix::process::{Pid, Signal, kill_process};
        let signal = if still { Signal::STOP } else { Signal::CONT };
        kill_process(Pid::from_child(&self.server), signal).expect("the server lives");
    }

    /// Runs a program to its end and returns its output.
    pub fn call(&self, program: &str, arguments: &[&str]) -> String {
        let done = self.command(program).args(arguments).stdout(Stdio::piped()).output();
        let done = done.unwrap_or_else(|e| panic!("{program}: {e}; ./test installs it"));
        assert!(done.status.success(), "{program} {arguments:?}");
        String::from_utf8(done.stdout).expect("text")
    }

    /// Opens a terminal with a raw reader and brings it to the front.
    pub fn terminal(&self, name: &str) -> Reader {
        self.terminal_with(name, "", "")
    }

    /// Opens a terminal whose reader is started by the command `around`, after the line `first`.
    pub fn terminal_with(&self, name: &str, around: &str, first: &str) -> Reader {
        let path = |what: &str| self.folder.path().join(format!("{name}.{what}"));
        let (script, pid) = (path("sh"), path("pid"));
        let text = format!(
            "stty raw -echo\nprintf '\\033]2;{IDLE}\\007\\033[?2004h'\n{first}\necho $$ >{pid}\nexec cat >{bytes}\n",
            pid = pid.display(),
            bytes = path("bytes").display(),
        );
        fs::write(&script, text).expect("the script");
        let inner = format!("exec {around} sh {}", script.display());
        let (id, client) = self.shows(&pid, || {
            self.run("xterm", &["-u8", "-geometry", "90x24", "-e", "sh", "-c", &inner]);
        });
        let bytes = path("bytes");
        wait("reader's file", || bytes.exists().then_some(()));
        Reader { id, client, bytes }
    }

    /// Starts a terminal, whose program writes its process id to `pid`, and brings it to the front.
    pub fn shows(&self, pid: &Path, start: impl FnOnce()) -> (u32, Client) {
        let before = self.ids("_NET_CLIENT_LIST");
        start();
        let pid = wait("client", || fs::read_to_string(pid).ok()?.trim().parse().ok());
        let client = state::client(pid).expect("it lives");
        if self.ids("_NET_SUPPORTING_WM_CHECK").is_empty() {
            return (0, client);
        }
        let new = || self.ids("_NET_CLIENT_LIST").into_iter().find(|w| !before.contains(w));
        let id = wait("window", new);
        self.activate(id);
        (id, client)
    }

    /// Brings a window to the front and waits for the focus.
    pub fn activate(&self, window: u32) {
        let atom = self.atom("_NET_ACTIVE_WINDOW");
        let message = ClientMessageEvent::new(32, window, atom, [2, 0, 0, 0, 0]);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.conn.send_event(false, self.root, mask, message).expect("a display");
        self.conn.sync().expect("a display");
        wait("focus", || {
            let focus = self.conn.get_input_focus().ok()?.reply().ok()?.focus;
            (self.active() == window && self.below(focus, window)).then_some(())
        });
    }

    fn below(&self, mut window: u32, top: u32) -> bool {
        while window > 1 && window != top {
            let Ok(tree) = self.conn.query_tree(window).expect("a display").reply() else {
                return false;
            };
            window = tree.parent;
        }
        window == top
    }

    pub fn active(&self) -> u32 {
        self.ids("_NET_ACTIVE_WINDOW").first().copied().unwrap_or_default()
    }

    fn atom(&self, name: &str) -> u32 {
        let cookie = self.conn.intern_atom(false, name.as_bytes()).expect("a display");
        cookie.reply().expect("an atom").atom
    }

    fn ids(&self, name: &str) -> Vec<u32> {
        let (atom, kind) = (self.atom(name), AtomEnum::WINDOW);
        let cookie = self.conn.get_property(false, self.root, atom, kind, 0, 1024);
        let reply = cookie.expect("a display").reply().expect("a property");
        reply.value32().map(Iterator::collect).unwrap_or_default()
    }

    pub fn title(&self, window: u32) -> String {
        let atom = self.atom("_NET_WM_NAME");
        let cookie = self.conn.get_property(false, window, atom, AtomEnum::ANY, 0, 1024);
        let value = cookie.expect("a display").reply().expect("a property").value;
        String::from_utf8_lossy(&value).into_owned()
    }

    /// Fakes a key or button event: 2 and 3 press and release a key, 4 and 5 a button.
    pub fn input(&self, event: u8, detail: u8) {
        self.conn.xtest_fake_input(event, detail, 0, self.root, 0, 0, 0).expect("a display");
        self.conn.sync().expect("a display");
    }

    /// The environment of hooks on this display.
    pub fn env(&self) -> Env {
        Env::from_pairs([("DISPLAY", &self.name)])
    }

    pub fn find(&self, client: Client) -> Result<X11Display, Refusal> {
        x11::find(&self.env(), client)
    }

    /// The carrier for a reader's window. It may leave another window after `idle`.
    #[track_caller]
    pub fn carrier_after(&self, reader: &Reader, idle: Duration) -> Window {
        self.carrier_of(reader.client, idle)
    }

    /// The carrier for any client's window.
    #[track_caller]
    pub fn carrier_of(&self, client: Client, idle: Duration) -> Window {
        let place = self.find(client).expect("it is the client's window");
        let options = Options { idle, touched: Touched::default() };
        Window::open(place, client, options).expect("it is there")
    }

    /// The carrier for a reader's window, with an `idle` too long to leave another window.
    #[track_caller]
    pub fn carrier(&self, reader: &Reader) -> Window {
        self.carrier_after(reader, Duration::from_secs(86_400))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        for child in self.others.get_mut() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
        // On TERM, the server removes its lock and socket. A failed test may have left it stopped.
        self.stand_still(false);
        let server = rustix::process::Pid::from_child(&self.server);
        let _ = rustix::process::kill_process(server, rustix::process::Signal::TERM);
        let _ = self.server.wait();
    }
}

pub struct Reader {
    pub id: u32,
    pub client: Client,
    bytes: PathBuf,
}

impl Reader {
    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.bytes).expect("the reader's file")
    }

    /// Waits until it has read `count` bytes.
    #[track_caller]
    pub fn wait_bytes(&self, count: usize) -> Vec<u8> {
        wait("bytes", || Some(self.bytes()).filter(|bytes| bytes.len() >= count))
    }
}
