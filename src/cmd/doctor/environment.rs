//! Checks the state folder, the settings, the client's environment and its compaction, and the
//! terminal.

use std::path::Path;

use rustix::fs::{Access, access};

use super::{Finding, World};
use base::shown::group_thousands;
use carrier::reach;
use guard::boundary::Carrier;
use guard::boundary::CarrierChoice;
use guard::files::state;
use guard::hook::limits;
use guard::hook::surroundings;
use guard::policy::limit::{LEAST_WINDOW, Limit, LimitSource, Limits, parse_tokens};
use guard::session::reach::{Reach, Way};
use guard::settings::Model;
use guard::settings::layers::{Diagnostic, MAX_REPORTED};
use sessions::gauge::{Window, WindowSource};

/// The model window that the compaction check assumes.
const WINDOW: u64 = 1_000_000;

/// A tier above this percentage may come too late: the client compacts at 100.
const LATEST_TIER: f64 = 95.0;

/// All checks of this module except the terminal.
pub fn look(world: &World) -> Vec<Finding> {
    let mut found = vec![state_folder(&world.places.state)];
    found.extend(settings(world));
    found.extend(environment(world));
    found.push(compaction(world));
    found
}

fn state_folder(folder: &Path) -> Finding {
    let there = folder.ancestors().find(|dir| dir.exists()).unwrap_or(folder);
    let shown = folder.display();
    match access(there, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Finding::ok("state", format!("{shown} can be written")),
        Err(e) => Finding::problem(
            "state",
            format!(
                "{shown} can't be written ({e}), so nothing is blocked and no session is continued"
            ),
            format!("make {} yours and writable", there.display()),
        ),
    }
}

fn settings(world: &World) -> Vec<Finding> {
    if world.diagnostics.is_empty() {
        return vec![Finding::ok("settings", "every key is known")];
    }
    let problem = |d: &Diagnostic| Finding::problem("settings", &d.message, &d.way_out);
    let more = world.diagnostics.len().saturating_sub(MAX_REPORTED);
    let more = (more > 0).then(|| Diagnostic::more(more));
    world.diagnostics.iter().take(MAX_REPORTED).chain(&more).map(problem).collect()
}

fn environment(world: &World) -> Vec<Finding> {
    let set = |name: &str| world.env.get(name).is_some_and(|value| value != "0");
    let mut found = Vec::new();
    if set("CLAUDE_CODE_SIMPLE") {
        let seen = "CLAUDE_CODE_SIMPLE makes the client load no plugin";
        found.push(Finding::problem("environment", seen, "unset it"));
    }
    if set("CLAUDE_CODE_DISABLE_TERMINAL_TITLE") {
        let seen = "CLAUDE_CODE_DISABLE_TERMINAL_TITLE takes the sign of idleness from the \
                    terminal's title, which the carriers tmux and x11 wait for";
        found.push(Finding::note("environment", seen, "unset it"));
    }
    found.extend(compact_window(world));
    if found.is_empty() {
        found.push(Finding::ok("environment", "no variable is in the way"));
    }
    found
}

/// A value that the client does not take as it is written.
fn compact_window(world: &World) -> Option<Finding> {
    const NAME: &str = "CLAUDE_CODE_AUTO_COMPACT_WINDOW";
    let value = world.env.get(NAME)?;
    let seen = match parse_tokens(&value) {
        Some(tokens) if tokens >= LEAST_WINDOW => return None,
        Some(_) => format!("{NAME}={value} counts as {}", group_thousands(LEAST_WINDOW)),
        None => format!("{NAME}={value} is not a number, so the client ignores it"),
    };
    let way = format!("unset {NAME}, or set it to 100000 or more, such as 150k");
    Some(Finding::problem("environment", seen, way))
}

fn compaction(world: &World) -> Finding {
    let session = world.session.clone();
    let name = session.as_ref().and_then(|s| s.model.clone());
    let name = name.as_deref();
    let read = || limits::configured(&world.places, world.env, None, name);
    let limits = Limits {
        environment: surroundings::current(world.env, &session.clone().unwrap_or_default())
            .auto_compact,
        configured: session.as_ref().map_or_else(read, |s| s.configured),
        client: session.as_ref().and_then(|s| s.reported_limit),
    };
    let window = Window { tokens: WINDOW, source: WindowSource::Agreed, certain: true };
    let Limit { tokens: limit, source } = limits.for_window(&window);
    let ramp = world.settings.for_model(&Model { name, window: WINDOW }).ramp(limit);
    let last = ramp.tiers().last().map_or(0.0, |tier| tier.context);
    if matches!(source, LimitSource::OffByVariable | LimitSource::Off(_)) {
        let seen = format!(
            "{source}: the limit is the whole window, and nothing catches a session that outruns its last tier"
        );
        return Finding::note("compaction", seen, "turn auto-compact on in /config");
    }
    let at = format!(
        "at {} tokens of a window of {} ({source})",
        group_thousands(limit),
        group_thousands(WINDOW)
    );
    if last > LATEST_TIER {
        return Finding::problem(
            "compaction",
            format!("the client compacts {at}; the last tier is at {last:.0} % of that"),
            format!("put the tier at {LATEST_TIER:.0} % or below"),
        );
    }
    let seen = format!("the client compacts {at}; the last tier is at {last:.0} % of that");
    if source == LimitSource::Window {
        return Finding::ok("compaction", seen);
    }
    Finding::note("compaction", seen, format!("change or unset {source} for more room"))
}

/// The terminals around the session, as its hooks or this process can see them.
pub fn reach(world: &World) -> Option<Reach> {
    let client = world.env.client_pid().and_then(state::client);
    client
        .map(|client| reach::look(world.env, client))
        .or_else(|| world.session.as_ref()?.reach.clone())
}

/// Checks `boundary.command` if the settings choose it. A bare name is not checked, because the
/// client may have another `PATH`.
fn own_program(world: &World) -> Option<Finding> {
    let boundary = &world.settings.boundary;
    if boundary.carrier != CarrierChoice::Command {
        return None;
    }
    let Some(program) = boundary.command.first() else {
        let seen = "boundary.carrier asks for command, and boundary.command is empty";
        let way = "name your program there, or set boundary.carrier to \"auto\"";
        return Some(Finding::problem("terminal", seen, way));
    };
    let path = world.places.project.join(program);
    Some(match access(&path, Access::EXEC_OK) {
        Err(e) if program.contains('/') => Finding::problem(
            "terminal",
            format!("{} of boundary.command can't be run: {e}", path.display()),
            "put your program there and make it executable",
        ),
        _ => Finding::ok("terminal", format!("{program} of boundary.command clears the session")),
    })
}

/// Which carriers could reach the client's terminal.
pub fn terminal(world: &World) -> Vec<Finding> {
    vec![own_program(world).unwrap_or_else(|| carriers(world))]
}

fn carriers(world: &World) -> Finding {
    let Some(reach) = reach(world) else {
        let seen =
            "no session lives in this project; `brain-guard carrier probe` tells of this terminal";
        return Finding::ok("terminal", seen);
    };
    let word = |name: &str, why: Option<String>| match why {
        None => format!("{name} can be used"),
        Some(why) => format!("{name} can't: {why}"),
    };
    let shut = [(Carrier::Tmux, closed(&reach.tmux)), (Carrier::X11, closed(&reach.x11))];
    let wanted = |carrier: Carrier| {
        matches!(
            (world.settings.boundary.carrier, carrier),
            (CarrierChoice::Tmux, Carrier::Tmux) | (CarrierChoice::X11, Carrier::X11)
        )
    };
    let missing = shut.iter().find(|(carrier, why)| wanted(*carrier) && why.is_some());
    let seen: Vec<String> = shut.iter().map(|(c, why)| word(c.name(), why.clone())).collect();
    let seen = seen.join("; ");
    match missing {
        Some((carrier, _)) => Finding::problem(
            "terminal",
            seen,
            format!("boundary.carrier asks for {}; set it to \"auto\"", carrier.name()),
        ),
        None => Finding::ok("terminal", seen),
    }
}

fn closed<T>(way: &Way<T>) -> Option<String> {
    match way {
        Way::Open(_) => None,
        Way::Shut(why) => Some(why.clone()),
    }
}
