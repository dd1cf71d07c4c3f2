//! F and B, in the file itself: another program writes it while we read, and it may be anything.

use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::faults::case::{self, Case};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::{Hook, percent_in};

pub const CASES: &[Case] = &[
    ("F transcript: never written to, whatever happens", never_written),
    ("F transcript: broken rows are passed over", broken),
    ("F transcript: NULs of a crash, at the end and within", nuls),
    ("F transcript: branches, orphans and rows out of order", branches),
    ("F transcript: rows of megabytes", large_rows),
    ("F transcript: no line for sixty-four megabytes", no_lines),
    ("F transcript: a gigabyte", gigabyte),
    ("F transcript: cut and written while it is read", while_read),
    ("B transcript: missing, before the first row and after", missing),
    ("B transcript: a folder, a device, a pipe, a link to nowhere", no_file),
    ("B transcript: replaced, emptied, shortened", replaced),
    ("B transcript: moved, as a worktree moves it", moved),
    ("B transcript: a path that is none", no_path),
];

fn never_written(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    case::raw_row(&hook, b"{\"torn");
    let look = |path: &Path| {
        let meta = fs::metadata(path).expect("transcript");
        (fs::read(path).expect("read"), meta.ino(), meta.mtime_nsec(), meta.mode())
    };
    let before = look(&hook.transcript);
    for payload in [
        case::read(&hook),
        case::bash(&hook, "ls"),
        case::inside(case::read(&hook)),
        case::batch(&hook),
        case::prompt(&hook, "go on"),
        case::stop(&hook),
        case::stop(&hook),
        case::stop(&hook),
        hook.payload("PreCompact", &json!({"trigger": "auto"})),
        case::start(&hook, "compact"),
        case::start(&hook, "resume"),
        hook.payload("SessionEnd", &json!({"reason": "clear"})),
    ] {
        // Other cases check what is decided here.
        let event = payload["hook_event_name"].as_str().unwrap_or_default();
        let main = payload["agent_id"].is_null();
        let asked = matches!(event, "PreToolUse") && main;
        let refused = event == "Stop" && hook.state()["stop_blocks"].as_u64() < Some(2);
        t.send(&hook, &payload, if asked || refused { Expect::Block } else { Expect::Allow });
        t.check(look(&hook.transcript) == before, format!("{event} changed the transcript"));
    }
    let beside = fs::read_dir(hook.transcript.parent().expect("folder")).expect("listed").count();
    t.check(beside == 1, format!("{beside} files beside the transcript"));
}

/// Asserts that junk after a response changes nothing, at 5 % and at 31 %.
fn changes_nothing(t: &mut Tally, junk: &[u8]) {
    for (percent, expect) in [(5.0, Expect::Silence), (percent_in("narrow"), Expect::Block)] {
        let hook = t.filled(percent);
        case::raw_row(&hook, junk);
        t.send(&hook, &case::read(&hook), expect);
        case::raw_row(&hook, b"\n");
        t.send(&hook, &case::read(&hook), expect);
    }
}

fn broken(t: &mut Tally) {
    let row = case::response("x", 900_000).to_string();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for junk in [
        b"\n\n\r\n \n".to_vec(),
        b"\xef\xbb\xbf{}".to_vec(),
        b"null\n7\n\"text\"\n[]\n{}".to_vec(),
        b"{\"type\":\"assistant\",\"message\":{\"usage\":{\"input_tokens\":900000}".to_vec(),
        b"{\"type\":\"assistant\",\"type\":\"user\",\"message\":null}".to_vec(),
        b"{\"type\":\"assistant\",\"message\":\"\xff\xfe\"}".to_vec(),
        b"{\"type\":{\"kind\":\"assistant\"},\"isSidechain\":7}".to_vec(),
        b"# A Markdown file\n\nwith words".to_vec(),
        // Two rows in one line, and one in UTF-16.
        format!("{row}{row}").into_bytes(),
        row.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        deep.clone().into_bytes(),
        format!("{{\"type\":\"assistant\",\"message\":{{\"content\":{deep}}}}}").into_bytes(),
        "\u{2028}\u{0}\u{fffd}".as_bytes().to_vec(),
    ] {
        changes_nothing(t, &junk);
    }
    // Rows that end in CRLF are valid.
    let hook = t.begun();
    case::raw_row(&hook, format!("{}\r\n", case::response("crlf", 300_000)).as_bytes());
    t.block(&hook, &case::read(&hook));
}

fn nuls(t: &mut Tally) {
    changes_nothing(t, &[0; 7]);
    changes_nothing(t, &vec![0; 1_000_000]);
    let hook = t.begun();
    case::raw_row(&hook, &[0; 4_096]);
    case::raw_row(&hook, b"\n");
    case::row(&hook, &case::response("after", 300_000));
    t.block(&hook, &case::read(&hook));
}

fn branches(t: &mut Tally) {
    let orphan = |uuid: &str, parent: &str, mut row: Value| {
        (row["uuid"], row["parentUuid"]) = (uuid.into(), parent.into());
        row
    };
    // Results, calls, thinking and parents that do not match: the API would refuse them, but that
    // is not ours to judge.
    let rows = [
        orphan("r1", "nowhere", case::result(50)),
        json!({"type": "assistant", "uuid": "t1", "parentUuid": "r1", "message": {"role": "assistant",
            "content": [{"type": "thinking", "thinking": "x", "signature": ""}]}}),
        json!({"type": "user", "uuid": "u1", "parentUuid": "u1", "message": {"role": "user", "content": "x"}}),
        json!({"type": "summary", "leafUuid": "nowhere", "summary": "s"}),
        json!({"type": "file-history-snapshot", "messageId": "x", "snapshot": {}}),
    ];
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    let text = lines.join("\n") + "\n";
    changes_nothing(t, text.as_bytes());
    // A response with an unknown parent counts.
    let hook = t.begun();
    case::row(&hook, &orphan("a9", "nowhere", case::response("m9", 300_000)));
    t.block(&hook, &case::read(&hook));
}

fn large_rows(t: &mut Tally) {
    for megabytes in [1, 5, 20] {
        let text = "x".repeat(megabytes * 1_000_000);
        let row = json!({"type": "api-request-blob", "body": text});
        changes_nothing(t, format!("{row}\n").as_bytes());
    }
}

/// Writes a file of this length that ends with a line of NULs.
fn stretch(path: &Path, length: u64) {
    let file = fs::File::options().write(true).create(true).truncate(false).open(path);
    file.and_then(|f| f.set_len(length)).expect("stretched");
}

fn no_lines(t: &mut Tally) {
    for megabytes in [32, 63, 70, 300] {
        let hook = t.begun();
        stretch(&hook.transcript, megabytes * 1_048_576);
        t.silence(&hook, &case::read(&hook));
        t.silence(&hook, &case::stop(&hook));
    }
}

fn gigabyte(t: &mut Tally) {
    let hook = t.begun();
    stretch(&hook.transcript, 1 << 30);
    case::raw_row(&hook, b"\n");
    case::row(&hook, &case::response("low", 60_000));
    t.silence(&hook, &case::read(&hook));
    case::row(&hook, &case::response("high", 300_000));
    t.block(&hook, &case::read(&hook));
}

/// Each call sees the file long, short, or torn, always at 5 %.
fn while_read(t: &mut Tally) {
    let hook = t.begun();
    let whole = fs::read(&hook.transcript).expect("transcript");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = fs::File::options().write(true).open(&hook.transcript).expect("open");
            while !done.load(Ordering::Relaxed) {
                file.set_len(whole.len() as u64 / 3).expect("cut");
                file.write_all_at(&whole, 0).expect("written");
                file.set_len(3_000_000).expect("stretched");
            }
        });
        let payloads = vec![case::read(&hook); 8];
        for _ in 0..4 {
            t.at_once(&hook, &payloads, Expect::Silence);
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Nothing is known, so nothing is blocked.
fn is_free(t: &mut Tally, hook: &Hook) {
    for payload in [case::read(hook), case::bash(hook, "ls"), case::batch(hook), case::stop(hook)] {
        t.allow(hook, &payload);
    }
}

fn missing(t: &mut Tally) {
    let hook = Hook::new();
    t.silence(&hook, &case::start(&hook, "startup"));
    is_free(t, &hook);
    hook.fill(percent_in("narrow"));
    t.allow(&hook, &case::read(&hook));
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    fs::remove_file(&hook.transcript).expect("removed");
    is_free(t, &hook);
}

/// Puts something in a file's place.
type Put = fn(&PathBuf);

fn no_file(t: &mut Tally) {
    let kinds: [Put; 6] = [
        |path| fs::create_dir(path).expect("folder"),
        |path| symlink("/nonexistent", path).expect("link"),
        |path| symlink(path, path).expect("link"),
        |path| symlink("/dev/zero", path).expect("link"),
        |path| symlink("/proc/self/status", path).expect("link"),
        |path| {
            let mode = rustix::fs::Mode::RWXU;
            rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).expect("pipe");
        },
    ];
    for put in kinds {
        let hook = t.filled(percent_in("narrow"));
        fs::remove_file(&hook.transcript).expect("removed");
        put(&hook.transcript);
        is_free(t, &hook);
    }
    // A link to a transcript counts as one.
    let hook = t.filled(percent_in("narrow"));
    let real = hook.home.join("elsewhere.jsonl");
    fs::rename(&hook.transcript, &real).expect("moved");
    symlink(&real, &hook.transcript).expect("link");
    t.block(&hook, &case::read(&hook));
}

fn replaced(t: &mut Tally) {
    let low = case::response("low", 60_000).to_string();
    for bytes in [&b""[..], b"\n", b"{", low.as_bytes()] {
        let hook = t.filled(percent_in("narrow"));
        t.block(&hook, &case::read(&hook));
        let new = hook.home.join("new.jsonl");
        fs::write(&new, bytes).expect("written");
        fs::rename(&new, &hook.transcript).expect("replaced");
        is_free(t, &hook);
        hook.fill(percent_in("narrow"));
        t.block(&hook, &case::bash(&hook, "ls"));
    }
}

fn moved(t: &mut Tally) {
    let hook = t.begun();
    let other = hook.home.join(".claude/projects/-project-worktree/session.jsonl");
    fs::create_dir_all(other.parent().expect("folder")).expect("folder");
    fs::write(&other, format!("{}\n", case::response("there", 300_000))).expect("written");
    let mut there = case::read(&hook);
    there["transcript_path"] = other.to_str().expect("utf-8").into();
    t.block(&hook, &there);
    t.allow(&hook, &case::read(&hook));
}

fn no_path(t: &mut Tally) {
    for path in [
        json!(null),
        json!(""),
        json!("relative.jsonl"),
        json!("/a\u{0}b"),
        json!("x".repeat(9_000)),
    ] {
        let hook = Hook::new();
        t.silence(&hook, &case::start(&hook, "startup"));
        let mut call = case::read(&hook);
        call["transcript_path"] = path;
        t.silence(&hook, &call);
        call["hook_event_name"] = "Stop".into();
        t.silence(&hook, &call);
    }
}
