//! `carrier test`: sends keys and a paste through a scratch pane or window of the user's own tmux
//! or X display. Nothing reaches a session.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::Serialize;

use crate::cli::SessionSelector;
use crate::cmd::{Context, selector};
use base::clock::Time;
use base::env::Env;
use carrier::keyboard::{self, Pressed};
use carrier::reach;
use carrier::terminal::{Refusal, Stroke, Terminal};
use carrier::{tmux, x11};
use guard::files::state::{self, Client};
use guard::hook::boundary_flow::wait_for;
use guard::session::reach::{Reach, TmuxPane, Way, X11Display};

/// Time limit for the scratch terminal to start, and for sent input to arrive.
const PATIENCE: Duration = Duration::from_secs(8);

const CHORD: [Stroke; 2] = [Stroke::ctrl(']'), Stroke::ctrl(']')];

/// The results for every terminal carrier that is in reach.
#[derive(Debug, Serialize)]
pub struct Trial {
    carriers: Vec<Tried>,
}

#[derive(Debug, Serialize)]
struct Tried {
    carrier: &'static str,
    usable: bool,
    passed: bool,
    why: Option<String>,
    ms: u64,
}

impl Trial {
    /// Tests each carrier.
    ///
    /// # Errors
    /// No folder for the recordings.
    pub fn run(context: Context, selector: &SessionSelector) -> anyhow::Result<Self> {
        let Context { env, now } = context;
        let reach = reach(env, now, selector)?;
        let folder = folder(env)?;
        let tmux = timed("tmux", &reach.tmux, |place| by_tmux(env, place, &folder.join("tmux")));
        let x11 = timed("x11", &reach.x11, |place| by_x11(env, place, &folder.join("x11")));
        let _ = std::fs::remove_dir_all(&folder);
        Ok(Self { carriers: vec![tmux, x11] })
    }

    /// Whether a carrier is in reach but does not work.
    pub fn failed(&self) -> bool {
        self.carriers.iter().any(|tried| tried.usable && !tried.passed)
    }
}

fn timed<T>(
    carrier: &'static str,
    way: &Way<T>,
    run: impl FnOnce(&T) -> Result<(), String>,
) -> Tried {
    let began = Instant::now();
    let why = match way {
        Way::Shut(why) => Some(why.clone()),
        Way::Open(place) => run(place).err(),
    };
    let usable = way.open().is_some();
    Tried { carrier, usable, passed: why.is_none(), why, ms: began.elapsed().as_millis() as u64 }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Tried { carrier, usable, why, ms, .. } in &self.carriers {
            let seconds = *ms as f64 / 1_000.0;
            match why {
                None => writeln!(
                    f,
                    "{carrier:<7} ok   a chord and a paste arrived whole in a scratch terminal ({seconds:.1} s)"
                )?,
                Some(why) if *usable => writeln!(f, "{carrier:<7} fail {why}")?,
                Some(why) => writeln!(f, "{carrier:<7} no   {why}")?,
            }
        }
        Ok(())
    }
}

fn reach(env: &Env, now: Time, selector: &SessionSelector) -> anyhow::Result<Reach> {
    let own = env
        .client_pid()
        .or_else(|| rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get() as u32));
    let here = own.and_then(state::client).map(|client| reach::look(env, client));
    let kept = match selector::find_any(env, selector)?.filter(|_| env.client_pid().is_none()) {
        Some(found) => selector::facts(env, now, &found)?.session.reach,
        None => None,
    };
    kept.or(here).context("the process around this command is gone")
}

fn folder(env: &Env) -> anyhow::Result<PathBuf> {
    let base = env.path("XDG_RUNTIME_DIR").or_else(|| env.path("TMPDIR"));
    let base = base.unwrap_or_else(|| PathBuf::from("/tmp"));
    let folder = base.join(format!("brain-guard-carrier-test-{}", std::process::id()));
    std::fs::create_dir(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    Ok(folder)
}

fn by_tmux(env: &Env, place: &TmuxPane, file: &Path) -> Result<(), String> {
    let program = env.program().ok_or("brain-guard cannot find its own program file")?;
    let made = Command::new("tmux")
        .args(["-S", &place.socket, "new-window", "-d", "-P", "-F", "#{pane_id}"])
        .args(["-t", &format!("{}:", session_of(place)?), "-n", "brain-guard-test", "--"])
        .arg(program)
        .args(["carrier-scratch"])
        .arg(file)
        .output()
        .map_err(|e| format!("tmux: {e}"))?;
    if !made.status.success() {
        return Err(format!("tmux: {}", String::from_utf8_lossy(&made.stderr).trim()));
    }
    let pane = String::from_utf8_lossy(&made.stdout).trim().to_owned();
    let client = scratch_client(file)?;
    let place = TmuxPane { socket: place.socket.clone(), pane: pane.clone() };
    let socket = place.socket.clone();
    let tried = tmux::Pane::open(place, client)
        .map_err(|e| e.to_string())
        .and_then(|mut pane| round_trip(&mut pane, file));
    close(file, client);
    // With `remain-on-exit` the pane outlives its program.
    let _ = Command::new("tmux").args(["-S", &socket, "kill-pane", "-t", &pane]).output();
    tried
}

/// The tmux session of the client's pane, in which the scratch window is opened.
fn session_of(place: &TmuxPane) -> Result<String, String> {
    let asked = Command::new("tmux")
        .args(["-S", &place.socket, "display-message", "-p", "-t", &place.pane, "#{session_id}"])
        .output()
        .map_err(|e| format!("tmux: {e}"))?;
    Ok(String::from_utf8_lossy(&asked.stdout).trim().to_owned())
}

fn by_x11(env: &Env, place: &X11Display, file: &Path) -> Result<(), String> {
    let program = env.program().ok_or("brain-guard cannot find its own program file")?;
    let mut terminal = Command::new("xterm")
        .args(["-T", "brain-guard carrier test", "-e"])
        .arg(&program)
        .arg("carrier-scratch")
        .arg(file)
        .env("DISPLAY", &place.display)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("xterm, in which this test runs: {e}"))?;
    let tried = scratch_client(file).and_then(|client| {
        let tried = x11::open(
            place.clone(),
            client,
            x11::Options {
                idle: Duration::ZERO,
                program: program.clone(),
                touched: x11::Touched::default(),
            },
        )
        .map_err(|e| e.to_string())
        .and_then(|mut window| round_trip(window.as_mut(), file));
        close(file, client);
        tried
    });
    end(&mut terminal);
    tried
}

/// Waits until the scratch process runs.
fn scratch_client(file: &Path) -> Result<Client, String> {
    let mut found = None;
    wait_for(PATIENCE, || {
        let pid = std::fs::read_to_string(file.with_extension("pid")).ok();
        found = pid.and_then(|pid| state::client(pid.parse().ok()?));
        found.is_some()
    });
    found.ok_or_else(|| "the scratch terminal did not come up".to_owned())
}

/// Sends a chord and a paste, and compares what arrives.
fn round_trip(terminal: &mut dyn Terminal, file: &Path) -> Result<(), String> {
    let words = |e: Refusal| e.to_string();
    let mut pressed = Err(Refusal::later("the scratch terminal is not ready"));
    wait_for(PATIENCE, || {
        pressed = keyboard::chord(terminal, &CHORD, &mut || true);
        // Retry even refusals that are final for a client: the window manager may not list this
        // window yet.
        pressed.is_ok()
    });
    if pressed.map_err(words)? != Pressed::Yes {
        return Err("the chord was not pressed".to_owned());
    }
    arrived(file, b"\x1d\x1d")?;
    let text = "äöü <tag> \"quoted\" $HOME `x` 'y' \\n\n".repeat(40);
    terminal.paste(&text).map_err(words)?;
    // A terminal sends the line ends of a paste as carriage returns.
    let pasted = text.replace('\n', "\r");
    arrived(file, format!("\x1d\x1d\x1b[200~{pasted}\x1b[201~").as_bytes())
}

fn arrived(file: &Path, expected: &[u8]) -> Result<(), String> {
    let mut got = Vec::new();
    let whole = wait_for(PATIENCE, || {
        got = std::fs::read(file).unwrap_or_default();
        let plain = String::from_utf8_lossy(&got).replace('\n', "\r");
        plain.as_bytes() == String::from_utf8_lossy(expected).replace('\n', "\r").as_bytes()
    });
    if whole {
        return Ok(());
    }
    Err(format!("{} bytes were sent and {} arrived, or others", expected.len(), got.len()))
}

/// Ends the scratch process by removing its file.
fn close(file: &Path, client: Client) {
    let _ = std::fs::remove_file(file);
    wait_for(PATIENCE, || state::client(client.pid) != Some(client));
}

fn end(terminal: &mut Child) {
    if !wait_for(PATIENCE, || matches!(terminal.try_wait(), Ok(Some(_)))) {
        let _ = terminal.kill();
        let _ = terminal.wait();
    }
}
