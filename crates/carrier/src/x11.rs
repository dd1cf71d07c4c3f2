//! The client's X11 window: proves which one it is, and sends keys to it. `WINDOWID` is never
//! trusted: terminals pass it on to their children, and tmux keeps that of the terminal it was
//! started in.

mod act;
mod display;
mod keys;
mod looks;
mod pty;
mod window;

use crate::terminal::{Refusal, Terminal};
use base::env::Env;
use guard::boundary::Client;
use guard::files::state;
use guard::session::reach::X11Display;

use display::Display;
use looks::Managed;
use pty::Pty;

pub use window::{Options, Touched, Window};

/// Finds the client's window without touching anything. Takes some milliseconds, or less than two
/// seconds if the display does not answer.
///
/// # Errors
/// The proof that failed, in words for the user.
pub fn find(env: &Env, client: Client) -> Result<X11Display, Refusal> {
    let never = |why| Err(Refusal::never(why));
    if env.os("WAYLAND_DISPLAY").is_some() {
        return never("the X11 carrier does not work under Wayland (WAYLAND_DISPLAY is set)");
    }
    if env.get("XDG_SESSION_TYPE").as_deref() == Some("wayland") {
        return never("the X11 carrier does not work under Wayland (XDG_SESSION_TYPE is wayland)");
    }
    let Some(name) = env.get("DISPLAY") else {
        return never("no X11 display (DISPLAY is not set)");
    };
    if state::client(client.pid) != Some(client) {
        return never("the client ended");
    }
    let pty = Pty::for_process(client.pid)?;
    let display = Display::connect(&name)?;
    own(display.managed()?, &pty.holders(client.pid))?;
    Ok(X11Display { display: name, authority: env.get("XAUTHORITY") })
}

/// Opens the client's window.
///
/// # Errors
/// The client is gone, or the display does not answer.
pub fn open(
    place: X11Display,
    client: Client,
    options: Options,
) -> Result<Box<dyn Terminal>, Refusal> {
    Ok(Box::new(Window::open(place, client, options)?))
}

/// The windows of the process that holds the other end of the client's terminal. The error names
/// that process.
fn own(managed: Vec<Managed>, holders: &[u32]) -> Result<Vec<u32>, Refusal> {
    if holders.is_empty() {
        let why = "no process that brain-guard can inspect holds the client's terminal";
        return Err(Refusal::never(why));
    }
    let of_holder = |w: &Managed| w.pid.is_some_and(|pid| holders.contains(&pid));
    let windows: Vec<u32> = managed.into_iter().filter(of_holder).map(|w| w.id).collect();
    if windows.is_empty() {
        let names: Vec<String> = holders.iter().map(|pid| pty::name(*pid)).collect();
        let names = names.join(" and ");
        let why = format!("the client's terminal is held by {names}, which has no window here");
        return Err(Refusal::Never(why));
    }
    Ok(windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_window_of_the_holder_is_the_clients() {
        let ids = |holders: &[u32]| {
            own([(1, 11), (2, 12)].map(|(id, pid)| Managed { id, pid: Some(pid) }).into(), holders)
        };
        assert_eq!(ids(&[12]), Ok(vec![2]));
        let why = ids(&[99]).unwrap_err().to_string();
        assert!(why.contains("99") && why.contains("no window"), "{why}");
        assert!(ids(&[]).is_err());
    }

    #[test]
    fn without_a_display_or_under_wayland_nothing_is_looked_at() {
        let client = state::client(std::process::id()).unwrap();
        let why = |env: Env| find(&env, client).unwrap_err().to_string();
        assert!(why(Env::from_pairs([])).contains("DISPLAY is not set"));
        assert!(
            why(Env::from_pairs([("DISPLAY", ":0"), ("WAYLAND_DISPLAY", "w")])).contains("Wayland")
        );
        let session = [("DISPLAY", ":0"), ("XDG_SESSION_TYPE", "wayland")];
        assert!(why(Env::from_pairs(session)).contains("XDG_SESSION_TYPE"));
    }
}
