//! The list, the file's section, the seal, and git that is missing or fails.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use guard::files::commits;
use serde_json::json;

use super::{COMMIT, call, commit, configure, job, person, section, shell, subjects, told, world};
use crate::support::hook::Hook;

#[test]
fn any_commit_body_keeps_the_file_parsable() {
    let hook = world();
    hook.agent("brain-guard append --kind scope <<'EOF'\n- keep this\nEOF");
    let bodies = [
        "```rust\nfn main() {}\n```",
        "~~~\nnever closed",
        "# heading\n\n## Forward State\n- not here",
        "100 % of %H and %n",
        "crlf\r\nline\r\n",
        "emoji 🦀 and ünï",
        "- list\n  - nested\n\n    code",
        "<!-- open comment",
        "---\nfront: matter\n---",
        "bell \u{7} and escape \u{1b}[31m",
    ];
    for (n, body) in bodies.iter().enumerate() {
        fs::write(hook.home.join("message"), format!("subject {n} `tick` %s\n\n{body}\n"))
            .expect("message");
        call(&hook, "git commit -q --allow-empty --cleanup=verbatim -F ~/message");
    }
    call(
        &hook,
        "printf 'latin \\351\\n\\nbody \\377\\n' | git -c i18n.commitEncoding=ISO-8859-1 commit -q --allow-empty -F -",
    );
    assert_eq!(subjects(&hook).len(), bodies.len() + 1);
    assert!(subjects(&hook)[0].starts_with("latin é"), "{:?}", subjects(&hook));
    let text = fs::read_to_string(hook.file()).expect("file");
    assert!(
        text.contains("- keep this") && text.matches("## Forward State\n<!--").count() == 1,
        "{text}"
    );
    let ran = hook.agent("brain-guard seal --no-clear");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(section(&hook).contains("latin é"), "{}", section(&hook));
}

/// Handwritten commits move: below the section until the seal, then into the archive.
#[test]
fn seal_restores_the_section_and_archives_handwritten_commits() {
    let hook = world();
    call(&hook, &commit("one"));
    hook.agent("brain-guard append --kind scope <<'EOF'\n- keep this\nEOF");
    let text = fs::read_to_string(hook.file()).expect("file");
    let edited =
        text.replace("` one", "` one, and I did much more") + "- `0123456789` all tests pass\n";
    fs::write(hook.file(), edited).expect("edited");
    call(&hook, &commit("two"));
    assert!(section(&hook).contains("all tests pass") && section(&hook).contains("` two"));
    let ran = hook.agent("brain-guard seal --no-clear");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let sealed = section(&hook);
    assert!(!sealed.contains("all tests") && !sealed.contains("much more"), "{sealed}");
    assert!(sealed.contains("` one") && sealed.contains("` two"), "{sealed}");
    let removed = hook.file().with_file_name("sealed").join("v0001.removed.md");
    let removed = fs::read_to_string(removed).expect("archive");
    assert!(removed.contains("all tests pass") && removed.contains("much more"), "{removed}");
    // A commit after the seal keeps the stamp valid; the next seal includes it.
    call(&hook, &commit("three"));
    let shown = hook.agent("brain-guard seal --no-clear");
    assert!(shown.stdout.contains("v0002"), "{shown:?}");
    assert!(section(&hook).contains("` three"));
}

#[test]
fn a_job_taken_over_keeps_its_commits() {
    let hook = world();
    hook.prompt("write the parser");
    call(&hook, &commit("one"));
    hook.agent("brain-guard append --kind scope <<'EOF'\n- keep this\nEOF");
    let ran = hook.agent("brain-guard job focus parser");
    assert_eq!((ran.code, job(&hook).as_str()), (Some(0), "parser"), "{ran:?}");
    call(&hook, &commit("two"));
    assert_eq!(subjects(&hook), ["two", "one"]);
    assert!(section(&hook).contains("` two") && section(&hook).contains("` one"));
}

/// The notes that are carried over include a commit made after the seal in the same call.
#[test]
fn a_commit_after_the_seal_in_the_same_call_is_carried_over() {
    let hook = world();
    hook.agent("brain-guard append --kind scope <<'EOF'\n- keep this\nEOF");
    let ran = hook.raw(&["seal", "--clear"], b"");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = shell(&hook, &hook.project, &commit("late"));
    let (event, more) = told(&ran, "brain-guard seal --clear; git commit -m late", 500.0);
    hook.send(&hook.payload(event, &more));
    let sealed = hook.file().with_file_name("sealed").join("v0002.md");
    assert!(fs::read_to_string(sealed).expect("sealed anew").contains("` late"));
}

#[test]
fn a_rebase_of_five_hundred_commits_is_bounded_work() {
    let hook = world();
    person(
        &hook,
        &hook.project,
        "git checkout -qb old; for n in $(seq 520); do git commit -q --allow-empty -m \"old $n\"; done; git checkout -q main; git commit -q --allow-empty -m base",
    );
    let ran = shell(&hook, &hook.project, "git rebase -q main old");
    let (event, more) = told(&ran, "git rebase -q main old", 60_000.0);
    let began = Instant::now();
    assert!(hook.send(&hook.payload(event, &more)).silent());
    assert!(began.elapsed().as_secs() < 4, "{:?}", began.elapsed());
    let all = subjects(&hook);
    assert!((490..=500).contains(&all.len()) && all[0] == "old 520", "{} {:?}", all.len(), all[0]);
    assert_eq!(hook.log("fault").len(), 1, "{:?}", hook.log("fault"));
}

#[test]
fn commits_are_found_without_a_reflog_and_in_any_format_of_refs() {
    let hook = Hook::begun();
    configure(&hook);
    call(&hook, "git init -q && git config core.logAllRefUpdates false");
    call(&hook, &commit("one"));
    assert_eq!(subjects(&hook), ["one"]);
    call(&hook, "rm -rf .git; git init -q --ref-format=reftable 2>/dev/null || git init -q");
    call(&hook, &commit("two"));
    assert_eq!(subjects(&hook), ["two", "one"]);
}

/// The client may run inside git hooks or filters; their variables must not reach our git.
#[test]
fn the_clients_environment_does_not_misdirect_git() {
    let mut hook = world();
    hook.set("GIT_DIR", "/nonexistent").set("GIT_WORK_TREE", "/nonexistent");
    call(&hook, &format!("{COMMIT}c one -m 'a body'"));
    let list = commits::list(&hook.places(), &job(&hook)).expect("list");
    assert_eq!(list[0].body, "a body");
}

/// New commits count even if git does not say which commits became unreachable.
#[test]
fn a_failed_reachability_check_keeps_new_commits() {
    let mut hook = world();
    call(&hook, &commit("one"));
    let folder = hook.home.join("half");
    fs::create_dir(&folder).expect("made");
    let script = "#!/bin/sh\ncase \" $* \" in *' rev-list '*) exit 1;; esac\nPATH=/usr/bin:/bin exec git \"$@\"\n";
    fs::write(folder.join("git"), script).expect("written");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.join("git"), mode).expect("executable");
    hook.set("PATH", &format!("{}:/usr/bin:/bin", folder.display()));
    let ran = shell(&hook, &hook.project, &commit("two"));
    let (event, more) = told(&ran, "git commit", 100.0);
    assert!(hook.send(&hook.payload(event, &more)).silent());
    assert_eq!(subjects(&hook), ["two", "one"]);
    assert_eq!(hook.log("fault").len(), 1, "{:?}", hook.log("fault"));
}

/// Without git on PATH the log says so once, and the next commit is found.
#[test]
fn without_git_a_commit_is_left_out() {
    let mut hook = world();
    hook.set("PATH", "/nonexistent");
    let ran = shell(&hook, &hook.project, &format!("{COMMIT}c one -m 'a body'"));
    let (event, more) = told(&ran, "git commit", 100.0);
    assert!(hook.send(&hook.payload(event, &more)).silent());
    assert_eq!(subjects(&hook), Vec::<String>::new());
    hook.bash("ls");
    assert_eq!(hook.log("fault").len(), 1);
    hook.set("PATH", "/usr/bin:/bin");
    let ran = shell(&hook, &hook.project, &commit("two"));
    let (event, more) = told(&ran, "git commit", 100.0);
    assert!(hook.send(&hook.payload(event, &more)).silent());
    assert_eq!(subjects(&hook)[0], "two");
}

/// Most calls commit nothing; for them the hook only reads.
#[test]
fn a_call_that_commits_nothing_writes_nothing() {
    let hook = world();
    call(&hook, &commit("one"));
    let written = || {
        let mut all = Vec::new();
        for dir in ["", "sessions", "commits", "../commits"] {
            let entries = fs::read_dir(hook.places().state.join(dir)).expect("folder").flatten();
            all.extend(entries.map(|e| (e.path(), e.metadata().expect("file").modified().ok())));
        }
        all.sort();
        all
    };
    let before = written();
    call(&hook, "git log --oneline; git status");
    assert_eq!(written(), before);
}

#[test]
fn the_agents_tools_cannot_write_the_list() {
    let hook = world();
    call(&hook, &commit("one"));
    let places = hook.places();
    for dir in [places.commits(), places.commit_claims()] {
        let path = dir.join("x.jsonl");
        let write = json!({"file_path": path, "content": "x"});
        assert_eq!(hook.pre("Write", &write).verdict(), "deny", "{}", path.display());
        assert_eq!(hook.bash(&format!("echo x >> {}", path.display())).verdict(), "deny");
    }
}
