//! Git Commit Messages: real repositories, real git, the real binary. What the session's own
//! shell calls commit comes into the job's list and its file; what anybody else does, doesn't.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Instant;

use brain_guard::git;
use brain_guard::store::{commits, jobs};
use serde_json::{Value, json};

use crate::harness::{Answer, Hook, finish};

/// A session in a repository that holds one commit of a person's.
fn world() -> Hook {
    let hook = Hook::begun();
    configure(&hook);
    person(
        &hook,
        &hook.project,
        "git init -q && echo .brain-guard > .gitignore && git add . && git commit -qm first",
    );
    hook
}

fn configure(hook: &Hook) {
    let config = "[user]\nname = A\nemail = a@b\n[init]\ndefaultBranch = main\n[advice]\ndetachedHead = false\n";
    fs::write(hook.home.join(".gitconfig"), config).expect("config");
}

fn shell(hook: &Hook, dir: &Path, command: &str) -> Answer {
    let mut shell = Command::new("/bin/bash");
    shell.arg("-ec").arg(command).env_clear().current_dir(dir);
    shell.env("HOME", &hook.home).env("PATH", "/usr/bin:/bin").env("GIT_CONFIG_NOSYSTEM", "1");
    shell.env("GIT_EDITOR", "true");
    finish(shell, b"")
}

/// Somebody else at work, some time ago.
fn person(hook: &Hook, dir: &Path, command: &str) {
    let ago = "export GIT_COMMITTER_DATE=\"@$(($(date +%s) - 30)) +0000\"\n";
    let ran = shell(hook, dir, &format!("{ago}{command}"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// What the client tells of a call that it ran.
fn told(ran: &Answer, command: &str, took: f64) -> (&'static str, Value) {
    let input = json!({"command": command});
    if ran.code == Some(0) {
        let response = json!({"stdout": format!("{}{}", ran.stdout, ran.stderr), "stderr": "",
            "interrupted": false, "isImage": false});
        let more = json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": input,
            "tool_response": response, "duration_ms": took});
        return ("PostToolUse", more);
    }
    let error = format!("Exit code {}\n{}{}", ran.code.unwrap_or(-1), ran.stdout, ran.stderr);
    (
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_use_id": "toolu_1",
        "tool_input": input, "error": error, "is_interrupt": false, "duration_ms": took}),
    )
}

/// A shell call of the agent's in a folder, and its event.
fn call_in(hook: &Hook, dir: &Path, command: &str) {
    let began = Instant::now();
    let ran = shell(hook, dir, command);
    let (event, mut more) = told(&ran, command, began.elapsed().as_millis() as f64);
    more["cwd"] = json!(dir);
    assert!(hook.send(&hook.payload(event, &more)).silent());
    assert_eq!(hook.log("fault"), Vec::<Value>::new(), "{command}: {ran:?}");
}

fn call(hook: &Hook, command: &str) {
    call_in(hook, &hook.project, command);
}

fn job(hook: &Hook) -> String {
    hook.state()["job"].as_str().expect("job").to_owned()
}

/// The list's subjects, newest first.
fn subjects(hook: &Hook) -> Vec<String> {
    let list = commits::list(&hook.places(), &job(hook)).unwrap_or_default();
    git::commits(&list).into_iter().map(|c| c.subject).collect()
}

/// The file's section.
fn section(hook: &Hook) -> String {
    let text = jobs::read(&hook.places(), &job(hook)).expect("read").expect("a file");
    text.split_once("## Git Commit Messages\n").expect("section").1.to_owned()
}

const COMMIT: &str = "c() { echo \"$1\" >> \"$1\"; git add .; git commit -m \"$@\"; }\n";

fn commit(names: &str) -> String {
    let each: Vec<_> = names.split(' ').map(|n| format!("c {n}")).collect();
    format!("{COMMIT}{}", each.join("\n"))
}

#[test]
fn commits_come_into_the_list_and_the_file() {
    let hook = world();
    call(&hook, &commit("one"));
    assert_eq!(subjects(&hook), ["one"]);
    assert!(!hook.file().exists(), "a commit makes no file");
    hook.agent("brain-guard append --kind why <<'EOF'\n- because\nEOF");
    assert!(section(&hook).contains("` one"), "{}", section(&hook));
    call(&hook, &format!("{COMMIT}c two -m 'the body\n\nof two'\nc three"));
    assert_eq!(subjects(&hook), ["three", "two", "one"]);
    let section = section(&hook);
    let at = |text: &str| section.find(text).unwrap_or_else(|| panic!("{text}: {section}"));
    assert!(
        at("` three") < at("` two") && at("` two") < at("the body") && at("of two") < at("` one")
    );
}

#[test]
fn quiet_commits_of_scripts_and_aliases_count() {
    let hook = world();
    fs::write(hook.project.join("release.sh"), "echo x > x\ngit add .\ngit commit -qm released\n")
        .expect("script");
    call(&hook, "sh release.sh > /dev/null 2>&1");
    call(&hook, "git config alias.ci 'commit -q --allow-empty' && git ci -m aliased");
    assert_eq!(subjects(&hook), ["aliased", "released"]);
}

#[test]
fn a_failed_call_has_committed_all_the_same() {
    let hook = world();
    call(&hook, &format!("{}; false", commit("one")));
    assert_eq!(subjects(&hook), ["one"]);
}

#[test]
fn an_amended_commit_takes_the_place_of_the_old_one() {
    let hook = world();
    call(&hook, &commit("one two"));
    call(&hook, "git commit -q --amend -m 'two, better'");
    assert_eq!(subjects(&hook), ["two, better", "one"]);
    // Of a person's commit, too: what stands there now is the agent's.
    person(&hook, &hook.project, &commit("theirs"));
    call(&hook, "git commit --amend -m 'ours now'");
    assert_eq!(subjects(&hook), ["ours now", "two, better", "one"]);
}

#[test]
fn a_rebase_rewrites_folds_and_drops() {
    let hook = world();
    call(&hook, &commit("one two three"));
    call(&hook, "echo more >> one; git commit -qa --fixup=HEAD~2");
    assert_eq!(subjects(&hook).len(), 4);
    call(&hook, "GIT_SEQUENCE_EDITOR=: git rebase -q -i --autosquash HEAD~4");
    assert_eq!(subjects(&hook), ["three", "two", "one"]);
    call(&hook, "GIT_SEQUENCE_EDITOR=\"sed -i '/ two/d'\" git rebase -q -i HEAD~3");
    assert_eq!(subjects(&hook), ["three", "one"]);
    call(
        &hook,
        "GIT_EDITOR=\"sed -i 1s/one/uno/\" GIT_SEQUENCE_EDITOR=\"sed -i 1s/pick/reword/\" git rebase -q -i HEAD~2",
    );
    assert_eq!(subjects(&hook), ["three", "uno"]);
    let list = commits::list(&hook.places(), &job(&hook)).expect("list");
    let real = shell(&hook, &hook.project, "git log --format=%H -2").stdout;
    let ours: Vec<_> = list.iter().filter(|e| !e.gone).rev().map(|e| e.hash.as_str()).collect();
    assert_eq!(real.lines().collect::<Vec<_>>(), ours);
}

#[test]
fn a_rebase_of_another_branch_and_one_that_stops_half_way() {
    let hook = world();
    call(&hook, &format!("git checkout -qb topic\n{}", commit("one two")));
    call(&hook, &format!("git checkout -q main\n{COMMIT}echo theirs > two; c three"));
    call(&hook, "git rebase main topic; true");
    assert!(hook.project.join(".git/rebase-merge").exists(), "two conflicts");
    call(&hook, "git checkout --theirs two; git add two; git rebase --continue");
    assert_eq!(subjects(&hook), ["two", "one", "three"]);
    call(
        &hook,
        "git reset -q --hard HEAD~1 && git checkout -q main && echo x > one && git add . && git commit -qm clash",
    );
    call(&hook, "git rebase main topic || git rebase --abort");
    assert_eq!(subjects(&hook), ["clash", "one", "three"]);
}

#[test]
fn a_reset_drops_and_brings_back() {
    let hook = world();
    call(&hook, &commit("one two three"));
    call(&hook, "git branch keep HEAD~1; git reset -q --hard HEAD~3");
    assert_eq!(subjects(&hook), ["two", "one"], "a branch keeps the rest");
    call(&hook, "git reset -q --hard HEAD@{1}");
    assert_eq!(subjects(&hook), ["three", "two", "one"]);
    call(&hook, "git reset -q --soft HEAD~2 && git commit -m squashed && git branch -D keep");
    call(&hook, "git reset -q HEAD; git stash -q; true");
    assert_eq!(subjects(&hook)[0], "squashed");
}

#[test]
fn merges_picks_and_reverts() {
    let hook = world();
    call(&hook, &format!("git checkout -qb f\n{}\ngit checkout -q main", commit("one")));
    call(&hook, "git merge -q --ff-only f");
    assert_eq!(subjects(&hook), ["one"], "a fast-forward makes nothing");
    call(
        &hook,
        &format!(
            "git checkout -q f\n{}\ngit checkout -q main\ngit merge -q --no-ff -m merged f",
            commit("two")
        ),
    );
    assert_eq!(subjects(&hook), ["merged", "two", "one"]);
    person(
        &hook,
        &hook.project,
        &format!("git checkout -qb g\n{}\ngit checkout -q main", commit("picked")),
    );
    call(&hook, "git cherry-pick g; git revert --no-edit HEAD");
    assert_eq!(subjects(&hook)[..2], ["Revert \"picked\"", "picked"]);
    call(
        &hook,
        "git format-patch -q -o /tmp/../$PWD/.brain-guard -1 g~0 2>/dev/null; git checkout -q --detach; git cherry-pick --allow-empty -x g || git cherry-pick --skip; true",
    );
    call(&hook, &format!("git checkout -q --detach\n{}", commit("detached")));
    assert_eq!(subjects(&hook)[0], "detached");
}

#[test]
fn what_others_made_is_pulled_without_a_word() {
    let hook = world();
    let up = hook.home.join("up");
    person(&hook, &hook.home, "git clone -q project up 2>/dev/null || git clone -q ../project up");
    person(&hook, &up, "for n in $(seq 500); do git commit -q --allow-empty -m \"up $n\"; done");
    call(
        &hook,
        &format!(
            "git remote add origin {} && git fetch -q && git pull -q origin main",
            up.display()
        ),
    );
    assert_eq!(subjects(&hook), Vec::<String>::new());
    call(&hook, &commit("mine"));
    person(&hook, &up, "git commit -q --allow-empty -m later");
    call(&hook, "git pull -q --rebase origin main");
    assert_eq!(subjects(&hook), ["mine"]);
    let list = commits::list(&hook.places(), &job(&hook)).expect("list");
    assert_eq!(list.iter().filter(|e| e.gone).count(), 1, "the one before the rebase");
    call(&hook, "git checkout -q HEAD~3 && git checkout -q main && git clone -q . .brain-guard/x");
    assert_eq!(subjects(&hook), ["mine"]);
}

#[test]
fn worktrees_nested_repositories_and_new_ones() {
    let hook = world();
    call(&hook, "git worktree add -q .brain-guard/wt -b wt");
    let tree = hook.project.join(".brain-guard/wt");
    call_in(&hook, &tree, &commit("in-worktree"));
    call(&hook, "git -C .brain-guard/wt commit -q --allow-empty -m from-outside");
    let nested = hook.project.join("nested");
    call(&hook, &format!("mkdir nested && cd nested && git init -q\n{}", commit("nested")));
    call_in(&hook, &nested, "git commit -q --allow-empty -m 'nested again'");
    assert_eq!(subjects(&hook), ["nested again", "nested", "from-outside", "in-worktree"]);
    let list = commits::list(&hook.places(), &job(&hook)).expect("list");
    let trees: Vec<PathBuf> = list.iter().map(|e| PathBuf::from(&e.worktree)).collect();
    assert_eq!(trees, [tree.clone(), tree, nested.clone(), nested]);
}

#[test]
fn no_repository_an_unborn_branch_and_one_that_is_made_later() {
    let hook = Hook::begun();
    configure(&hook);
    call(&hook, "ls");
    assert!(!hook.places().session(&hook.session, "git").exists(), "nothing to remember");
    call(&hook, "git init -q");
    call(&hook, "git status --short");
    call(&hook, &commit("born"));
    assert_eq!(subjects(&hook), ["born"]);
}

#[test]
fn a_persons_commit_between_two_calls_is_not_the_sessions() {
    let hook = world();
    call(&hook, &commit("one"));
    person(&hook, &hook.project, &commit("theirs"));
    call(&hook, "ls");
    call(&hook, "git log --oneline");
    person(&hook, &hook.project, "git commit -q --amend -m 'theirs, better'");
    call(&hook, "git commit -q --allow-empty -m two");
    assert_eq!(subjects(&hook), ["two", "one"]);
}

/// Ends with the test.
struct Client(Child);

impl Client {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().expect("started"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two sessions at work in one working tree: what each one's output reports is its own,
/// what neither reports is nobody's, and nothing is anybody's twice.
#[test]
fn a_parallel_sessions_commits_are_its_own() {
    let one = world();
    let client = Client::start();
    let two = one.beside("5e550000-0000-4000-8000-000000000002", client.0.id());
    two.start("startup");
    for session in [&one, &two] {
        session.prompt("go on");
        session.bash("ls");
    }
    // The second commits while a longer call of the first runs, and goes on working.
    let took = 5_000.0;
    call(&two, &commit("two-shown"));
    let quiet = shell(&two, &two.project, "git commit -q --allow-empty -m 'two, quiet'");
    let (event, more) = told(&shell(&one, &one.project, "ls"), "cargo test", took);
    one.send(&one.payload(event, &more));
    assert_eq!(subjects(&one), Vec::<String>::new());
    let (event, more) = told(&quiet, "git commit -q --allow-empty -m 'two, quiet'", took);
    two.send(&two.payload(event, &more));
    assert_eq!(subjects(&two), ["two, quiet", "two-shown"]);
    call(&one, &commit("one-shown"));
    call(&two, "ls");
    assert_eq!((subjects(&one), subjects(&two).len()), (vec!["one-shown".to_owned()], 2));
    // A quiet script of one while the other is at work: nobody can tell.
    fs::write(one.home.join("ship"), "git commit -q --allow-empty -m \"$1\"\n").expect("script");
    call(&one, "sh ~/ship quiet");
    assert_eq!(subjects(&one).len() + subjects(&two).len(), 3);
    two.stop();
    call(&one, "sh ~/ship alone");
    assert_eq!(subjects(&one), ["alone", "one-shown"]);
    assert_eq!(one.log("fault"), Vec::<Value>::new());
}

/// A subagent's short calls must not use up the lines of a long call that still runs.
#[test]
fn a_long_call_keeps_its_commits_from_the_short_ones_beside_it() {
    let hook = world();
    let ran = shell(&hook, &hook.project, "git commit -q --allow-empty -m early");
    // By the clock of the short call this was long ago.
    let log = hook.project.join(".git/logs/HEAD");
    let text = fs::read_to_string(&log).expect("reflog");
    let (before, last) = text.trim_end().rsplit_once('\n').expect("two lines");
    let at: i64 = last
        .split("> ")
        .nth(1)
        .and_then(|l| l.split(' ').next())
        .and_then(|s| s.parse().ok())
        .expect("seconds");
    let last = last.replace(&at.to_string(), &(at - 20).to_string());
    fs::write(&log, format!("{before}\n{last}\n")).expect("reflog");
    // The session must be as old as its call.
    let path = hook.places().session(&hook.session, "json");
    let mut state = hook.state();
    state["started"] = json!("2026-01-01T00:00:00Z");
    fs::write(&path, state.to_string()).expect("state");
    call(&hook, "ls");
    assert_eq!(subjects(&hook), Vec::<String>::new());
    let (event, more) = told(&ran, "git commit -q --allow-empty -m early && cargo test", 25_000.0);
    assert!(hook.send(&hook.payload(event, &more)).silent());
    assert_eq!(subjects(&hook), ["early"]);
}

#[test]
fn a_subagents_commits_are_the_sessions() {
    let hook = world();
    let ran = shell(&hook, &hook.project, &commit("from-agent"));
    let (event, mut more) = told(&ran, "git commit", 100.0);
    more["agent_id"] = json!("a1");
    assert!(hook.send(&hook.payload(event, &more)).silent());
    assert_eq!(subjects(&hook), ["from-agent"]);
}

#[test]
fn a_commit_in_the_background_is_found_at_the_turns_end() {
    let hook = world();
    let command = "sleep 1; git commit -q --allow-empty -m later";
    let more = json!({"tool_name": "Bash", "tool_use_id": "toolu_1",
        "tool_input": {"command": command, "run_in_background": true}, "duration_ms": 5,
        "tool_response": {"stdout": "", "stderr": "", "interrupted": false, "isImage": false, "backgroundTaskId": "b1"}});
    assert!(hook.send(&hook.payload("PostToolUse", &more)).silent());
    shell(&hook, &hook.project, "git commit -q --allow-empty -m later");
    let tasks = json!({"background_tasks": [{"id": "b1", "type": "shell", "status": "running", "command": command}]});
    assert!(hook.send(&hook.payload("Stop", &tasks)).silent());
    assert_eq!(subjects(&hook), ["later"]);
    assert!(hook.stop().silent());
    person(&hook, &hook.project, "unset GIT_COMMITTER_DATE; git commit -q --allow-empty -m theirs");
    assert!(hook.stop().silent());
    assert_eq!(subjects(&hook), ["later"], "it has ended");
}

#[test]
fn bodies_of_every_kind_leave_a_file_that_reads_the_same() {
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

/// By hand nothing stays there: it stands below until the seal, then in the archive.
#[test]
fn the_seal_restores_the_section_and_archives_what_was_written_by_hand() {
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
    // A commit after the seal leaves its stamp whole; sealing again takes it in.
    call(&hook, &commit("three"));
    let shown = hook.agent("brain-guard seal --no-clear");
    assert!(shown.stdout.contains("v0002"), "{shown:?}");
    assert!(section(&hook).contains("` three"));
}

#[test]
fn a_job_that_is_taken_over_takes_its_commits_along() {
    let hook = world();
    call(&hook, &commit("one"));
    let places = hook.places();
    commits::rename(&places, &job(&hook), "parser").expect("renamed");
    commits::rename(&places, &job(&hook), "parser").expect("nothing there");
    assert_eq!(commits::list(&places, "parser").expect("list").len(), 1);
    assert_eq!(commits::list(&places, &job(&hook)), None);
}

#[test]
fn five_hundred_commits_of_one_rebase_are_bounded_work() {
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

/// Where git keeps no reflog there is nothing to go by; the call passes all the same.
#[test]
fn without_a_reflog_nothing_is_taken_over() {
    let hook = Hook::begun();
    configure(&hook);
    call(&hook, "git init -q && git config core.logAllRefUpdates false");
    call(&hook, &commit("one"));
    assert_eq!(subjects(&hook), Vec::<String>::new());
    call(&hook, "rm -rf .git; git init -q --ref-format=reftable 2>/dev/null || git init -q");
    call(&hook, "true");
}

/// Hooks and filters of git may be at work around us: their environment is not ours.
#[test]
fn the_environment_of_the_client_does_not_lead_git_astray() {
    let mut hook = world();
    hook.set("GIT_DIR", "/nonexistent").set("GIT_WORK_TREE", "/nonexistent");
    call(&hook, &format!("{COMMIT}c one -m 'a body'"));
    let list = commits::list(&hook.places(), &job(&hook)).expect("list");
    assert_eq!(list[0].body, "a body");
}

/// No git on the hook's way: what the reflog says is better than nothing.
#[test]
fn without_git_the_reflogs_subject_stands() {
    let mut hook = world();
    hook.set("PATH", "/nonexistent");
    let ran = shell(&hook, &hook.project, &format!("{COMMIT}c one -m 'a body'"));
    let (event, more) = told(&ran, "git commit", 100.0);
    assert!(hook.send(&hook.payload(event, &more)).silent());
    assert_eq!(subjects(&hook), ["one"]);
    assert_eq!(hook.log("fault").len(), 1);
}
