//! The store returns sessions unchanged, or reports why it cannot.

use std::fs;
use std::process::{Command, Stdio};

use super::{ok, on_a_full_disk, round, store};
use crate::cli::doctor::check;
use crate::support::hook::Hook;

#[test]
fn export_returns_an_imported_session_byte_for_byte() {
    let hook = Hook::new();
    let odd = format!("{}{{broken \"\u{fffd}\n\n{}", round(1), round(2));
    let bytes = [odd.as_bytes(), b"\xff not utf-8\n"].concat();
    fs::write(&hook.transcript, &bytes).expect("written");
    ok(&hook.raw(&["import", "--all"], b""));
    let other = [&bytes[..], round(3).as_bytes()].concat()[1..].to_vec();
    fs::write(&hook.transcript, &other).expect("written");
    ok(&hook.raw(&["import", "--all"], b""));
    fs::remove_file(&hook.transcript).expect("removed");
    let raw = |args: &[&str]| {
        let mut command = hook.command(&[&["store", "export"], args].concat());
        command.stdin(Stdio::null()).output().expect("run")
    };
    let id = hook.session.as_str();
    assert_eq!(raw(&[&id[..6]]).stdout, other);
    assert_eq!(raw(&[&format!("claude/{id}"), "--edition", "1"]).stdout, bytes);
    let folder = hook.home.join("back");
    fs::create_dir(&folder).expect("made");
    let into = folder.to_str().expect("utf-8");
    let export = |args: &[&str]| hook.raw(&[&["store", "export", id], args].concat(), b"");
    assert!(ok(&export(&["--out", into])).contains("sha256"));
    assert_eq!(fs::read(folder.join(format!("{id}.jsonl"))).expect("there"), other);
    for missing in ["restored/", "kept/restored"] {
        let anew = hook.home.join(missing);
        assert!(ok(&export(&["--out", anew.to_str().expect("utf-8")])).contains("sha256"));
        assert_eq!(fs::read(anew.join(format!("{id}.jsonl"))).expect("there"), other);
    }
    let settings = hook.home.join("settings.json");
    for (args, why) in [
        (&["--out", into][..], "exists already"),
        (
            &["--out", settings.to_str().expect("utf-8")],
            "does not end in .jsonl; for a folder, end it with `/`",
        ),
        (&["--edition", "2"], "there are: 1"),
    ] {
        let refused = export(args);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
        assert!(refused.stderr.contains(why), "{refused:?}");
    }
    assert!(!settings.exists());
    // Missing blocks, and other blocks in their place.
    let kept = store(&hook).join("claude").join(id);
    let short = folder.join("short.jsonl");
    let out = ["--out", short.to_str().expect("utf-8")];
    fs::rename(kept.join("blocks.db"), kept.join("away")).expect("moved");
    let missing = export(&out);
    assert!(
        missing.code == Some(1) && missing.stderr.contains("is not in the store"),
        "{missing:?}"
    );
    fs::write(kept.join("blocks.db"), "").expect("written");
    let cut = export(&out);
    assert!(cut.code == Some(1) && cut.stderr.contains("bytes were imported"), "{cut:?}");
    assert_eq!(fs::read_dir(&folder).expect("there").count(), 1, "nothing half written");
}

#[test]
fn a_full_disk_is_reported_and_loses_nothing() {
    let hook = Hook::new();
    let long = round(2).replace("an answer", &"an answer ".repeat(200_000));
    fs::write(&hook.transcript, format!("{}{long}", round(1))).expect("written");
    // SIGXFSZ, the signal of this limit, ends no verb either.
    let limited = |args: &[&str]| {
        let full = Command::new("sh")
            .args(["-c", "ulimit -f 100; exec \"$0\" \"$@\""])
            .arg(hook.command(&[]).get_program())
            .args(args)
            .env_clear()
            .envs(hook.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))))
            .output()
            .expect("run");
        let why = String::from_utf8_lossy(&full.stderr).into_owned();
        assert_eq!(full.status.code(), Some(1), "{why}");
        assert!(why.contains("too large"), "{why}");
        why
    };
    let full = on_a_full_disk(&hook, &["import", "--all"]);
    let why = String::from_utf8_lossy(&full.stderr);
    assert!(full.status.code() == Some(1) && why.contains("blocks.db: "), "{why}");
    assert!(why.contains("disk is full"), "{why}");
    ok(&hook.raw(&["import", "--all"], b""));
    assert_eq!(check(&hook, "store")["level"], "ok");
    let back = hook.raw(&["store", "export", &hook.session], b"");
    assert_eq!(ok(&back), fs::read_to_string(&hook.transcript).expect("there"));
    let folder = hook.transcript.parent().expect("a folder");
    let files = fs::read_dir(folder).expect("there").count();
    limited(&["surgery", "compress-before", &hook.session, "round:2"]);
    assert_eq!(fs::read_dir(folder).expect("there").count(), files, "nothing half written");
}
