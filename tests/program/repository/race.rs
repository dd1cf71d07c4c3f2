//! Swaps files and folders for links in a loop while verbs and hooks run.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::repository::attack::{Attack, Outcome};
use crate::repository::judge::judge;
use crate::repository::play::Player;
use crate::repository::world::{SECRET, World, notes, write};
use crate::support::hook::Hook;

/// Runs of the program for each swap.
const RUNS: usize = 250;
const MINE: &str = "my-job";

pub fn all() -> Vec<Attack> {
    let race = |name: &str, path: &'static str, to: &'static str| {
        Attack::story(&format!("race: {name}"), move || race(path, to))
    };
    vec![
        race("the file", ".brain-guard/jobs/my-job/compaction.md", ".ssh/authorized_keys"),
        race(
            "the file and notes elsewhere",
            ".brain-guard/jobs/my-job/compaction.md",
            "outside/compaction.md",
        ),
        race("the prompts", ".brain-guard/jobs/my-job/prompts.jsonl", ".ssh/authorized_keys"),
        race("the record", ".brain-guard/jobs/my-job/job.json", "outside/job.json"),
        race("the sealed versions", ".brain-guard/jobs/my-job/sealed", "outside/sealed"),
        race("the job's folder", ".brain-guard/jobs/my-job", "outside/my-job"),
        race("the jobs", ".brain-guard/jobs", "outside/jobs"),
        race("the requests", ".brain-guard/requests", "outside/requests"),
        race(".brain-guard", ".brain-guard", "outside/guard"),
    ]
}

fn race(path: &str, to: &str) -> Outcome {
    let mut world = World::new();
    world.about(MINE);
    decoys(&world.hook.home.join("outside"));
    let mut p = Player::new(&world);
    p.start("startup");
    p.hook.fill(5.0);
    p.read();
    p.prompt("Build the parser");
    assert!(p.verb("brain-guard append --kind next 'a note'"), "{:?}", p.steps);
    assert!(p.verb("brain-guard job focus my-job"), "{:?}", p.steps);
    assert!(p.verb("brain-guard seal --no-clear"), "{:?}", p.steps);
    let hook = p.hook;
    world.file(".brain-guard/requests/none.jsonl", "");
    world.mark();
    let swap = Swap {
        real: world.at(path),
        beside: world.hook.project.join("swapped"),
        to: world.hook.home.join(to),
    };
    let (stop, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut found = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                swaps.fetch_add(usize::from(swap.once()), Ordering::Relaxed);
            }
        });
        let found: BTreeSet<_> = (0..RUNS).filter_map(|number| run(&hook, number)).collect();
        stop.store(true, Ordering::Relaxed);
        found.into_iter().collect::<Vec<_>>()
    });
    found.extend(judge(&world, &[], true));
    let swaps = swaps.into_inner();
    if swaps < RUNS {
        found.push(format!("CONTROL: only {swaps} swaps in {RUNS} runs"));
    }
    Outcome::of(found)
}

/// A file or folder of the project, and a link beside it to swap with.
struct Swap {
    real: PathBuf,
    beside: PathBuf,
    to: PathBuf,
}

impl Swap {
    /// Swaps both, whatever the program made of them; `false` if that failed.
    fn once(&self) -> bool {
        let link = |path: &Path| fs::symlink_metadata(path).map(|meta| meta.is_symlink());
        let (real, beside) = (link(&self.real), link(&self.beside));
        // A failure means that the program changed the files meanwhile; try again.
        if real.is_err() && matches!(beside, Ok(false)) {
            let _ = fs::rename(&self.beside, &self.real);
        } else if !matches!(real, Ok(true)) && !matches!(beside, Ok(true)) {
            let _ = fs::remove_file(&self.beside);
            let _ = symlink(&self.to, &self.beside);
        }
        renameat_with(CWD, &self.real, CWD, &self.beside, RenameFlags::EXCHANGE).is_ok()
    }
}

/// Targets of the links, for everything that is read or written there.
fn decoys(outside: &Path) {
    let notes = notes(MINE, SECRET);
    for place in ["my-job", "jobs/my-job", "guard/jobs/my-job"] {
        for file in ["compaction.md", "sealed/v0001.md"] {
            write(&outside.join(place).join(file), &notes);
        }
        let phase = json!({"phase": {"name": SECRET}});
        write(&outside.join(place).join("job.json"), &phase.to_string());
    }
    write(&outside.join("requests/none.jsonl"), "");
    write(&outside.join("guard/requests/none.jsonl"), "");
}

/// One run of a verb or hook; what it leaked.
fn run(hook: &Hook, number: usize) -> Option<String> {
    let verbs: [&[&str]; 9] = [
        &["append", "--kind", "thread", "one more"],
        &["close"],
        &["seal", "--no-clear"],
        &["job", "list"],
        &["job", "show", MINE],
        &["job", "show", MINE, "--version", "1"],
        &["job", "restore", MINE, "--version", "1"],
        &["phase", "list"],
        &["steering"],
    ];
    let bash = |command: &str| hook.call("Bash", &json!({"command": command}));
    let hooks = [
        hook.call("Read", &json!({"file_path": "/etc/hostname"})),
        bash("brain-guard append --kind thread x"),
        hook.payload("SessionStart", &json!({"source": "compact"})),
        hook.payload("UserPromptSubmit", &json!({"prompt": "go on"})),
        hook.payload("PostToolBatch", &json!({"tool_calls": []})),
    ];
    let number = number % (verbs.len() + hooks.len());
    let (command, stdin): (Command, String) = match verbs.get(number) {
        Some(verb) => (hook.command(verb), String::new()),
        None => (hook.command(&["hook"]), hooks[number - verbs.len()].to_string()),
    };
    let ran =
        crate::support::run::run(command, stdin.as_bytes(), std::time::Duration::from_secs(10));
    let said = format!("{}{}", ran.answer.stdout, ran.answer.stderr);
    if ran.hung {
        return Some(format!("HUNG: run {number}"));
    }
    said.contains(SECRET).then(|| format!("READ: a secret is printed by run {number}"))
}
