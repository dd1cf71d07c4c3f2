//! What counts as a commit of the session, and what replaces it.

use std::fs;
use std::path::PathBuf;

use guard::files::commits;

use super::{
    COMMIT, call, call_in, commit, configure, job, person, section, shell, subjects, world,
};
use crate::support::hook::Hook;

#[test]
fn commits_are_added_to_the_list_and_the_file() {
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
    // It pauses because Git knows only whole seconds: the commit must not lie before the call.
    let script = "sleep 1\necho x > x\ngit add .\ngit commit -qm released\n";
    fs::write(hook.project.join("release.sh"), script).expect("script");
    call(&hook, "sh release.sh > /dev/null 2>&1");
    call(&hook, "git config alias.ci 'commit -q --allow-empty' && git ci -m aliased");
    assert_eq!(subjects(&hook), ["aliased", "released"]);
}

#[test]
fn commits_of_a_failed_call_count() {
    let hook = world();
    call(&hook, &format!("{}; false", commit("one")));
    assert_eq!(subjects(&hook), ["one"]);
}

#[test]
fn an_amended_commit_replaces_the_old_one() {
    let hook = world();
    call(&hook, &commit("one two"));
    call(&hook, "git commit -q --amend -m 'two, better'");
    assert_eq!(subjects(&hook), ["two, better", "one"]);
    // Amending a person's commit makes it the agent's.
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
fn conflicting_and_aborted_rebases_are_followed() {
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
fn a_reset_drops_and_restores_commits() {
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
fn merges_picks_and_reverts_count() {
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
fn pulled_commits_of_others_do_not_count() {
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
fn commits_in_worktrees_and_nested_repositories_count() {
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
fn a_repository_made_later_is_found() {
    let hook = Hook::begun();
    configure(&hook);
    call(&hook, "ls");
    assert!(!hook.places().session(&hook.session, "git").exists(), "nothing to remember");
    call(&hook, "git init -q");
    call(&hook, "git status --short");
    call(&hook, &commit("born"));
    assert_eq!(subjects(&hook), ["born"]);
}
