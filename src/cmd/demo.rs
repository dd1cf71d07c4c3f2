//! `demo`: plays a whole session through the plugin's installed hooks, with a scripted agent, no
//! model and no network. It acts as the client and as the plugin's module. Every stage checks the
//! hooks' answers and the files on disk.

mod child;
mod clearing;
mod client;
mod look;
mod plugin;
mod reply;
mod screen;
mod squeeze;
mod stage;
mod tools;
mod transcript;
mod turn;
mod world;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use self::clearing::Carried;
use self::client::Client;
use self::plugin::Plugin;
use self::screen::Screen;
use self::stage::{Results, Stop};
use self::world::World;
use super::Exit;
use base::env::Env;

/// Time limit for the demo.
const PATIENCE: Duration = Duration::from_secs(24);

enum Act {
    /// In the first session.
    Squeeze(fn(&mut Client, &mut Screen) -> Result<(), Stop>),
    /// From one session into the next.
    Cross(fn(&mut Client, &mut Screen, &mut Carried) -> Result<(), Stop>),
}

const STAGES: [(&str, Act); 18] = [
    ("the session is taken note of", Act::Squeeze(squeeze::start)),
    ("module and program fit", Act::Squeeze(squeeze::module)),
    ("below 20 %: measured, silent", Act::Squeeze(squeeze::silence)),
    ("20 %: one note, nothing blocked", Act::Squeeze(squeeze::coach)),
    ("25 %: reads blocked, edits work", Act::Squeeze(squeeze::reads)),
    ("25 %: re-reads and output in part", Act::Squeeze(squeeze::parts)),
    ("30 %: only the file can be moved", Act::Squeeze(squeeze::narrow)),
    ("an empty seal clears nothing", Act::Squeeze(squeeze::bare_seal)),
    ("no turn ends unsealed", Act::Squeeze(squeeze::unsealed)),
    ("notes arrive in the file", Act::Squeeze(squeeze::notes)),
    ("the seal holds", Act::Squeeze(squeeze::seal)),
    ("after the seal the turn ends", Act::Squeeze(squeeze::after_seal)),
    ("a notice, then the word to clear", Act::Cross(clearing::notice)),
    ("the session is cleared", Act::Cross(clearing::clear)),
    ("the file is delivered whole", Act::Cross(clearing::deliver)),
    ("the new session is free", Act::Cross(clearing::free)),
    ("no second turn is started", Act::Cross(clearing::watcher)),
    ("the log tells it, without a fault", Act::Cross(clearing::log)),
];

/// Plays a session through the plugin in `plugin`.
///
/// # Errors
/// No plugin there, or no temporary folder.
pub fn run(env: &Env, plugin: &Path) -> anyhow::Result<Exit> {
    let stdout = io::stdout();
    let terminal = stdout.is_terminal();
    let colour =
        terminal && env.get("NO_COLOR").is_none() && env.get("TERM").is_none_or(|t| t != "dumb");
    play(env, plugin, &mut stdout.lock(), colour, terminal)
}

fn play(
    env: &Env,
    plugin: &Path,
    out: &mut dyn Write,
    colour: bool,
    paced: bool,
) -> anyhow::Result<Exit> {
    // Hooks run in the project, where a relative path would be wrong.
    let root =
        std::path::absolute(plugin).with_context(|| format!("no folder {}", plugin.display()))?;
    let plugin = Plugin::read(&root)?;
    let world = World::new(env)?;
    let mut screen = Screen::new(out, colour, paced);
    screen.line(&format!("a session through the hooks in {}", root.display()));
    screen.line("context usage, 0 to 36 %; ¦ marks the tiers at 20, 25 and 30 %\n");
    screen.stand_in(&world.project);
    let mut client = Client::new(&plugin, &world, Instant::now() + PATIENCE);
    let mut carried = Carried::default();
    let mut results = Results::default();
    let mut over = false;
    for (name, act) in STAGES {
        if over {
            results.add(name, Some(&"not played, since the play ended above"));
            continue;
        }
        let played = match act {
            Act::Squeeze(act) => act(&mut client, &mut screen),
            Act::Cross(act) => act(&mut client, &mut screen, &mut carried),
        };
        results.add(name, played.as_ref().err().map(|e| e as &dyn std::fmt::Display));
        if let Err(Stop::Fault(_)) = &played {
            over = true;
        }
    }
    drop(client);
    screen.line("");
    results.print(&mut screen);
    if results.all_ok() {
        screen.line("Every stage happened.");
        return Ok(Exit::Done);
    }
    screen.line("Some stages failed; `brain-guard install` puts the plugin in place anew.");
    Ok(Exit::Refused)
}
