//! The waiter: one detached process a boundary, with a deadline and an eye on
//! the client, that ends what got stuck. No daemon: it watches one token and goes.
#![allow(clippy::disallowed_methods, reason = "carriers start and watch processes")]

use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::boundary::{Carrier, LATE, Step, Token};
use crate::clock::{self, Time};
use crate::env::Env;
use crate::settings::BoundarySettings;
use crate::store::paths::Places;
use crate::store::{atomic, boundary, state};

/// The longest a waiter lives.
const DEADLINE_MINUTES: i64 = 45;

/// Starts the waiter of a token, unless it has one.
///
/// # Errors
/// What the system says of starting it.
pub fn start(env: &Env, places: &Places, token: &str) -> io::Result<()> {
    if !atomic::claim(&places.token(token).with_extension("waiter"))? {
        return Ok(());
    }
    let program = env.program().ok_or_else(|| io::Error::other("own path unknown"))?;
    Command::new(program)
        .args(["waiter", token, "--project"])
        .arg(&places.project)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}

/// Watches a token to its end. Runs in a process of its own, in a session of its
/// own, so that it outlives the hook and no signal to the client's group ends it.
///
/// # Errors
/// What the system says of the token's file.
pub fn watch(places: &Places, id: &str, settings: &BoundarySettings) -> io::Result<()> {
    // Fails only for a process that leads a group already, which is as good.
    let _ = rustix::process::setsid();
    let deadline = clock::now() + chrono::Duration::minutes(DEADLINE_MINUTES);
    loop {
        let now = clock::now();
        let gone = |t: &Token| t.client.is_some_and(|c| state::client(c.pid) != Some(c));
        let live = boundary::update(places, id, |token| {
            if let Some(why) = stuck(token, gone(token), now, settings) {
                token.fail(why, now);
            }
            token.live()
        })?;
        if live != Some(true) || now >= deadline {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Why a token will get no further, if so.
fn stuck(
    token: &Token,
    client_gone: bool,
    now: Time,
    settings: &BoundarySettings,
) -> Option<&'static str> {
    let step = chrono::Duration::seconds(settings.step_seconds.clamp(1, 3600) as i64);
    let spent = now - token.since;
    let patience = chrono::Duration::seconds(
        settings.attended_notice_seconds.saturating_add(settings.agents_wait_seconds).min(86_400)
            as i64,
    );
    match token.step {
        _ if client_gone && token.step < Step::Delivered => Some("the client ended"),
        Step::Pending
            if token.carrier == Carrier::Mod && !token.cancelled && spent > patience + step =>
        {
            Some("the plugin's module did not act")
        }
        Step::Clearing if spent > step => Some(LATE),
        Step::Cleared if spent > step * 3 => Some("the file was not delivered in time"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::tests::token;

    #[test]
    fn each_step_has_its_time() {
        let settings = BoundarySettings::default();
        let at = |step, seconds, gone| {
            let t = token(step);
            stuck(&t, gone, t.since + chrono::Duration::seconds(seconds), &settings)
        };
        assert_eq!(at(Step::Pending, 600, false), None);
        assert!(at(Step::Pending, 700, false).is_some());
        assert_eq!(at(Step::Clearing, 20, false), None);
        assert!(at(Step::Clearing, 21, false).is_some());
        assert!(at(Step::Cleared, 61, false).is_some());
        assert_eq!(at(Step::Delivered, 99_999, true), None);
        assert_eq!(at(Step::Pending, 1, true), Some("the client ended"));
    }
}
