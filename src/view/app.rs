//! The state of the viewer, and what each key changes in it. No file is touched here: what a change
//! needs is returned as effects.

mod acting;
mod answers;
mod past;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::context::Rounds;
use super::keys::{self, Command, Pane};
use super::message::{Answer, Cell, Job, Message};
use super::plan::{Pending, Step};
use super::popup::{Outcome, Popup, Purpose};
use super::round::{Page, wrap};
use super::sessions::{self as list, Sessions};
use sessions::operation::{Fate, Operation, Order};
use surgery::table::short;

/// The columns and lines of the smallest screen.
pub const LEAST: (u16, u16) = (60, 12);

/// Lines above the rounds: title, bar and tiers.
pub const ABOVE_ROUNDS: u16 = 3;

/// Most lines of a plan that the screen shows.
const PLAN_LINES: usize = 6;

/// What a change asks of the outside.
#[derive(Debug)]
pub enum Effect {
    /// Work for a worker.
    Job(Job),
    /// A text for the clipboard.
    Copy(String),
    /// The end.
    Quit,
}

/// The viewer.
pub struct App {
    /// The pane that has the keys.
    pub focus: Pane,
    /// The sessions.
    pub sessions: Sessions,
    /// The rounds of the open one.
    pub rounds: Rounds,
    /// The round in full.
    pub page: Page,
    /// The plan.
    pub pending: Pending,
    /// The popups, the uppermost last.
    pub popups: Vec<Popup>,
    /// What `u` undoes, the last step last.
    back: Vec<Step>,
    /// What `U` redoes.
    again: Vec<Step>,
    /// The cell of the matrix whose session is being opened.
    picked: Option<Cell>,
    /// The words of a search that runs, and the keys that were typed since: they are about what it finds.
    held: Option<(String, Vec<KeyEvent>)>,
    /// What happened last, if anything, and whether it is an error.
    pub line: (String, bool),
    /// What to print when the viewer has ended.
    pub farewell: Option<String>,
    /// Jobs that are not answered yet.
    pub busy: usize,
    /// Those of them that change something.
    acting: usize,
    /// The session and the plan that is being made of it.
    making: Option<(String, Order)>,
    /// The viewer ends when the acting jobs are done.
    is_leaving: bool,
    /// Columns and lines of the screen.
    pub size: (u16, u16),
}

impl App {
    /// The viewer of a project's sessions, or of all.
    pub fn new(all: bool) -> Self {
        Self {
            focus: Pane::Rounds,
            sessions: Sessions::new(all),
            rounds: Rounds::default(),
            page: Page::default(),
            pending: Pending::default(),
            popups: Vec::new(),
            back: Vec::new(),
            again: Vec::new(),
            picked: None,
            held: None,
            line: (String::new(), false),
            farewell: None,
            busy: 0,
            acting: 0,
            making: None,
            is_leaving: false,
            size: (80, 24),
        }
    }

    /// What to do at first.
    pub fn begin(&mut self, session: Option<String>) -> Vec<Effect> {
        let all = self.sessions.all;
        vec![self.job(Job::Open { name: session }), self.job(Job::List { all })]
    }

    /// Takes a message.
    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Input(Event::Key(event)) => self.key(event),
            Message::Input(Event::Paste(text)) => {
                if let Some(popup) = self.popups.last_mut() {
                    popup.paste(&text);
                }
                Vec::new()
            }
            Message::Input(_) => Vec::new(),
            Message::Answer(answer, said) => {
                // Nobody waits for a reread, so it never counted as busy.
                if !matches!(answer, Answer::Reread(_)) {
                    self.drop_jobs(1);
                }
                let effects = self.answer(answer, &said);
                if self.is_leaving && self.acting == 0 {
                    self.farewell.get_or_insert_with(|| self.line.0.clone());
                    return vec![Effect::Quit];
                }
                effects
            }
            Message::Tick => self.tick(),
        }
    }

    fn job(&mut self, job: Job) -> Effect {
        self.busy += 1;
        self.acting += usize::from(job.acts());
        Effect::Job(job)
    }

    /// So many jobs need no answer any more.
    pub fn drop_jobs(&mut self, count: usize) {
        self.busy = self.busy.saturating_sub(count);
    }

    fn say(&mut self, line: impl Into<String>) {
        self.line = (line.into(), false);
    }

    fn fail(&mut self, why: impl Into<String>) {
        self.line = (why.into(), true);
    }

    /// Looks whether the open session has grown. Nobody waits for that, so it does not count as busy.
    fn tick(&self) -> Vec<Effect> {
        let Some(opened) = &self.rounds.opened else { return Vec::new() };
        let name = opened.name.clone();
        let job = |known| Effect::Job(Job::Reread { name, known: Some(known) });
        opened.mark.map(job).into_iter().collect()
    }

    fn key(&mut self, event: KeyEvent) -> Vec<Effect> {
        let quits = keys::find(Pane::Rounds, event) == Some(Command::Quit);
        if !fits(self.size) && !quits {
            return Vec::new();
        }
        if let Some((_, held)) = &mut self.held {
            // A `q` behind other keys may belong to a name.
            let is_letter = event.code == KeyCode::Char('q') && !held.is_empty();
            if is_letter || !(quits || event.code == KeyCode::Esc) {
                held.push(event);
                return Vec::new();
            }
            self.held = None;
        }
        let Some(popup) = self.popups.last_mut() else {
            if let Some(command) = keys::find(self.focus, event) {
                return self.command(command);
            }
            if matches!(event.code, KeyCode::Char(_)) && event.kind != KeyEventKind::Release {
                let is_ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
                let key = keys::name(event.code, is_ctrl);
                let panes = [Pane::Rounds, Pane::Sessions, Pane::Round];
                let other = panes.into_iter().find(|pane| keys::find(*pane, event).is_some());
                self.say(match other {
                    Some(pane) => {
                        format!("{key} is a key of {}; ? lists those of this pane", pane.name())
                    }
                    None => format!("{key} does nothing here; ? lists the keys"),
                });
            }
            return Vec::new();
        };
        let outcome = popup.key(event);
        if outcome != Outcome::Open {
            self.popups.pop();
        }
        match outcome {
            Outcome::Open | Outcome::Closed => Vec::new(),
            Outcome::Passed => self.key(event),
            Outcome::Entered(purpose, rounds, text) => self.entered(purpose, rounds, text),
            Outcome::Chosen(question, how) => self.confirmed(question, how),
            Outcome::Picked(cell) if self.keeps_open(&cell.session) => Vec::new(),
            Outcome::Picked(cell) => {
                self.focus = Pane::Rounds;
                let name = cell.session.clone();
                self.picked = Some(cell);
                vec![self.job(Job::Open { name: Some(name) })]
            }
        }
    }

    fn command(&mut self, command: Command) -> Vec<Effect> {
        self.say("");
        match command {
            Command::Up => return self.move_by(-1),
            Command::Down => return self.move_by(1),
            Command::PageUp => return self.move_by(-self.page_step()),
            Command::PageDown => return self.move_by(self.page_step()),
            Command::First => return self.move_by(isize::MIN / 2),
            Command::Last => return self.move_by(isize::MAX / 2),
            Command::NextMatch => return self.move_to_match(1),
            Command::PreviousMatch => return self.move_to_match(-1),
            Command::NextPane | Command::Right | Command::Left => self.move_focus(command),
            Command::Help => self.popups.push(help(self.focus)),
            Command::Quit => return self.quit(),
            Command::Fold(part) => self.page.fold(part),
            Command::Undo => return self.undo(),
            Command::Redo => return self.redo(),
            Command::Open => return self.open(),
            Command::AllProjects => {
                self.sessions.all = !self.sessions.all;
                let all = self.sessions.all;
                return vec![self.job(Job::List { all })];
            }
            Command::Matrix => return vec![self.job(Job::Matrix)],
            Command::Mark => {
                let current = self.sessions.current().map(|entry| entry.id.clone());
                self.sessions.marked =
                    current.filter(|id| self.sessions.marked.as_ref() != Some(id));
                self.say(match &self.sessions.marked {
                    Some(id) => format!(
                        "marked {}; m in the rounds of another session merges the two",
                        short(id)
                    ),
                    None => "no session is marked".to_owned(),
                });
            }
            Command::Select => {
                self.rounds.toggle();
                return self.move_by(1);
            }
            Command::Range => self.rounds.range(),
            Command::SelectAll => self.rounds.select_all(),
            Command::Clear => return self.clear(),
            Command::Search => self.ask(Purpose::Search),
            Command::Tag => self.ask(Purpose::Tag),
            Command::Extract => self.ask(Purpose::Extract),
            Command::Index => return self.fate(&Fate::Index),
            Command::Shrink => return self.fate(&Fate::Shrink),
            Command::Drop => return self.fate(&Fate::Drop),
            Command::Keep => return self.fate(&Fate::Keep),
            Command::Split => {
                return self.plan(self.pending.with_operation(Operation::Split(None), None));
            }
            Command::Merge => return self.merge(),
            Command::Revive => return self.on_session(|name| Job::Revive { name }),
            Command::Advise => return self.on_session(|name| Job::Advise { name }),
            Command::Mend => return self.on_session(|name| Job::Mend { name, is_dry: true }),
            Command::Copy => return self.copy(),
            Command::Make => return self.confirm(),
        }
        Vec::new()
    }

    /// Moves the keys to another pane.
    fn move_focus(&mut self, command: Command) {
        self.focus = match (self.focus, command) {
            (Pane::Round, Command::NextPane) | (Pane::Sessions | Pane::Rounds, Command::Left) => {
                Pane::Sessions
            }
            (Pane::Round, Command::Left) | (Pane::Sessions, _) => Pane::Rounds,
            (Pane::Rounds | Pane::Round, _) => Pane::Round,
        };
    }

    /// A job on the open session, if there is one.
    fn on_session(&mut self, job: impl FnOnce(String) -> Job) -> Vec<Effect> {
        let Some(opened) = &self.rounds.opened else { return Vec::new() };
        let job = job(opened.name.clone());
        vec![self.job(job)]
    }

    fn move_by(&mut self, lines: isize) -> Vec<Effect> {
        let to = |at: usize, count: usize| {
            at.saturating_add_signed(lines.clamp(-1_000_000, 1_000_000))
                .min(count.saturating_sub(1))
        };
        match self.focus {
            Pane::Sessions => {
                self.sessions.cursor = to(self.sessions.cursor, self.sessions.lines.len());
                Vec::new()
            }
            Pane::Rounds => {
                self.rounds.cursor = to(self.rounds.cursor, self.rounds.shown.len());
                self.read_page()
            }
            Pane::Round => {
                let last = self.page.count().saturating_sub(self.page_lines() - 1);
                self.page.top = to(self.page.top, last);
                Vec::new()
            }
        }
    }

    /// The plan in words, as far as the screen shows it.
    pub fn plan_lines(&self) -> Vec<String> {
        let Some(opened) = &self.rounds.opened else { return Vec::new() };
        let limit = opened.scale.as_ref().map(|scale| scale.limit);
        let width = usize::from(self.size.0);
        let lines = self.pending.lines(&opened.session, limit);
        // A command may name thousands of rounds.
        let cut = |line: &String| line.chars().take(PLAN_LINES * width).collect::<String>();
        let mut lines: Vec<String> =
            lines.iter().flat_map(|line| wrap(&cut(line), width)).collect();
        if lines.len() > PLAN_LINES {
            lines.truncate(PLAN_LINES - 1);
            lines.push("…".to_owned());
        }
        lines
    }

    /// How many lines of a list or of a round are on the screen, above a message of one line.
    fn page_lines(&self) -> usize {
        let above = match self.focus {
            Pane::Sessions | Pane::Round => 1,
            Pane::Rounds => usize::from(ABOVE_ROUNDS),
        };
        usize::from(self.size.1).saturating_sub(above + self.plan_lines().len() + 1).max(1)
    }

    /// How far a page key moves: one line stays on the screen.
    fn page_step(&self) -> isize {
        self.page_lines().saturating_sub(1).max(1) as isize
    }

    /// Goes to another match of the search, also from within a round: only matches are listed.
    fn move_to_match(&mut self, lines: isize) -> Vec<Effect> {
        if self.rounds.filter.is_none() {
            self.say("nothing is searched for; / searches");
            return Vec::new();
        }
        if self.rounds.shown.is_empty() {
            self.say("no round matches; Esc lists all rounds again");
            return Vec::new();
        }
        let focus = std::mem::replace(&mut self.focus, Pane::Rounds);
        let effects = self.move_by(lines);
        self.focus = focus;
        self.say(format!("match {} of {}", self.rounds.cursor + 1, self.rounds.shown.len()));
        effects
    }

    /// Ends the viewer, but not in the middle of what it changes, unless this is asked again.
    fn quit(&mut self) -> Vec<Effect> {
        if self.acting == 0 || self.is_leaving {
            return vec![Effect::Quit];
        }
        self.is_leaving = true;
        self.say("finishing the last change; q again quits at once");
        Vec::new()
    }

    /// Opens the session under the cursor.
    fn open(&mut self) -> Vec<Effect> {
        let Some((id, name)) = self.sessions.current().map(|one| (one.id.clone(), list::name(one)))
        else {
            return Vec::new();
        };
        if self.keeps_open(&id) {
            return Vec::new();
        }
        self.focus = Pane::Rounds;
        vec![self.job(Job::Open { name: Some(name) })]
    }

    /// Whether the open session has a plan that another one would end. Says so.
    fn keeps_open(&mut self, other: &str) -> bool {
        let open = self.rounds.opened.as_ref().map(|opened| opened.session.id.clone());
        let Some(open) = open.filter(|open| open != other && !self.pending.is_empty()) else {
            return false;
        };
        self.fail(format!(
            "{} has a plan; in its rounds, Enter carries it out and Esc drops it",
            short(&open)
        ));
        true
    }

    /// Reads the round under the cursor in full.
    fn read_page(&mut self) -> Vec<Effect> {
        let (Some(opened), Some(round)) = (&self.rounds.opened, self.rounds.current()) else {
            self.page = Page::default();
            return Vec::new();
        };
        let (session, seq) = (opened.session.clone(), round.seq);
        vec![self.job(Job::Page { session, seq })]
    }

    /// Leaves a round, or clears the innermost of range, selection, search and plan.
    fn clear(&mut self) -> Vec<Effect> {
        if self.focus == Pane::Round {
            self.focus = Pane::Rounds;
        } else if self.rounds.range_from.take().is_some() {
        } else if !self.rounds.selected.is_empty() {
            self.rounds.selected.clear();
        } else if self.rounds.filter.is_some() {
            return self.search(None);
        } else if !self.pending.is_empty() {
            self.say("the plan is dropped; u takes that back");
            return self.plan(self.pending.emptied());
        }
        Vec::new()
    }

    /// Copies the name of the round under the cursor.
    fn copy(&mut self) -> Vec<Effect> {
        let (Some(opened), Some(round)) = (&self.rounds.opened, self.rounds.current()) else {
            return Vec::new();
        };
        let name = format!("{}:{}", short(&opened.session.id), round.seq);
        self.say(format!("copied {name}; brain-guard show {name} prints the round"));
        vec![Effect::Copy(name)]
    }
}

/// Whether a screen of so many columns and lines is large enough.
pub fn fits((columns, lines): (u16, u16)) -> bool {
    columns >= LEAST.0 && lines >= LEAST.1
}

/// What the signs in the list of sessions mean.
const LEGEND_OF_SESSIONS: &[&str] = &[
    "",
    "●          a client has the session open",
    "m          marked with Space",
    "12 r       12 rounds; behind them, the tokens in the context",
    "1.2 MB     the file, where the session has not been read yet",
    "#name      an engagement that rounds are tagged with",
];

/// What the signs in the list of rounds mean.
const LEGEND_OF_ROUNDS: &[&str] = &[
    "",
    "░ ▒ █      in the bar: system prompt and tools; tables and summaries; rounds",
    "╵narrow    where this tier begins: the guard restricts the agent's tools",
    "▌          selected",
    "i s d x    what is planned for the round",
    "▪▪▪        the round's tokens, beside those of the largest",
    "#name      the engagement that the round is tagged with",
];

/// The keys of a pane.
fn help(pane: Pane) -> Popup {
    let mut groups: Vec<(String, &str)> = Vec::new();
    for binding in keys::TABLE.iter().filter(|binding| binding.panes.contains(&pane)) {
        let key = keys::name(binding.key, binding.is_ctrl);
        match groups.last_mut() {
            Some((keys, about)) if *about == binding.about => {
                keys.push(' ');
                keys.push_str(&key);
            }
            _ => groups.push((key, binding.about)),
        }
    }
    let lines = groups.iter().map(|(keys, about)| format!("{keys:<9}  {about}"));
    let legend: &[&str] = match pane {
        Pane::Sessions => LEGEND_OF_SESSIONS,
        Pane::Rounds => LEGEND_OF_ROUNDS,
        Pane::Round => &[],
    };
    let lines = lines.chain(legend.iter().map(|line| (*line).to_owned()));
    Popup::text(&format!("Keys of {}", pane.name()), lines.collect())
}
