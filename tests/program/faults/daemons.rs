//! G: processes that outlive their use. There is no daemon, and each boundary's waiter ends.

use std::fs;

use crate::faults::case::{self, Case};
use crate::faults::scene::{self, Client};
use crate::faults::tally::Tally;
use crate::support::hook::{Hook, percent_in};

pub const CASES: &[Case] = &[
    ("G waiter: one a boundary, however often the turn ends", one_waiter),
    ("G waiter: it ends with its client", ends_with_the_client),
    ("G waiter: one that was killed has a successor at the turn's end", killed_waiter),
    ("G pid: the number of a client that is gone, given to another process", reused_pid),
    ("G pid: a client's number that is not a number", odd_pids),
    ("G daemon: an ordinary session leaves no process behind", nothing_left),
];

/// The processes with this word in their arguments.
fn processes(word: &str) -> Vec<u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let arguments = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let named = |pid: &u32| {
        arguments(pid).split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    };
    pids.filter(named).collect()
}

fn one_waiter(t: &mut Tally) {
    let (hook, token) = scene::sealed(t);
    for _ in 0..5 {
        t.allow(&hook, &case::stop(&hook));
    }
    t.check(scene::in_time(|| processes(&token).len() == 1), format!("{:?}", processes(&token)));
}

/// A sealed session, in another client.
fn elsewhere(t: &mut Tally, client: &Client) -> (Hook, Hook, String) {
    let first = t.begun();
    let hook = first.beside(&scene::id(2), client.pid());
    t.silence(&hook, &case::start(&hook, "startup"));
    hook.fill(5.0);
    t.silence(&hook, &case::read(&hook));
    hook.fill(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    hook.agent("brain-guard append --kind next 'one thing'");
    hook.agent("brain-guard seal");
    let token = hook.state()["token"].as_str().expect("token").to_owned();
    (first, hook, token)
}

fn ends_with_the_client(t: &mut Tally) {
    let client = Client::new();
    let (_first, _hook, token) = elsewhere(t, &client);
    t.check(scene::in_time(|| processes(&token).len() == 1), "no waiter");
    drop(client);
    t.check(scene::in_time(|| processes(&token).is_empty()), "it lives on");
}

fn killed_waiter(t: &mut Tally) {
    let (hook, token) = scene::sealed(t);
    t.check(scene::in_time(|| processes(&token).len() == 1), "no waiter");
    for pid in processes(&token) {
        let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
    }
    t.check(scene::in_time(|| processes(&token).is_empty()), "not killed");
    t.allow(&hook, &case::stop(&hook));
    t.check(scene::in_time(|| processes(&token).len() == 1), "no successor");
}

fn reused_pid(t: &mut Tally) {
    let (hook, token) = scene::sealed(t);
    let places = hook.places();
    scene::change(&places.token(&token), |token| token["client"]["start"] = 1.into());
    t.check(scene::in_time(|| processes(&token).is_empty()), "it watches a stranger");
    // The next session has the same pid but another start time, so nothing is carried into it.
    let seat = places.session(&format!("client-{}", std::process::id()), "seat");
    scene::change(&seat, |seat| seat["client"]["start"] = 1.into());
    let next = scene::after_clear(&hook, 2);
    let answer = t.allow(&next, &case::start(&next, "clear"));
    t.check(!scene::carries(&answer), "a stranger's file came");
}

fn odd_pids(t: &mut Tally) {
    for pid in ["0", "1", "-1", "4194304", "99999999999999999999", "many", "1\n2"] {
        let mut hook = Hook::new();
        hook.set("CLAUDE_PID", pid);
        t.silence(&hook, &case::start(&hook, "startup"));
        hook.fill(5.0);
        t.silence(&hook, &case::read(&hook));
        hook.fill(percent_in("narrow"));
        for payload in [case::start(&hook, "clear"), case::bash(&hook, "ls"), case::batch(&hook)] {
            t.allow(&hook, &payload);
        }
    }
}

fn nothing_left(t: &mut Tally) {
    let hook = t.begun();
    for percent in [percent_in("coach"), percent_in("block-reads")] {
        hook.fill(percent);
        t.silence(&hook, &case::bash(&hook, "ls"));
        t.allow(&hook, &case::batch(&hook));
        t.allow(&hook, &case::stop(&hook));
    }
    let folder = hook.places().project.to_string_lossy().into_owned();
    t.check(processes(&folder).is_empty(), format!("{:?}", processes(&folder)));
}
