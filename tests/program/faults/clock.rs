//! A clock that jumps: earlier timestamps are in the future, or a year old.

use serde_json::{Value, json};

use crate::faults::case::{self, Case};
use crate::faults::scene::{self, way_out};
use crate::faults::tally::Tally;
use crate::support::hook::{Hook, percent_in};

pub const CASES: &[Case] = &[
    ("clock: the session's state is from the future", future_state),
    ("clock: a person's last prompt is from the future", future_person),
    ("clock: the mod's last reading is from the future", future_reading),
    ("clock: a boundary's token is from another year", other_years),
    ("clock: the last boundary of the job is still to come", future_budget),
    ("clock: the rows of the transcript run backwards", rows_run_backwards),
    ("clock: the times of files are none", odd_file_times),
    ("clock: the log runs backwards", log_runs_backwards),
];

/// Times that no clock should show.
const TIMES: [&str; 6] = [
    "1970-01-01T00:00:00Z",
    "2001-09-09T01:46:40Z",
    "2099-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "+262142-12-31T23:59:59Z",
    "-262143-01-01T00:00:00Z",
];

fn future_state(t: &mut Tally) {
    for time in TIMES {
        let hook = t.begun();
        for key in ["started", "turn", "broke", "last_human", "ended"] {
            scene::change(&scene::state(&hook), |state| state[key] = time.into());
        }
        for payload in
            [case::read(&hook), case::batch(&hook), case::stop(&hook), case::start(&hook, "resume")]
        {
            t.allow(&hook, &payload);
        }
        let hook = t.filled(percent_in("narrow"));
        for key in ["started", "turn", "broke", "ended"] {
            scene::change(&scene::state(&hook), |state| state[key] = time.into());
        }
        t.block(&hook, &case::read(&hook));
        way_out(t, &hook);
    }
}

/// A prompt dated 2099 proves no presence; with nobody to type `/clear` nothing is blocked.
fn future_person(t: &mut Tally) {
    for time in TIMES {
        let mut hook = t.begun();
        hook.set("BRAIN_GUARD_MOD", "");
        scene::change(&scene::state(&hook), |state| state["last_human"] = time.into());
        hook.fill(percent_in("narrow"));
        t.allow(&hook, &case::read(&hook));
        t.allow(&hook, &case::bash(&hook, "ls"));
    }
}

/// Such a reading would be newer than every row to come.
fn future_reading(t: &mut Tally) {
    let hook = t.begun();
    let reading =
        json!({"used": 310_000, "limit": 967_000, "source": "mod", "at": "2099-01-01T00:00:00Z"});
    scene::change(&scene::state(&hook), |state| state["reading"] = reading);
    t.silence(&hook, &case::read(&hook));
    hook.fill(6.0);
    t.silence(&hook, &case::bash(&hook, "ls"));
}

fn token_of(hook: &Hook, token: &str, key: &str, time: &str) {
    scene::change(&hook.places().token(token), |token| token[key] = Value::from(time));
}

fn other_years(t: &mut Tally) {
    for time in TIMES {
        let (hook, token) = scene::sealed(t);
        for key in ["created", "since"] {
            token_of(&hook, &token, key, time);
        }
        way_out(t, &hook);
        t.allow(&hook, &case::stop(&hook));
        let next = scene::after_clear(&hook, 2);
        t.allow(&next, &case::start(&next, "clear"));
        next.fill(4.0);
        t.silence(&next, &case::read(&next));
    }
}

fn future_budget(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    let job = hook.state()["job"].as_str().expect("job").to_owned();
    let times = hook.places().job(&job).join("boundaries");
    std::fs::create_dir_all(hook.places().job(&job)).expect("folder");
    std::fs::write(times, TIMES.join("\n")).expect("times");
    hook.agent(&format!("brain-guard append --kind next '{}'", scene::NOTE));
    hook.agent("brain-guard seal");
    let next = scene::after_clear(&hook, 2);
    let began = t.note(&next, &case::start(&next, "clear"));
    t.check(scene::carries(&began), "no boundary, for one that is still to come");
}

fn rows_run_backwards(t: &mut Tally) {
    for (percent, blocks) in [(6.0, false), (percent_in("narrow"), true)] {
        let hook = t.begun();
        for time in TIMES {
            let mut row =
                case::response(&format!("msg_{time}"), (967_000.0 * percent / 100.0) as u64 + 1);
            row["timestamp"] = time.into();
            case::row(&hook, &row);
            if blocks {
                t.block(&hook, &case::read(&hook));
            } else {
                t.silence(&hook, &case::read(&hook));
            }
        }
    }
}

fn odd_file_times(t: &mut Tally) {
    use std::time::{Duration, SystemTime};
    let far = Duration::from_secs(60 * 60 * 24 * 365 * 80);
    for time in [SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH - far / 2, SystemTime::now() + far]
    {
        let hook = t.begun();
        hook.agent("brain-guard append --kind next 'one thing'");
        for path in [hook.file(), scene::state(&hook), hook.transcript.clone(), hook.places().log()]
        {
            let file = std::fs::File::options().append(true).create(true).open(path).expect("file");
            file.set_modified(time).expect("dated");
        }
        t.silence(&hook, &case::read(&hook));
        t.allow(&hook, &case::start(&hook, "startup"));
        hook.fill(percent_in("narrow"));
        t.block(&hook, &case::read(&hook));
        way_out(t, &hook);
    }
}

fn log_runs_backwards(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    let lines =
        TIMES.map(|time| json!({"at": time, "kind": "lifted", "why": "x"}).to_string()).join("\n");
    std::fs::write(hook.places().log(), lines).expect("log");
    t.block(&hook, &case::read(&hook));
    way_out(t, &hook);
}
