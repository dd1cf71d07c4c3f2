//! The agent tries to disable the guard: by shell, file tools and others, openly and hidden. Calls
//! that pass are really run, without the client's mark, and the guard must stay intact. What works
//! must be named in `docs/security.md`. Harmless look-alikes must pass.

mod attempt;
mod files;
mod forged;
mod harmless;
mod history;
mod left;
mod others;
mod scene;
mod shell;
mod squeezed;

use std::process::Command;

use attempt::{Attempt, Outcome};
use scene::Scene;

/// A test for each list of attempts.
macro_rules! lists {
    ($($name:ident: $list:expr;)+) => {
        $(#[test]
        fn $name() {
            let faults: Vec<String> = $list.iter().filter_map(fault).collect();
            assert!(faults.is_empty(), "{}", faults.join("\n"));
        })+
    };
}

lists! {
    shell_commands_do_not_lift_the_guard: shell::all();
    file_tools_do_not_lift_the_guard: files::all();
    other_tools_do_not_lift_the_guard: others::all();
    history_verbs_do_not_lift_the_guard: history::all();
    blocked_tools_stay_blocked: squeezed::all();
    forged_events_do_not_lift_the_guard: forged::all();
    what_is_left_works_as_documented: left::all();
}

fn fault(attempt: &Attempt) -> Option<String> {
    match attempt.make() {
        Outcome::Through(how) => Some(format!("got through: {}: {how}", attempt.name)),
        Outcome::Missing(what) => Some(format!("{} needs {what}", attempt.name)),
        Outcome::Denied | Outcome::InVain | Outcome::Left => None,
    }
}

#[test]
fn what_is_left_is_documented() {
    let lists =
        [shell::all(), files::all(), others::all(), history::all(), forged::all(), left::all()];
    let attempts: Vec<Attempt> = lists.into_iter().flatten().collect();
    let faults = left::undocumented(&attempts);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn harmless_commands_pass() {
    for (name, tool, input) in harmless::all() {
        if let Outcome::Through(how) = harmless::make(tool, &input) {
            panic!("refused: {name}: {how}");
        }
    }
}

/// The commands that hide the override from the hook work in a session whose client is elsewhere.
#[test]
fn control_hidden_overrides_work_without_a_client_above_them() {
    let mut client = Command::new("sleep").arg("600").spawn().expect("a client");
    let idle: Vec<&str> = shell::hidden()
        .filter(|(_, command)| {
            let scene = Scene::beside(client.id());
            let command = scene.text(command);
            if scene.hook.bash(&command).verdict() == "deny" {
                return false;
            }
            scene.run(&command);
            scene.overridden().is_none()
        })
        .map(|(name, _)| name)
        .collect();
    let _ = client.kill();
    let _ = client.wait();
    assert!(idle.is_empty(), "no override even where nothing refuses it: {idle:?}");
}
