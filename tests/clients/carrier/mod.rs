//! The terminal carriers against the real client.

mod tmux;
mod tmux_acts;
mod x11;

use std::collections::BTreeMap;

use base::env::Env;
use carrier::terminal::{PromptBox, Readable as _, Terminal as _};
use carrier::tmux::{Pane, find};
use guard::files::state;

use crate::support::client::Tui;
use crate::support::world::World;

/// Finds the client's pane as a hook does: by the client's environment.
fn pane(tui: &Tui) -> Pane {
    let client = state::client(tui.pid()).expect("the client runs");
    let environment = std::fs::read(format!("/proc/{}/environ", client.pid)).expect("its own");
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let pairs = environment.split('\0').filter_map(|pair| pair.split_once('='));
    let pairs: BTreeMap<String, String> =
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let place = find(&Env::Map(pairs), client).expect("the client's own pane");
    Pane::open(place, client).expect("the client's own pane")
}

#[track_caller]
fn wait_box(world: &World, pane: &mut Pane, wanted: &PromptBox) {
    world.wait(&format!("box {wanted:?}"), || {
        (pane.prompt_box().as_ref() == Ok(wanted)).then_some(())
    });
}

/// Waits until the pane's idle state equals `idle`.
#[track_caller]
fn wait_idle(world: &World, pane: &mut Pane, idle: bool) {
    world.wait(&format!("idle: {idle}"), || (pane.idle() == Ok(idle)).then_some(()));
}

fn holds(text: &str) -> PromptBox {
    PromptBox::Holds(text.to_owned())
}
