//! The plugin from a marketplace, as users add it: `scripts/plugin` makes its repository, and git
//! takes a folder for the address on GitHub.

use std::env::consts;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{climb_and_seal, deliveries, moves, percent, step, unattended};
use crate::support::client::{OLDEST, PINNED};
use crate::support::mock::Reply;
use crate::support::process::{self, DEADLINE};
use crate::support::world::{Builder, World};

const ADDRESS: &str = "brain-guard/plugin";
const PLUGIN: &str = "brain-guard@brain-guard";

/// A world whose git reads the marketplace's repository from the world's own folder.
fn world(builder: Builder) -> World {
    let world = builder.bare().start();
    let config = format!(
        "[url \"file://{}\"]\n\tinsteadOf = https://github.com/{ADDRESS}.git\n\
         \tinsteadOf = git@github.com:{ADDRESS}.git\n\
         [user]\n\tname = releaser\n\temail = releaser@example.invalid\n",
        repository(&world).display()
    );
    fs::write(world.home().join(".gitconfig"), config).expect("own file");
    world
}

fn repository(world: &World) -> PathBuf {
    world.home().with_file_name("repository")
}

fn run(command: &mut Command) -> String {
    let output = process::run(command, DEADLINE).expect("it runs");
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    assert!(!said.contains('✘'), "{command:?}: {said}");
    said
}

fn git(world: &World, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(repository(world)).env("HOME", world.home());
    run(&mut git);
}

/// Publishes a release with programs for these machines; all of them are the program under test.
fn publish(world: &World, machines: &[&str]) {
    let programs = world.home().with_file_name("programs");
    fs::create_dir_all(&programs).expect("own folder");
    for machine in machines {
        let program = programs.join(format!("brain-guard-{machine}-unknown-linux-musl"));
        fs::copy(env!("CARGO_BIN_EXE_brain-guard"), program).expect("own file");
    }
    let mut script = Command::new("scripts/plugin");
    script.arg(repository(world)).arg(programs).current_dir(env!("CARGO_MANIFEST_DIR"));
    run(&mut script);
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-qm", "one"]]
    {
        git(world, arguments);
    }
}

fn claude(world: &World, arguments: &[&str]) -> String {
    run(world.command().args(arguments))
}

fn add(world: &World) {
    claude(world, &["plugin", "marketplace", "add", ADDRESS]);
    claude(world, &["plugin", "install", PLUGIN]);
}

#[track_caller]
fn no_error_line(screen: &str) {
    for word in ["hook failed", "hook error", "ENOENT", "not found"] {
        assert!(!screen.contains(word), "{word}: {screen}");
    }
}

#[test]
fn a_plugin_from_a_marketplace_guards_is_updated_under_a_session_and_goes() {
    guards_is_updated_and_goes(PINNED);
}

#[test]
fn the_oldest_client_takes_the_plugin_from_a_marketplace_too() {
    guards_is_updated_and_goes(OLDEST);
}

fn guards_is_updated_and_goes(version: &str) {
    let mut steps = climb_and_seal();
    steps.push(step(|_| Reply::text("Sealed. I end my turn.").tokens(percent(31.2))));
    steps.push(step(|_| Reply::text("I go on with the lexer.").tokens(percent(5.0))));
    steps.push(step(|_| Reply::bash("echo updated").tokens(percent(5.1))));
    steps.push(step(|_| Reply::text("Still here.").tokens(percent(5.2))));
    let world =
        world(World::build().client(version).guard_settings(unattended()).agent(moves(steps)));
    publish(&world, &[consts::ARCH, "riscv64"]);
    add(&world);

    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    tui.wait_screen("the fresh session's answer", |s| s.contains("I go on with the lexer."));
    let requests = world.mock.main();
    assert_eq!(deliveries(requests.last().expect("a request")), 1);
    tui.wait_idle();
    no_error_line(&tui.screen());

    // The next release, in the middle of the session.
    let manifest = repository(&world).join(".claude-plugin/plugin.json");
    let text = fs::read_to_string(&manifest).expect("own file");
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&manifest, text.replace(&version, "\"version\": \"99.0.0\"")).expect("own file");
    git(&world, &["commit", "-qam", "two"]);
    claude(&world, &["plugin", "marketplace", "update", "brain-guard"]);
    let said = claude(&world, &["plugin", "update", PLUGIN]);
    assert!(said.contains("99.0.0"), "{said}");
    tui.prompt("Go on");
    tui.wait_screen("the turn's end", |s| s.contains("Still here."));
    tui.wait_idle();
    no_error_line(&tui.screen());
    tui.quit();

    claude(&world, &["plugin", "uninstall", PLUGIN]);
    let without = world.tui(&[]);
    without.prompt("Anything left?");
    without.wait_screen("the turn's end", |s| s.contains("nothing more to do"));
    without.wait_idle();
    no_error_line(&without.screen());
}

#[test]
fn a_marketplace_without_a_program_for_this_machine_says_so_in_one_line() {
    let world = world(World::build().agent(|request| match request.n {
        1 => Reply::bash("echo one"),
        _ => Reply::text("That was all."),
    }));
    publish(&world, &["riscv64"]);
    add(&world);
    let tui = world.tui(&[]);
    let screen = tui.wait_screen("what to do", |s| s.contains("no program for this machine"));
    assert_eq!(screen.matches("no program for this machine").count(), 1, "{screen}");
    tui.prompt("Build the parser");
    tui.wait_screen("the turn's end", |s| s.contains("That was all."));
    tui.wait_idle();
    no_error_line(&tui.screen());
}
