//! The compaction file: gone, locked, replaced, too large, or edited at the same moment.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::faults::case::{self, Case};
use crate::faults::scene::{self, INSTEAD, Instead};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::{Hook, percent_in};

pub const CASES: &[Case] = &[
    ("file: something else in its place, in a free session", odd_file_free),
    ("file: something else in its place, in a full one", odd_file_full),
    ("file: its folder is something else", odd_folder),
    ("file: 31 MB of notes", large),
    ("file: one word of 8 MB", one_word),
    ("file: another process holds its lock for good", locked),
    ("file: another process rewrites it all the time", rewritten),
    ("file: it is replaced and taken away all the time", replaced),
    ("file: what a hand and other editors leave in it", by_hand),
    ("file: deleted between the seal and the turn's end", gone_after_the_seal),
];

/// A session that wrote a note and is now at `percent`.
fn written(t: &mut Tally, percent: f64) -> Hook {
    let hook = t.begun();
    hook.agent(&format!("brain-guard append --kind next '{}'", scene::NOTE));
    hook.fill(percent);
    hook
}

fn odd_file_free(t: &mut Tally) {
    for what in INSTEAD {
        let hook = written(t, 6.0);
        let _held = scene::put(&hook.file(), what);
        for payload in
            [case::read(&hook), case::bash(&hook, "ls"), case::batch(&hook), case::stop(&hook)]
        {
            // The user is told once about an unusable file.
            t.allow(&hook, &payload);
        }
        for payload in [
            hook.payload("PreCompact", &json!({"trigger": "auto"})),
            case::start(&hook, "resume"),
            case::prompt(&hook, "go on"),
        ] {
            t.allow(&hook, &payload);
        }
    }
}

fn odd_file_full(t: &mut Tally) {
    for what in INSTEAD {
        let hook = written(t, percent_in("narrow"));
        let _held = scene::put(&hook.file(), what);
        if !what.is_usable() {
            for payload in [case::read(&hook), case::batch(&hook), case::stop(&hook)] {
                t.allow(&hook, &payload);
            }
            continue;
        }
        t.block(&hook, &case::read(&hook));
        let edit = json!({"file_path": hook.file()});
        for payload in [hook.call("Read", &edit), hook.call("Write", &edit)] {
            t.allow(&hook, &payload);
        }
        t.allow(&hook, &case::batch(&hook));
        for command in ["brain-guard append 'x'", "brain-guard seal"] {
            t.allow(&hook, &case::bash(&hook, command));
        }
        // If nothing can be sealed, the end is refused twice, then the agent may continue.
        for _ in 0..2 {
            t.block(&hook, &case::stop(&hook));
        }
        t.send(&hook, &case::stop(&hook), Expect::Either);
        t.allow(&hook, &case::stop(&hook));
    }
}

fn odd_folder(t: &mut Tally) {
    for what in [Instead::Nothing, Instead::Pipe, Instead::Loop, Instead::Dangling, Instead::Empty]
    {
        let hook = written(t, percent_in("narrow"));
        let file = hook.file();
        let _held = scene::put(file.parent().expect("folder"), what);
        if matches!(what, Instead::Nothing) {
            t.block(&hook, &case::read(&hook));
        } else {
            t.allow(&hook, &case::read(&hook));
        }
        // A link may lead to another file of the operator's.
        if !matches!(what, Instead::Loop | Instead::Dangling) {
            t.allow(&hook, &hook.call("Write", &json!({"file_path": hook.file()})));
        }
        t.allow(&hook, &case::bash(&hook, "brain-guard append 'x'"));
    }
}

/// The seal does not read that much, so nothing is blocked.
fn large(t: &mut Tally) {
    let hook = written(t, 6.0);
    let text = fs::read_to_string(hook.file()).expect("file");
    let lines = "one more of the many lines that nobody will read\n- ".repeat((31 << 20) / 52);
    fs::write(hook.file(), text.replace(scene::NOTE, &lines)).expect("written");
    t.allow(&hook, &case::bash(&hook, "ls"));
    let edit = json!({"file_path": hook.file()});
    t.allow(&hook, &hook.call("Write", &edit));
    t.allow(&hook, &case::batch(&hook));
}

fn one_word(t: &mut Tally) {
    let hook = written(t, 6.0);
    let text = fs::read_to_string(hook.file()).expect("file");
    fs::write(hook.file(), format!("{text}\n- {}\n", "x".repeat(8 << 20))).expect("written");
    t.allow(&hook, &case::batch(&hook));
    t.allow(&hook, &hook.call("Edit", &json!({"file_path": hook.file()})));
}

fn locked(t: &mut Tally) {
    let hook = written(t, percent_in("narrow"));
    let lock = fs::File::create(hook.file().with_file_name(".lock")).expect("lock");
    lock.lock().expect("held");
    fs::File::open(hook.file()).expect("file").lock().expect("held, too");
    t.block(&hook, &case::read(&hook));
    for payload in
        [case::batch(&hook), case::start(&hook, "resume"), hook.payload("PreCompact", &json!({}))]
    {
        t.allow(&hook, &payload);
    }
}

/// Runs while another thread keeps changing the file.
fn beside(t: &mut Tally, hook: &Hook, expect: Expect, disturb: impl Fn(usize) + Sync) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0;
            while !over.load(Ordering::Relaxed) {
                disturb(n);
                n += 1;
            }
        });
        for _ in 0..20 {
            t.send(hook, &case::read(hook), expect);
            t.allow(hook, &hook.call("Edit", &json!({"file_path": hook.file()})));
            t.allow(hook, &case::batch(hook));
        }
        over.store(true, Ordering::Relaxed);
    });
}

fn rewritten(t: &mut Tally) {
    for (percent, expect) in [(6.0, Expect::Silence), (percent_in("narrow"), Expect::Block)] {
        let hook = written(t, percent);
        let (file, text) = (hook.file(), fs::read_to_string(hook.file()).expect("file"));
        beside(t, &hook, expect, |n| {
            fs::write(&file, &text.as_bytes()[..n * 7 % text.len()]).expect("written");
        });
    }
}

fn replaced(t: &mut Tally) {
    for (percent, expect) in [(6.0, Expect::Silence), (percent_in("narrow"), Expect::Block)] {
        let hook = written(t, percent);
        let (file, text) = (hook.file(), fs::read_to_string(hook.file()).expect("file"));
        let temp = file.with_extension("new");
        beside(t, &hook, expect, |n| {
            let _ = fs::remove_file(&file);
            fs::write(&temp, format!("{text}- {n}\n")).expect("written");
            fs::rename(&temp, &file).expect("renamed");
        });
    }
}

fn by_hand(t: &mut Tally) {
    let hook = written(t, 6.0);
    let text = fs::read_to_string(hook.file()).expect("file");
    let crlf = text.replace('\n', "\r\n");
    let nested = format!("{text}{}- x\n", "> ".repeat(20_000));
    let headings = format!("{text}{}", "## Forward State\n".repeat(2_000));
    let texts = [
        crlf.into_bytes(),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        [text.as_bytes(), b"- caf\xe9 \xff\xfe\n"].concat(),
        text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        [b"---\njob: [\n".as_slice(), text.as_bytes()].concat(),
        format!("{text}<!-- never closed\n```\nnor this\n").into_bytes(),
        format!("<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> theirs\n").into_bytes(),
        nested.into_bytes(),
        headings.into_bytes(),
        b"#".to_vec(),
    ];
    for bytes in texts {
        fs::write(hook.file(), bytes).expect("written");
        t.allow(&hook, &case::read(&hook));
        t.allow(&hook, &case::batch(&hook));
        t.allow(&hook, &case::bash(&hook, "brain-guard append 'x'"));
        t.allow(&hook, &case::start(&hook, "resume"));
    }
}

fn gone_after_the_seal(t: &mut Tally) {
    for what in [Instead::Nothing, Instead::Folder, Instead::Pipe, Instead::Huge] {
        let (hook, _) = scene::sealed(t);
        let _held = scene::put(&hook.file(), what);
        // Refused at most twice for a lost seal, and told once to continue.
        for _ in 0..3 {
            t.send(&hook, &case::stop(&hook), Expect::Either);
        }
        t.allow(&hook, &case::stop(&hook));
    }
}
