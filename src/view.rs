//! `view`: sessions, their rounds, and what becomes of them, on the whole terminal. It stands on the
//! verbs: `jobs` calls what they call.
#![allow(clippy::disallowed_methods, reason = "the viewer is an edge")]

mod app;
mod context;
mod draw;
mod jobs;
mod keys;
mod message;
mod plan;
mod popup;
mod round;
mod sessions;
mod terminal;
mod theme;
mod worker;

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use anyhow::bail;
use crossterm::event;
use signal_hook::consts::{SIGHUP, SIGTERM};

use self::app::{App, Effect};
use self::message::Message;
use self::terminal::Screen;
use self::theme::Theme;
use self::worker::Worker;
use crate::cli::ViewArgs;
use crate::cmd::{Context, Exit, Failure, import, out, selector};
use base::clock;

/// Time between two looks at a session that may be growing.
const TICK: Duration = Duration::from_secs(1);

/// Runs the viewer until the user quits.
///
/// # Errors
/// No terminal.
pub fn run(args: &ViewArgs, context: Context) -> anyhow::Result<Exit> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::usage("`view` needs a terminal")
            .hint("brain-guard sessions and brain-guard rounds print lists")
            .into());
    }
    let Context { env, .. } = context;
    if let Some(name) = &args.session {
        // Better said here than in an empty viewer. The store has sessions whose file is gone.
        let is_stored =
            || import::root(env).is_ok_and(|root| root.find(name).is_ok_and(|all| !all.is_empty()));
        match selector::file(env, name) {
            Ok(file) if !file.exists() => bail!("there is no file {}", file.display()),
            Err(why) if !is_stored() => return Err(why),
            _ => {}
        }
    }
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    let theme = Theme { color: env.get("NO_COLOR").is_none_or(|value| value.is_empty()) };
    let (sender, messages) = mpsc::channel();
    let front = Worker::spawn(env.clone(), sender.clone());
    let back = Worker::spawn(env.clone(), sender.clone());
    let mut screen = Screen::open()?;
    read_input(sender);
    let is_tmux = env.get("TMUX").is_some();
    let mut app = App::new(args.all);
    let mut effects = app.begin(args.session.clone());
    loop {
        for effect in effects.drain(..) {
            match effect {
                Effect::Quit => {
                    drop(screen);
                    if let Some(line) = &app.farewell {
                        out(line);
                    }
                    return Ok(Exit::Done);
                }
                Effect::Job(job) => {
                    let worker = if job.is_slow() { &back } else { &front };
                    app.drop_jobs(worker.send(job));
                }
                Effect::Copy(text) => terminal::copy(&text, is_tmux),
            }
        }
        screen.draw(|buffer| {
            app.size = (buffer.area().width, buffer.area().height);
            draw::draw(buffer, &app, theme, clock::now());
        })?;
        let message = match messages.recv_timeout(TICK) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => Message::Tick,
            Err(RecvTimeoutError::Disconnected) => bail!("a part of the viewer has ended"),
        };
        if ended.load(Ordering::SeqCst) {
            return Ok(Exit::Done);
        }
        effects.extend(app.update(message));
        while let Ok(message) = messages.try_recv() {
            effects.extend(app.update(message));
        }
    }
}

/// Sends what is typed.
fn read_input(messages: Sender<Message>) {
    thread::spawn(move || {
        while let Ok(event) = event::read() {
            if messages.send(Message::Input(event)).is_err() {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests;
