//! Writers and importers, killed at random.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::roles;
use crate::store::Played;
use crate::store::made::{self, Dice, PER_WRITER};
use crate::store::scene::Scene;

/// Ten sessions each, so a hundred.
const WRITERS: u64 = 10;

/// The maximum duration.
const DEADLINE: Duration = Duration::from_secs(300);

/// A process that is restarted if it ends too early.
struct Player {
    start: Box<dyn Fn() -> Command>,
    child: Child,
    /// Whether it ends by itself.
    ends: bool,
    done: bool,
}

impl Player {
    fn new(ends: bool, start: impl Fn() -> Command + 'static) -> Self {
        let child = spawn(&start());
        Self { start: Box::new(start), child, ends, done: false }
    }

    /// Restarts it if it ended too early.
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
        // It may have just ended.
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

/// The minimum number of kills of each kind.
const LEAST: u32 = 10;

pub fn run() -> Played {
    let scene = Scene::new();
    let mut players: Vec<Player> = Vec::new();
    for seed in 0..WRITERS {
        let folder = scene.files();
        players.push(Player::new(true, move || {
            let mut command = roles::command(&["write"]);
            command.arg(&folder).arg(seed.to_string());
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
        // Writers may finish before enough of them are killed at random.
        let due = |at: &usize| !players[*at].done && kills[usize::from(players[*at].ends)] < LEAST;
        let due: Vec<usize> = (0..players.len()).filter(due).collect();
        let of = if due.is_empty() { players.len() } else { due.len() };
        let at = dice.roll(of as u64) as usize;
        let at = due.get(at).copied().unwrap_or(at);
        // A killed writer computes its sessions again, which takes longer than to continue.
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
    let [importers, writers] = kills;
    println!("store: {importers} importers and {writers} writers killed");
    if let Some(fault) = fault {
        return Err(fault);
    }
    if importers < LEAST || writers < LEAST {
        return Err("hardly anything was killed".to_owned());
    }
    scene.judge(0..WRITERS * PER_WRITER)
}

/// Shows that the judge can find faults.
pub fn control() -> Played {
    let scene = Scene::new();
    for number in 0..3 {
        let path = made::file(&scene.files(), number);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let text = made::text(number);
        let cut = if number == 1 { 40 } else { 0 };
        fs::write(path, &text[cut..]).expect("written");
    }
    match scene.judge(0..3) {
        Err(why) if why.contains("not what was written") => Ok(()),
        other => Err(format!("{other:?}")),
    }
}
