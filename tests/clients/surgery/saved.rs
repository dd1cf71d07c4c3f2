//! A played session that each case begins with anew, and the switch to its shorter successor at a
//! chosen instant.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::block::{Block, blocks_of_request};
use super::live::{DONE, TABLE, id, play_in, state};
use super::played::{NEXT, resume};
use crate::support::client::Tui;
use crate::support::mock::Request;
use crate::support::world::{Builder, World};

/// The session that a client is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Original,
    Successor,
}

pub struct Saved {
    pub world: World,
    pub original: String,
    /// How long a switch takes, from Enter to the line that says it is done.
    pub switch: Duration,
    /// What a client sends in each session, without the next prompt.
    whole: [Vec<Block>; 2],
    transcript: PathBuf,
    bytes: Vec<u8>,
    copy: tempfile::TempDir,
}

impl Saved {
    /// Plays a session, and switches once without a disturbance.
    pub fn play(world: Builder) -> Self {
        let running = play_in(world);
        running.tui.quit();
        let (world, original) = (running.world, running.original);
        crate::support::process::kill_with_home(&world.home());
        let copy = tempfile::tempdir().expect("a temporary folder");
        world.save(copy.path());
        let transcript = running.transcript;
        let bytes = fs::read(&transcript).expect("the transcript");
        let switch = Duration::ZERO;
        let whole = [Vec::new(), Vec::new()];
        let mut saved = Self { world, original, switch, whole, transcript, bytes, copy };
        let request = resume(&saved.world, &saved.original);
        let tui = saved.propose();
        let began = agree(&tui);
        tui.wait_screen("the successor", |screen| screen.contains(DONE));
        saved.switch = began.elapsed();
        tui.wait_idle();
        tui.quit();
        let successor = saved.successors().pop().expect("a successor");
        let successor = resume(&saved.world, &id(&successor));
        assert!(successor.said(TABLE) && !request.said(TABLE));
        saved.whole = [request, successor].map(|request| history(&request));
        saved
    }

    /// A client in the session as it was played, with the proposal to shorten it.
    pub fn propose(&self) -> Tui {
        crate::support::process::kill_with_home(&self.world.home());
        self.world.put_back(self.copy.path());
        let tui = self.world.tui(&["--resume", &self.original]);
        tui.prompt("/brain-guard:slim");
        // The client may put the command back into the box, with a menu above it.
        let proposed = || state(&self.world, &self.original, "succession");
        self.world.wait("proposal", proposed);
        tui.wait_idle();
        tui.keys("C-u");
        tui
    }

    /// Shortens the session that a client is in, and whose screen may show an earlier proposal.
    pub fn shorten(&self, tui: &Tui, session: &str) {
        let proposal =
            || state(&self.world, session, "succession").map(|made| made["since"].clone());
        let before = proposal();
        tui.prompt("/brain-guard:slim");
        self.world.wait("proposal", || (proposal() != before).then_some(()));
        tui.wait_idle();
        tui.keys("C-u");
        agree(tui);
        let is_done = || Some(state(&self.world, session, "succession")?["step"] == "done");
        self.world.wait("successor", || is_done().filter(|done| *done));
        tui.wait_screen("the successor", |screen| screen.contains(DONE));
        tui.wait_idle();
    }

    /// An instant within a switch or shortly after it, the `n`th of a sequence that fills it evenly.
    pub fn instant(&self, n: usize) -> Duration {
        let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
        self.switch.mul_f64(1.2 * ((n + 1) as f64 * golden).fract())
    }

    /// The session that a request continues, which must be whole.
    pub fn place(&self, request: &Request) -> Place {
        let sent = history(request);
        let (place, whole) = if request.session.as_ref() == Some(&self.original) {
            (Place::Original, &self.whole[0])
        } else {
            (Place::Successor, &self.whole[1])
        };
        if !sent.starts_with(whole) {
            self.world.evidence.fail(&format!("{place:?} is not whole: {request}"));
        }
        place
    }

    /// The client may add rows to the original; nothing else changes it.
    pub fn assert_original(&self) {
        let now = fs::read(&self.transcript).expect("the original");
        assert!(now.starts_with(&self.bytes), "the original is as it was");
    }

    pub fn successors(&self) -> Vec<PathBuf> {
        let mut all = self.world.transcripts();
        all.retain(|path| id(path) != self.original);
        all
    }
}

/// Says yes to a proposal, and returns when.
pub fn agree(tui: &Tui) -> Instant {
    tui.prompt("/brain-guard:slim yes");
    Instant::now()
}

/// The conversation before the prompt, without the empty rows of our commands: the client may not
/// have written the last one when a successor is made.
fn history(request: &Request) -> Vec<Block> {
    let mut blocks = blocks_of_request(request);
    assert!(request.prompt().ends_with(NEXT), "{request}");
    blocks.pop();
    let is_empty =
        |block: &Block| matches!(block, Block::User(text) if text.trim() == "(no content)");
    blocks.retain(|block| !is_empty(block));
    blocks
}
