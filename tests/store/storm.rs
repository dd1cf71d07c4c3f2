//! Writers and inscribers, killed at random.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::End;
use crate::made::{self, Dice, PER_WRITER, WRITER};
use crate::scene::Scene;

/// Writers: a hundred sessions.
const WRITERS: u64 = 10;

/// The longest that it may take.
const DEADLINE: Duration = Duration::from_secs(300);

/// A process that is started again when it ended before its work was done.
struct Player {
    start: Box<dyn Fn() -> Command>,
    child: Child,
    /// It has an end of its own.
    ends: bool,
    done: bool,
}

impl Player {
    fn new(ends: bool, start: impl Fn() -> Command + 'static) -> Self {
        let child = spawn(&start());
        Self { start: Box::new(start), child, ends, done: false }
    }

    /// Starts it again where it ended before its time.
    fn tend(&mut self) -> Result<(), String> {
        let Some(status) = (if self.done { None } else { self.child.try_wait().expect("a child") })
        else {
            return Ok(());
        };
        match status.code() {
            Some(0) if self.ends => self.done = true,
            Some(code) if code != 0 => return Err(format!("a process ended with {code}")),
            _ => self.child = spawn(&(self.start)()),
        }
        Ok(())
    }

    fn kill(&mut self) {
        // It may have ended by itself in this moment.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(command: &Command) -> Child {
    let mut again = Command::new(command.get_program());
    again.args(command.get_args()).env_clear();
    again.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    again.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("started")
}

/// How many of each are killed at least.
const LEAST: u32 = 10;

/// The case.
pub fn run() -> End {
    let scene = Scene::new();
    let mut players: Vec<Player> = Vec::new();
    for seed in 0..WRITERS {
        let folder = scene.files();
        players.push(Player::new(true, move || {
            let mut command = Command::new(std::env::current_exe().expect("own path"));
            command.arg(WRITER).arg(&folder).arg(seed.to_string());
            command
        }));
    }
    for args in [&["import", "--all"][..], &["import", "--all"], &["import", "--watch"]] {
        let command = scene.command(args);
        players.push(Player::new(false, move || {
            let mut again = Command::new(command.get_program());
            again.args(command.get_args());
            again.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            again
        }));
    }
    let began = Instant::now();
    let mut dice = Dice::new(7);
    let mut kills = [0, 0];
    let mut fault = None;
    while fault.is_none() && players.iter().any(|player| player.ends && !player.done) {
        std::thread::sleep(Duration::from_millis(5 + dice.roll(40)));
        // Writers may be done before chance has met enough of them.
        let due = |at: &usize| !players[*at].done && kills[usize::from(players[*at].ends)] < LEAST;
        let due: Vec<usize> = (0..players.len()).filter(due).collect();
        let of = if due.is_empty() { players.len() } else { due.len() };
        let at = dice.roll(of as u64) as usize;
        let at = due.get(at).copied().unwrap_or(at);
        // A writer that was killed makes its sessions up anew, which takes longer than to go on.
        let spared = players[at].ends && kills[1] >= LEAST && dice.roll(2) == 0;
        if !players[at].done && !spared {
            players[at].kill();
            kills[usize::from(players[at].ends)] += 1;
        }
        fault = players.iter_mut().find_map(|player| player.tend().err());
        if began.elapsed() > DEADLINE {
            fault = Some("the sessions were not written in time".to_owned());
        }
    }
    players.iter_mut().for_each(Player::kill);
    let [inscribers, writers] = kills;
    println!("store: {inscribers} inscribers and {writers} writers killed");
    if let Some(fault) = fault {
        return End::Failed(fault);
    }
    if inscribers < LEAST || writers < LEAST {
        return End::Failed("hardly anything was killed".to_owned());
    }
    scene.judge(0..WRITERS * PER_WRITER).map_or_else(End::Failed, |()| End::Passed)
}

/// A judge that finds nothing would find nothing here either.
pub fn control() -> End {
    let scene = Scene::new();
    for number in 0..3 {
        let path = made::file(&scene.files(), number);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let text = made::text(number);
        let cut = if number == 1 { 40 } else { 0 };
        fs::write(path, &text[cut..]).expect("written");
    }
    match scene.judge(0..3) {
        Err(why) if why.contains("not what was written") => End::Passed,
        other => End::Failed(format!("{other:?}")),
    }
}
