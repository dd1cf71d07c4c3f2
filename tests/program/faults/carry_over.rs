//! L: what is carried over. A file that is stale, duplicate, incomplete, or somebody else's.

use std::fs;

use serde_json::json;

use crate::faults::case::{self, Case};
use crate::faults::scene::{self, Client, INSTEAD, Instead, after_clear, carries, sealed};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::percent_in;

pub const CASES: &[Case] = &[
    ("L token: it is good for one session", once),
    ("L token: the same start five times at once", five_starts),
    ("L token: torn, gone, or something else", odd_tokens),
    ("L token: of a client that is gone, met by a resume", stale_token),
    ("L stale: edited behind the seal, it doesn't cross", edited),
    ("L stale: the user's own /clear brings no file", users_clear),
    ("L stale: another client's new session gets nothing", somebody_else),
    ("L file: gone or something else between seal and clear", odd_sealed_file),
    ("L prompt: the user's comes first, the file comes with it, once", prompt_first),
    ("L duplicates: what is written three times is carried once", duplicates),
    ("L headless: no file for a run without a terminal", headless),
];

fn once(t: &mut Tally) {
    let (hook, _) = sealed(t);
    t.allow(&hook, &case::stop(&hook));
    let next = after_clear(&hook, 2);
    let began = t.note(&next, &case::start(&next, "clear"));
    t.check(carries(&began), "it did not come");
    let later = [
        t.allow(&next, &case::prompt(&next, "go on")),
        t.allow(&next, &case::start(&next, "resume")),
    ];
    next.fill(4.0);
    t.silence(&next, &case::read(&next));
    let third = after_clear(&hook, 3);
    let after = t.allow(&third, &case::start(&third, "clear"));
    t.check(!later.iter().chain([&after]).any(carries), "it came again");
}

fn five_starts(t: &mut Tally) {
    let (hook, _) = sealed(t);
    let next = after_clear(&hook, 2);
    let answers = t.at_once(&next, &vec![case::start(&next, "clear"); 5], Expect::Allow);
    let came = answers.iter().filter(|answer| carries(answer)).count();
    t.check(came == 1, format!("it came {came} times"));
}

fn odd_tokens(t: &mut Tally) {
    for what in INSTEAD {
        let (hook, token) = sealed(t);
        let _held = scene::put(&hook.places().token(&token), what);
        scene::way_out(t, &hook);
        let next = after_clear(&hook, 2);
        t.allow(&next, &case::start(&next, "clear"));
        next.fill(4.0);
        t.silence(&next, &case::read(&next));
    }
    let (hook, token) = sealed(t);
    let path = hook.places().token(&token);
    let whole = fs::read(&path).expect("token");
    for end in (0..whole.len()).step_by(37) {
        fs::write(&path, &whole[..end]).expect("torn");
        let file = json!({"file_path": hook.file()});
        t.allow(&hook, &hook.call("Edit", &file));
    }
}

/// The token of a session whose client stopped a week ago.
fn stale_token(t: &mut Tally) {
    let client = Client::new();
    let (hook, token) = sealed(t);
    scene::change(&hook.places().token(&token), |token| {
        token["client"] = json!({"pid": 4_194_305, "start": 1});
        token["created"] = "2026-01-01T00:00:00Z".into();
        token["since"] = "2026-01-01T00:00:00Z".into();
    });
    let resumed = hook.beside(&hook.session, client.pid());
    t.allow(&resumed, &case::start(&resumed, "resume"));
    t.block(&resumed, &case::bash(&resumed, "ls"));
    let next = hook.beside(&scene::id(2), client.pid());
    let began = t.note(&next, &case::start(&next, "clear"));
    t.check(carries(&began), "not taken up");
}

fn edited(t: &mut Tally) {
    let (hook, _) = sealed(t);
    let text = fs::read_to_string(hook.file()).expect("file");
    fs::write(hook.file(), text.replace(scene::NOTE, "all is well")).expect("edited");
    let next = after_clear(&hook, 2);
    let began = t.allow(&next, &case::start(&next, "clear"));
    t.check(!carries(&began) && !began.stdout.contains("all is well"), "it came");
    next.fill(4.0);
    t.silence(&next, &case::read(&next));
}

fn users_clear(t: &mut Tally) {
    let hook = t.filled(percent_in("coach"));
    hook.agent(&format!("brain-guard append --kind next '{}'", scene::NOTE));
    let next = after_clear(&hook, 2);
    let began = t.allow(&next, &case::start(&next, "clear"));
    t.check(!carries(&began), "the file came");
    t.check(began.stdout.contains("only if the user wants to continue it"), "no offer");
}

fn somebody_else(t: &mut Tally) {
    let client = Client::new();
    let (hook, _) = sealed(t);
    for (number, source) in [(2, "startup"), (3, "clear"), (4, "fork"), (5, "resume")] {
        let other = hook.beside(&scene::id(number), client.pid());
        let answers = [
            t.allow(&other, &case::start(&other, source)),
            t.allow(&other, &case::prompt(&other, "hello")),
        ];
        t.check(!answers.iter().any(carries), format!("it came by {source}"));
    }
    let next = after_clear(&hook, 6);
    let began = t.note(&next, &case::start(&next, "clear"));
    t.check(carries(&began), "the one it is for did not get it");
}

fn odd_sealed_file(t: &mut Tally) {
    for what in INSTEAD {
        let (hook, token) = sealed(t);
        let token = fs::read(hook.places().token(&token)).expect("token");
        let token: serde_json::Value = serde_json::from_slice(&token).expect("JSON");
        let _held = scene::put(token["sealed"].as_str().expect("path").as_ref(), what);
        let next = after_clear(&hook, 2);
        t.allow(&next, &case::start(&next, "clear"));
        t.allow(&next, &case::prompt(&next, "go on"));
        next.fill(4.0);
        t.silence(&next, &case::read(&next));
    }
}

fn prompt_first(t: &mut Tally) {
    let (hook, token) = sealed(t);
    // The module cleared, and its own text is still to come.
    scene::change(&hook.places().token(&token), |token| {
        token["step"] = "clearing".into();
        token["carrier"] = "mod".into();
    });
    let next = after_clear(&hook, 2);
    let began = t.allow(&next, &case::start(&next, "clear"));
    let asked = t.allow(&next, &case::prompt(&next, "what is this"));
    let again = t.allow(&next, &case::prompt(&next, "and this"));
    let came = [&began, &asked, &again].into_iter().filter(|answer| carries(answer)).count();
    t.check(came == 1 && !carries(&again), format!("it came {came} times"));
}

fn duplicates(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    for text in [scene::NOTE, "The parser fails on  CRLF.", scene::NOTE] {
        hook.agent(&format!("brain-guard append --kind next '{text}'"));
    }
    hook.agent("brain-guard seal");
    let next = after_clear(&hook, 2);
    let began = t.note(&next, &case::start(&next, "clear"));
    let count = began.stdout.to_lowercase().matches("on crlf").count();
    t.check(count == 1, format!("{count} times"));
}

fn headless(t: &mut Tally) {
    let (hook, _) = sealed(t);
    let mut print = hook.beside(&scene::id(2), Client::new().pid());
    print.set("CLAUDE_CODE_SESSION_ATTENDED", "0");
    for source in ["startup", "resume", "clear"] {
        let said = t.allow(&print, &case::start(&print, source));
        t.check(!carries(&said), format!("it came by {source}"));
    }
    // Nor when a folder is in the file's place.
    let _held = scene::put(&hook.file(), Instead::Folder);
    t.allow(&print, &case::prompt(&print, "hello"));
}
