//! The disturbances of boundaries, and their random order.

use std::fmt;

/// The kind of terminal through which keys reach the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Road {
    /// A pane of a tmux server.
    Tmux,
    /// An xterm under Xvfb and openbox.
    X11,
}

impl Road {
    /// The carrier's name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tmux => "tmux",
            Self::X11 => "x11",
        }
    }
}

macro_rules! scenarios {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal on $roads:expr;)+) => {
        /// One disturbance.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Scenario { $($(#[doc = $doc])+ $kind,)+ }

        impl Scenario {
            const ALL: &[(Self, &'static str, &[Road])] = &[$((Self::$kind, $name, $roads),)+];
        }
    };
}

const BOTH: &[Road] = &[Road::Tmux, Road::X11];
const TMUX: &[Road] = &[Road::Tmux];
const X11: &[Road] = &[Road::X11];

scenarios! {
    /// No disturbance.
    Plain = "plain" on BOTH;
    /// The user has half a prompt in the box.
    DraftLine = "draft" on BOTH;
    /// A draft of several lines.
    DraftLines = "draft-lines" on BOTH;
    /// A draft that begins with a slash, over which the client opens its menu.
    DraftSlash = "draft-slash" on BOTH;
    /// The user types a draft letter by letter around the turn's end.
    Typing = "typing" on BOTH;
    /// The user sends a prompt around the turn's end; its first call asks for permission.
    Dialog = "dialog" on BOTH;
    /// A background agent asks for permission around the turn's end.
    AgentDialog = "agent-dialog" on BOTH;
    /// The user sends a prompt around the turn's end, and the agent then asks a question.
    Question = "question" on BOTH;
    /// The pane is in copy mode for a while.
    CopyMode = "copy-mode" on TMUX;
    /// The user queued a prompt during the last answer.
    Queued = "queued" on BOTH;
    /// The end of a background task starts a turn around the turn's end.
    Background = "background" on BOTH;
    /// A second session of the project reaches its boundary at the same time.
    TwoSessions = "two-sessions" on BOTH;
    /// The terminal is closed in the middle.
    TerminalKilled = "terminal-killed" on BOTH;
    /// The client is killed in the middle; the next reader of the terminal must get nothing.
    ClientKilled = "client-killed" on BOTH;
    /// Another window takes the focus for a moment.
    FocusStolen = "focus-stolen" on X11;
    /// A second window of the terminal's process, with the same title, is in front.
    Twin = "twin-window" on X11;
    /// Caps Lock is on.
    CapsLock = "caps-lock" on X11;
    /// The user holds Shift for a while.
    HeldShift = "held-shift" on X11;
    /// A program grabs the keyboard for a while, as a screen locker does.
    Locked = "locked" on X11;
    /// The keyboard has the German layout.
    German = "german" on X11;
    /// A file of 1,700 words.
    Words = "1700-words" on BOTH;
    /// A file of 12,000 characters in few words.
    Characters = "12000-characters" on BOTH;
}

// Not played: another tab in X11. xterm has none; the twin is a second window of its process.

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = Self::ALL.iter().find(|entry| entry.0 == *self);
        f.write_str(entry.map_or("?", |entry| entry.1))
    }
}

impl Scenario {
    /// The scenarios for this kind of terminal.
    pub fn on(road: Road) -> Vec<Self> {
        let mine = Self::ALL.iter().filter(|entry| entry.2.contains(&road));
        mine.map(|entry| entry.0).collect()
    }

    /// The user's unsent text in the box at the end.
    pub fn draft(self) -> Option<&'static str> {
        match self {
            Self::DraftLine | Self::Typing => Some("half a prompt of the user"),
            Self::DraftLines => Some("the first line\nand a second one\nand a third"),
            Self::DraftSlash => Some("/half a command"),
            _ => None,
        }
    }

    /// Whether the stage cannot be used again.
    pub fn ends_the_stage(self) -> bool {
        matches!(self, Self::TerminalKilled | Self::ClientKilled | Self::TwoSessions)
    }
}

/// A random number generator: splitmix64.
#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `low..high`.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low) as u64) as i64
    }

    /// True in `percent` of 100 cases.
    pub fn percent(&mut self, percent: i64) -> bool {
        self.within(0, 100) < percent
    }

    /// Returns `count` scenarios: all of them in random order, repeatedly.
    pub fn order(&mut self, all: &[Scenario], count: usize) -> Vec<Scenario> {
        let mut order = Vec::new();
        while order.len() < count {
            let mut round = all.to_vec();
            for at in (1..round.len()).rev() {
                round.swap(at, self.within(0, at as i64 + 1) as usize);
            }
            order.extend(round);
        }
        order.truncate(count);
        order
    }
}
