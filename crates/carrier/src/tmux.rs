//! The client's tmux pane: found and proven when a hook runs, and proven again before each action.
//!
//! One tmux command checks the conditions (`conditions::guarded`) and sends the keys, so nothing
//! can come between. A stuck server that runs it too late does nothing.

mod conditions;
mod opener;
mod server;

use std::path::PathBuf;
use std::time::Duration;

use tmux_interface::{CapturePane, DisplayMessage, ListClients, SendKeys, TmuxCommand};

pub use self::opener::Opener;

use self::conditions::Facts;
use self::server::{Fault, Server};
use super::screen::Screen;
use super::terminal::{PromptBox, Readable, Refusal, Stroke, Terminal};
use base::clock;
use base::env::Env;
use base::process;
use guard::boundary::Client;
use guard::client;
use guard::session::reach::TmuxPane;

/// Longer texts are sent in pieces, because the client takes some hundred characters at once for a
/// paste.
const PIECE: usize = 64;

/// Time between two looks at the idle state; the client redraws within it.
const GLANCE: Duration = Duration::from_millis(100);

/// The title's first character while a turn runs, if the client sets it.
const TURNING: [char; 4] = ['◐', '◑', '◒', '◓'];

/// Finds the client's own pane. The error says why it cannot be used, in words for the user.
pub fn find(env: &Env, client: Client) -> Result<TmuxPane, Refusal> {
    let (Some(tmux), Some(pane)) = (env.get("TMUX"), env.get("TMUX_PANE")) else {
        return Err(Refusal::never("not in a tmux pane (TMUX or TMUX_PANE is not set)"));
    };
    let socket = socket(&tmux).to_owned();
    if !pane.starts_with('%') {
        return Err(Refusal::never(format!("TMUX_PANE is {pane:?}, which is not a pane's id")));
    }
    let Some(program) = server::program(env.os("PATH").as_deref()) else {
        return Err(Refusal::never("in a tmux pane, but tmux is not on the client's PATH"));
    };
    let pane = Pane::from_parts(program, TmuxPane { socket, pane }, client);
    pane.own(&pane.facts()?)?;
    Ok(pane.place)
}

/// The server's socket in `$TMUX`, which is `<socket>,<server's pid>,<session>`. The socket's path
/// may contain a comma.
fn socket(tmux: &str) -> &str {
    tmux.rsplitn(3, ',').nth(2).unwrap_or(tmux)
}

/// A client's pane that takes keys.
#[derive(Debug)]
pub struct Pane {
    server: Server,
    place: TmuxPane,
    client: Client,
}

impl Pane {
    /// Opens the pane, after proving that it is the client's.
    pub fn open(place: TmuxPane, client: Client) -> Result<Self, Refusal> {
        let pane = Self::from_parts(PathBuf::from("tmux"), place, client);
        pane.own(&pane.facts()?)?;
        Ok(pane)
    }

    fn from_parts(program: PathBuf, place: TmuxPane, client: Client) -> Self {
        Self { server: Server::new(program, &place.socket), place, client }
    }

    /// What tmux reports about the pane.
    fn facts(&self) -> Result<Facts, Refusal> {
        let told = self.ask([Facts::question(&self.place.pane)])?;
        let gone = || Refusal::never(format!("the tmux pane {} is gone", self.place.pane));
        let facts = Facts::parse(&told).ok_or_else(gone)?;
        // For a missing pane, tmux answers with nothing or with another pane.
        if facts.pane == self.place.pane { Ok(facts) } else { Err(gone()) }
    }

    /// Checks that the pane is the client's own.
    fn own(&self, facts: &Facts) -> Result<(), Refusal> {
        let pane = &self.place.pane;
        let never = |why: String| Err(Refusal::Never(why));
        if let Some(version) = facts.too_old() {
            return never(format!("tmux {version} is too old: 3.2 or later is needed"));
        }
        if facts.dead || !client::alive(self.client) {
            return never("the client has ended".to_owned());
        }
        if !client::contains_client(facts.pid, self.client) {
            return never(format!("the client does not run in the tmux pane {pane}"));
        }
        if !client::reads_terminal(self.client, &facts.terminal) {
            return never(format!(
                "another program stands between the tmux pane {pane} and the client"
            ));
        }
        if client::gave_session_away(self.client) {
            return never("the session moved to the background of the client".to_owned());
        }
        Ok(())
    }

    /// Proves that the pane takes keys for the client now.
    fn proven(&self) -> Result<Facts, Refusal> {
        let facts = self.facts()?;
        self.own(&facts)?;
        if let Some(why) = facts.hindrance() {
            return Err(Refusal::later(why));
        }
        if !process::is_in_foreground(self.client.pid) {
            return Err(Refusal::later("another program has the client's terminal in front"));
        }
        Ok(facts)
    }

    /// Runs commands on the pane under the conditions that were just proven.
    fn act<'a>(&self, facts: &'a Facts, acts: Vec<TmuxCommand<'a>>) -> Result<(), Refusal> {
        let acts = conditions::held(facts, acts, clock::now());
        let told =
            self.server.ask(acts, server::ACTION_TIMEOUT).map_err(|fault| refusal(&fault))?;
        if conditions::sent(&told) {
            return Ok(());
        }
        Err(Refusal::later("the tmux pane changed in the moment of the keys"))
    }

    fn ask<'a>(
        &self,
        commands: impl IntoIterator<Item = TmuxCommand<'a>>,
    ) -> Result<String, Refusal> {
        self.server.ask(commands, server::ASKED).map_err(|fault| refusal(&fault))
    }

    /// Reads the title and the screen in one command.
    fn look(&self) -> Result<(String, Screen), Refusal> {
        let pane = self.place.pane.as_str();
        let title = DisplayMessage::new().print().target_pane(pane).message("#{pane_title}");
        let capture = CapturePane::new().stdout().escape_sequences().target_pane(pane);
        let told = self.ask([title.build(), capture.build()])?;
        let (title, screen) = told.split_once('\n').unwrap_or_default();
        Ok((title.to_owned(), Screen::read(screen)))
    }
}

/// What a fault means for the carrier: only a hang may pass.
fn refusal(fault: &Fault) -> Refusal {
    match fault {
        Fault::Hung => Refusal::Later(fault.to_string()),
        Fault::Start(_) | Fault::Gone(_) | Fault::Refused(_) => Refusal::Never(fault.to_string()),
    }
}

impl Terminal for Pane {
    fn prove(&mut self) -> Result<(), Refusal> {
        self.proven().map(drop)
    }

    fn idle(&mut self) -> Result<bool, Refusal> {
        for look in 0..2 {
            if look > 0 {
                std::thread::sleep(GLANCE);
            }
            let (title, screen) = self.look()?;
            if screen.prompt == PromptBox::None || screen.busy || title.starts_with(TURNING) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn readable(&mut self) -> Option<&mut dyn Readable> {
        Some(self)
    }

    fn chord(
        &mut self,
        strokes: &[Stroke],
        commit: &mut dyn FnMut() -> bool,
    ) -> Result<bool, Refusal> {
        let facts = self.proven()?;
        if !commit() {
            return Ok(false);
        }
        let keys = SendKeys::new().target_pane(self.place.pane.as_str());
        let name = |stroke: &Stroke| {
            if stroke.ctrl { format!("C-{}", stroke.key) } else { stroke.key.to_string() }
        };
        let keys = strokes.iter().fold(keys, |keys, stroke| keys.key(name(stroke)));
        self.act(&facts, vec![keys.build()])?;
        Ok(true)
    }

    fn notice(&mut self, text: &str, seconds: u64) {
        let line = conditions::plain(text);
        let clients = ListClients::new().target_session(self.place.pane.as_str());
        // Nobody may be attached, or tmux may be gone; a notice is not worth an error.
        let Ok(names) = self.ask([clients.format("#{client_name}").build()]) else { return };
        for name in names.lines() {
            let message = DisplayMessage::new().target_client(name).message(line.as_str());
            let delay = usize::try_from(seconds.saturating_mul(1000)).unwrap_or(usize::MAX);
            let _ = self.ask([message.delay(delay).build()]);
        }
    }
}

impl Readable for Pane {
    fn prompt_box(&mut self) -> Result<PromptBox, Refusal> {
        self.look().map(|(_, screen)| screen.prompt)
    }

    fn stash_taken(&mut self) -> Result<bool, Refusal> {
        self.look().map(|(_, screen)| screen.stashed)
    }

    fn type_text(&mut self, text: &str) -> Result<(), Refusal> {
        if !text.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
            return Err(Refusal::never("only plain text of one line can be typed"));
        }
        for piece in text.as_bytes().chunks(PIECE) {
            let piece = String::from_utf8_lossy(piece);
            let facts = self.proven()?;
            let keys = SendKeys::new().disable_lookup().target_pane(self.place.pane.as_str());
            self.act(&facts, vec![keys.key("--").key(piece).build()])?;
        }
        Ok(())
    }
}
