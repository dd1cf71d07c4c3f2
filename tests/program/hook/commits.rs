//! Git Commit Messages, with real git and the real binary: a seal lists what the session committed in
//! its worktree since it began.

use std::fs;
use std::path::Path;
use std::process::Command;

use guard::files::jobs;
use serde_json::json;

use crate::support::hook::{Answer, Hook, finish};

/// A session in a repository with one commit by a person.
fn world() -> Hook {
    let hook = Hook::new();
    configure(&hook);
    person(&hook, &hook.project, "git init -q && git commit -q --allow-empty -m first");
    hook.begin();
    hook
}

fn configure(hook: &Hook) {
    let config = "[user]\nname = A\nemail = a@b\n[init]\ndefaultBranch = main\n";
    fs::write(hook.home.join(".gitconfig"), config).expect("config");
}

fn shell(hook: &Hook, dir: &Path, command: &str) -> Answer {
    let mut shell = Command::new("/bin/bash");
    shell.arg("-ec").arg(command).env_clear().current_dir(dir);
    shell.env("HOME", &hook.home).env("PATH", "/usr/bin:/bin").env("GIT_CONFIG_NOSYSTEM", "1");
    shell.env("GIT_EDITOR", "true");
    finish(shell, b"")
}

/// Runs a command as another person, half a minute ago.
fn person(hook: &Hook, dir: &Path, command: &str) {
    let ago = "export GIT_COMMITTER_DATE=\"@$(($(date +%s) - 30)) +0000\"\n";
    let ran = shell(hook, dir, &format!("{ago}{command}"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// Runs the agent's shell call in a folder and sends its event.
fn call_in(hook: &Hook, dir: &Path, command: &str) {
    let ran = shell(hook, dir, command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    told(hook, dir, command, &format!("{}{}", ran.stdout, ran.stderr));
}

fn told(hook: &Hook, dir: &Path, command: &str, output: &str) {
    let told = json!({
        "tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": command}, "cwd": dir,
        "tool_response": {"stdout": output, "stderr": "", "interrupted": false, "isImage": false},
    });
    assert!(hook.send(&hook.payload("PostToolUse", &told)).silent());
}

fn call(hook: &Hook, command: &str) {
    call_in(hook, &hook.project, command);
}

fn commit(names: &str) -> String {
    let one = |name: &str| format!("echo x >> {name}; git add .; git commit -m {name}");
    names.split(' ').map(one).collect::<Vec<_>>().join("\n")
}

/// The subjects in the section after a seal, newest first.
fn sealed(hook: &Hook) -> Vec<String> {
    hook.agent("brain-guard append --kind why 'because of this'");
    let ran = hook.agent("brain-guard seal --no-clear");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines = section(hook);
    lines
        .lines()
        .filter_map(|l| Some(l.strip_prefix("- `")?.split_once("` ")?.1.to_owned()))
        .collect()
}

/// The commits section of the file.
fn section(hook: &Hook) -> String {
    let job = hook.state()["job"].as_str().expect("job").to_owned();
    let text = jobs::read(&hook.places(), &job).expect("read").expect("a file");
    text.split_once("## Git Commit Messages\n").expect("section").1.to_owned()
}

#[test]
fn a_seal_lists_what_the_session_committed() {
    let hook = world();
    call(&hook, &commit("one two"));
    call(&hook, "git commit -q --allow-empty -m three -m 'the body\n\nof three'");
    assert_eq!(sealed(&hook), ["three", "two", "one"]);
    assert!(section(&hook).contains("the body") && section(&hook).contains("of three"));
    call(&hook, "git commit -q --amend --allow-empty -m 'three, better'");
    call(&hook, &commit("four"));
    assert_eq!(sealed(&hook), ["four", "three, better", "two", "one"]);
    call(&hook, "git reset -q --hard HEAD~3");
    assert_eq!(sealed(&hook), ["one"]);
}

#[test]
fn commits_of_the_sessions_before_stay() {
    let mut hook = world();
    hook.agent("brain-guard job focus work --no-clear");
    call(&hook, &commit("one two"));
    assert_eq!(sealed(&hook), ["two", "one"]);
    hook.session = "5e550000-0000-4000-8000-000000000002".to_owned();
    let session = hook.session.clone();
    hook.set("CLAUDE_CODE_SESSION_ID", &session);
    hook.start("clear");
    call(&hook, &commit("three"));
    assert_eq!(sealed(&hook), ["three", "two", "one"]);
    // A rebase gives them other hashes.
    call(&hook, "git rebase -q --force-rebase HEAD~3");
    assert_eq!(sealed(&hook), ["three", "two", "one"]);
}

#[test]
fn older_commits_of_others_do_not_count() {
    let hook = world();
    let up = hook.home.join("up");
    person(&hook, &hook.home, "git clone -q ../project up");
    person(&hook, &up, "git commit -q --allow-empty -m theirs");
    call(&hook, &format!("git pull -q {} main", up.display()));
    call(&hook, &commit("mine"));
    assert_eq!(sealed(&hook), ["mine"]);
}

#[test]
fn the_worktree_of_the_shell_counts() {
    let hook = world();
    call(&hook, "git worktree add -q ../tree -b tree");
    let tree = hook.project.join("../tree");
    call_in(&hook, &tree, &commit("in-tree"));
    hook.send(&hook.payload(
        "PreToolUse",
        &json!({
            "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls"}, "cwd": tree,
        }),
    ));
    hook.agent("brain-guard append --kind why 'because of this'");
    let mut asked = hook.call("Bash", &json!({"command": "brain-guard seal --no-clear"}));
    asked["cwd"] = json!(tree);
    assert_eq!(hook.send(&asked).verdict(), "allow");
    assert!(section(&hook).contains("` in-tree"), "{}", section(&hook));
}

#[test]
fn beside_another_session_only_reported_commits_count() {
    let hook = world();
    let mut client = Command::new("sleep").arg("60").spawn().expect("a client");
    let other = hook.beside("5e550000-0000-4000-8000-000000000009", client.id());
    other.begin();
    call(&hook, &commit("reported"));
    shell(&hook, &hook.project, &commit("quiet"));
    let first = shell(&hook, &hook.project, "git rev-list --max-parents=0 HEAD").stdout;
    told(&hook, &hook.project, "sh test.sh", &format!("[main {}] ok", &first[..7]));
    assert_eq!(sealed(&hook), ["reported"], "neither the other's nor what a script claims");
    client.kill().expect("killed");
    client.wait().expect("ended");
}

#[test]
fn a_repository_made_later_is_found() {
    let hook = Hook::begun();
    configure(&hook);
    call(&hook, &format!("git init -q\n{}", commit("born")));
    assert_eq!(sealed(&hook), ["born"]);
}

#[test]
fn any_commit_message_keeps_the_file_parsable() {
    let hook = world();
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
    fs::write(hook.home.join("message"), "long".repeat(300_000)).expect("message");
    call(&hook, "git commit -q --allow-empty -F ~/message");
    call(
        &hook,
        "printf 'latin \\351\\n\\nbody \\377\\n' | git -c i18n.commitEncoding=ISO-8859-1 commit -q --allow-empty -F -",
    );
    assert_eq!(sealed(&hook).len(), bodies.len() + 2);
    let text = fs::read_to_string(hook.file()).expect("file");
    assert_eq!(text.matches("## Forward State\n<!--").count(), 1, "{text}");
    assert!(section(&hook).contains("latin é"), "{}", section(&hook));
}

#[test]
fn handwritten_commits_go_into_the_archive() {
    let hook = world();
    call(&hook, &commit("one"));
    assert_eq!(sealed(&hook), ["one"]);
    let text = fs::read_to_string(hook.file()).expect("file");
    let edited =
        text.replace("` one", "` one, and I did much more") + "- `0123456789` all tests pass\n";
    fs::write(hook.file(), edited).expect("edited");
    assert_eq!(sealed(&hook), ["one"]);
    let removed = hook.file().with_file_name("sealed").join("v0002.removed.md");
    let removed = fs::read_to_string(removed).expect("archive");
    assert!(removed.contains("all tests pass") && removed.contains("much more"), "{removed}");
}

#[test]
fn a_job_taken_over_keeps_its_commits() {
    let hook = world();
    hook.prompt("write the parser");
    call(&hook, &commit("one"));
    assert_eq!(sealed(&hook), ["one"]);
    let ran = hook.agent("brain-guard job focus parser");
    assert_eq!((ran.code, hook.state()["job"].as_str()), (Some(0), Some("parser")), "{ran:?}");
    call(&hook, &commit("two"));
    assert_eq!(sealed(&hook), ["two", "one"]);
}

/// The client may run inside git hooks or filters; their variables must not reach our git.
#[test]
fn the_clients_environment_does_not_misdirect_git() {
    let mut hook = world();
    hook.set("GIT_DIR", "/nonexistent").set("GIT_WORK_TREE", "/nonexistent");
    call(&hook, &commit("one"));
    assert_eq!(sealed(&hook), ["one"]);
}

#[test]
fn without_git_the_seal_goes_on() {
    let mut hook = world();
    call(&hook, &commit("one"));
    let path = hook.home.join("bin");
    fs::create_dir(&path).expect("folder");
    std::os::unix::fs::symlink("/bin/cat", path.join("cat")).expect("cat");
    hook.set("PATH", &path.display().to_string());
    assert_eq!(sealed(&hook), Vec::<String>::new());
    assert_eq!(hook.journal("fault").len(), 1, "{:?}", hook.journal("fault"));
    hook.set("PATH", "/usr/bin:/bin");
    assert_eq!(sealed(&hook), ["one"]);
}
