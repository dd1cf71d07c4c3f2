//! Half-written, replaced or wrong settings: the defaults apply, and a typo blocks nobody.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::faults::case::{self, Case};
use crate::faults::scene::{self, INSTEAD};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::{Hook, percent_in};

pub const CASES: &[Case] = &[
    ("settings: cut off at every byte", half_written),
    ("settings: something else in their place", odd_files),
    ("settings: values that can't be", odd_values),
    ("settings: a byte order mark, CRLF, and a hundred levels", odd_texts),
    ("settings: texts of the user's that are something else", odd_templates),
    ("settings: rewritten at every call", rewritten),
];

fn files(hook: &Hook) -> [PathBuf; 2] {
    [hook.places().user_settings, hook.places().project_settings()]
}

fn write(path: &std::path::Path, bytes: &[u8]) {
    scene::clear_away(path);
    fs::write(path, bytes).expect("settings");
}

/// Asserts the defaults: silence at 6 %, a refused call at 31 % with the file open.
fn defaults_hold(t: &mut Tally, free: &Hook, full: &Hook) {
    // The user is told once about an unused file.
    t.allow(free, &case::read(free));
    t.silence(free, &case::read(free));
    t.block(full, &case::read(full));
    t.allow(full, &full.call("Edit", &json!({"file_path": full.file()})));
}

fn both(t: &mut Tally) -> (Hook, Hook) {
    let (free, full) = (t.filled(6.0), t.filled(percent_in("narrow")));
    t.block(&full, &case::read(&full));
    (free, full)
}

fn half_written(t: &mut Tally) {
    let whole = json!({"coach": {"shell_chars": 3000}, "file": {"words": 3000},
        "tiers": {"coach": {"context": 21.0}}})
    .to_string();
    let (free, full) = both(t);
    for end in 0..whole.len() {
        let at = end % 2;
        write(&files(&free)[at], &whole.as_bytes()[..end]);
        write(&files(&full)[at], &whole.as_bytes()[..end]);
        t.allow(&free, &case::read(&free));
        t.block(&full, &case::read(&full));
    }
}

fn odd_files(t: &mut Tally) {
    let (free, full) = both(t);
    for what in INSTEAD {
        for at in 0..2 {
            let _free = scene::put(&files(&free)[at], what);
            let _full = scene::put(&files(&full)[at], what);
            defaults_hold(t, &free, &full);
            t.allow(&free, &case::start(&free, "startup"));
            scene::put(&files(&free)[at], scene::Instead::Nothing);
            scene::put(&files(&full)[at], scene::Instead::Nothing);
        }
    }
}

/// Thresholds that a typo sets to 0 or below would block an empty session.
fn odd_values(t: &mut Tally) {
    for text in [
        r#"{"tiers":{"narrow":{"context":-1}}}"#,
        r#"{"tiers":{"narrow":{"context":1e999}}}"#,
        r#"{"tiers":{"narrow":{"context":"31 %"}}}"#,
        r#"{"tiers":{"narrow":{"context":null}}}"#,
        r#"{"tiers":{"narrow":null}}"#,
        r#"{"tiers":null}"#,
        r#"{"tiers":[]}"#,
        r#"{"context":{"window":-1}}"#,
        r#"{"context":{"window":0}}"#,
        r#"{"context":{"window":18446744073709551615}}"#,
        r#"{"file":{"words":0}}"#,
        r#"{"file":{"words":-3}}"#,
        r#"{"boundary":{"min_interval_seconds":18446744073709551615,"attended_minutes":18446744073709551615}}"#,
        r#"{"mode":"sideways","headless":7,"bands":{"Read":"nothing"}}"#,
        r#"{"projects":{"src":{"mode":"off"}}}"#,
        r#"{"of a later version":{"x":1}}"#,
        "[]",
        "7",
        "null",
        "\"off\"",
    ] {
        let hook = t.begun();
        hook.fill(6.0);
        for path in files(&hook) {
            write(&path, text.as_bytes());
        }
        for payload in [
            case::read(&hook),
            case::bash(&hook, "ls"),
            case::stop(&hook),
            case::start(&hook, "startup"),
        ] {
            t.allow(&hook, &payload);
        }
    }
}

fn odd_texts(t: &mut Tally) {
    let (free, full) = both(t);
    let levels = format!("{}{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for bytes in [
        b"\xef\xbb\xbf{\"file\":{\"words\":3000}}".to_vec(),
        b"{\r\n  \"file\": {\r\n    \"words\": 3000\r\n  }\r\n}\r\n".to_vec(),
        b"// a comment\n{\"file\":{\"words\":3000,},}".to_vec(),
        "{\"file\":{\"words\":3000}}".encode_utf16().flat_map(u16::to_le_bytes).collect(),
        levels.into_bytes(),
    ] {
        for at in 0..2 {
            write(&files(&free)[at], &bytes);
            write(&files(&full)[at], &bytes);
            defaults_hold(t, &free, &full);
        }
    }
}

fn odd_templates(t: &mut Tally) {
    let texts = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/templates")).expect("templates");
    let names: Vec<_> = texts.flatten().map(|entry| entry.file_name()).collect();
    for what in INSTEAD {
        let full = t.filled(percent_in("narrow"));
        let held: Vec<_> = names
            .iter()
            .map(|name| scene::put(&full.places().user_texts.join(name), what))
            .collect();
        t.block(&full, &case::read(&full));
        t.allow(&full, &case::bash(&full, "brain-guard append 'x'"));
        t.block(&full, &case::stop(&full));
        t.allow(&full, &case::prompt(&full, "go on"));
        drop(held);
    }
}

fn rewritten(t: &mut Tally) {
    let hook = t.begun();
    for n in 0..20 {
        hook.settings(&json!({"tiers": {"coach": {"context": 20.0 + f64::from(n) / 5.0}}}));
        t.send(&hook, &case::read(&hook), Expect::Silence);
        hook.settings(&json!({"context": {"window": 200_000}}));
        hook.respond(20_000, case::OPUS);
        t.send(&hook, &case::read(&hook), Expect::Silence);
    }
}
