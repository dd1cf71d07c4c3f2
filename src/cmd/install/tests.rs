//! Uses real folders, and a stand-in for the client that keeps its lists in files.

use std::path::PathBuf;

use super::installation::cached_plugin;
use std::os::unix::fs::PermissionsExt as _;
use std::{fs, process::Command};

use super::*;
use crate::cmd::uninstall::{list_kept, uninstall};

/// Answers `plugin …` as the client does, from files in its folder. Logs calls that change them.
const CLIENT: &str = r#"#!/bin/sh
cd "$(dirname "$0")" || exit 1
[ -e refuse ] && { echo "mock refusal" >&2; exit 1; }
shift
case "$*" in
"marketplace list --json") if [ -e market ]; then printf '[{"name":"brain-guard","path":"%s"}]' "$(cat market)"; else echo '[]'; fi; exit;;
"list --json") printf '[{"id":"another@brain-guard"}'
  [ -e plugin ] && printf ',{"id":"brain-guard@brain-guard","version":"%s","enabled":%s}' "$(cat plugin)" "$(cat enabled)"
  [ -e other ] && printf ',{"id":"brain-guard@acme"}'
  echo ']'; exit;;
esac
echo "$*" >> log
case "$*" in
"marketplace add "*) printf %s "$3" > market;;
install*|update*) printf %s VERSION > plugin; printf true > enabled;;
uninstall*) rm plugin;;
"marketplace remove"*) rm market;;
esac
"#;

struct World {
    folder: tempfile::TempDir,
    program: PathBuf,
    at: Installation,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("client")).expect("folder");
        let client = at("client/claude");
        let text = CLIENT.replace("VERSION", env!("CARGO_PKG_VERSION"));
        fs::write(at("client/text"), text).expect("client");
        // Written by another process: what this one has open for writing, a process that another
        // test forks meanwhile holds open, and it can't be run.
        let mut copy = Command::new("install");
        copy.args(["-m", "755"]).args([&at("client/text"), &client]);
        assert!(copy.status().expect("install").success());
        fs::write(at("program"), "#!/bin/sh\n").expect("program");
        let installation = Installation {
            data: at("data/brain-guard"),
            path_folders: vec![at("bin")],
            links: at("bin"),
            shells: shell::folders(&at("data"), &at("user-config")),
            client: Some(client),
            config: at("config"),
            state: at("state"),
            store: at("data/brain-guard"),
        };
        Self { program: at("program"), at: installation, folder }
    }

    fn install(&self) -> String {
        let mut out = Vec::new();
        install(&self.at, &self.program, &mut out).expect("install");
        String::from_utf8(out).expect("utf-8")
    }

    fn uninstall(&self) -> Result<String> {
        let mut out = Vec::new();
        uninstall(&self.at, &mut out)?;
        list_kept(&self.at, &mut out)?;
        Ok(String::from_utf8(out)?)
    }

    fn client_file(&self, name: &str) -> PathBuf {
        self.folder.path().join("client").join(name)
    }

    /// The changes that the client was asked for.
    fn log(&self) -> String {
        fs::read_to_string(self.client_file("log")).unwrap_or_default()
    }

    fn releases(&self) -> usize {
        fs::read_dir(&self.at.data).expect("data").count() - 1
    }
}

#[test]
fn the_folder_the_link_and_the_client_agree() {
    let world = World::new();
    let said = world.install();
    let current = world.at.current();
    for (path, bytes) in assets::ASSETS.iter() {
        assert_eq!(fs::read(current.join(path)).expect(path), *bytes);
    }
    let binary = current.join(place::BINARY);
    assert_eq!(fs::read(&binary).expect("binary"), b"#!/bin/sh\n");
    assert_eq!(fs::metadata(&binary).expect("meta").permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read_link(world.at.links.join(COMMAND)).expect("link"), binary);
    let told = format!("marketplace add {}\ninstall {}\n", current.display(), client::PLUGIN);
    assert_eq!(world.log(), told);
    assert_eq!(said.matches("(new)").count(), 4, "{said}");
}

#[test]
fn a_second_run_changes_nothing_and_says_so() {
    let world = World::new();
    world.install();
    let before = (world.log(), fs::read_link(world.at.current()).expect("link"));
    let said = world.install();
    assert_eq!((world.log(), fs::read_link(world.at.current()).expect("link")), before);
    assert_eq!(said.matches("(unchanged)").count(), 4, "{said}");
}

#[test]
fn another_binary_takes_the_place_of_the_one_before() {
    let world = World::new();
    world.install();
    fs::write(&world.program, "#!/bin/sh\n# newer\n").expect("program");
    assert!(world.install().contains("(new)"));
    let binary = fs::read_to_string(world.at.current().join(place::BINARY)).expect("binary");
    assert!(binary.contains("newer"));
    assert_eq!(world.releases(), 1);
}

#[test]
fn a_damaged_release_is_repaired() {
    let world = World::new();
    world.install();
    let hooks = world.at.current().join("hooks/hooks.json");
    fs::write(&hooks, "{}").expect("damage");
    fs::remove_file(world.at.current().join(place::BINARY)).expect("damage");
    assert!(world.install().contains("(new)"));
    assert_ne!(fs::read_to_string(&hooks).expect("hooks"), "{}");
    assert!(world.at.current().join(place::BINARY).exists());
}

#[test]
fn a_command_that_is_not_ours_stays() {
    let world = World::new();
    fs::create_dir(&world.at.links).expect("folder");
    let link = world.at.links.join(COMMAND);
    fs::write(&link, "theirs").expect("file");
    assert!(world.install().contains("is not ours and stays"));
    assert!(world.at.command().starts_with(world.at.current()), "ours is named for the user");
    assert!(world.uninstall().expect("uninstall").contains("is not ours and stays"));
    assert_eq!(fs::read_to_string(&link).expect("file"), "theirs");
}

#[test]
fn without_a_link_everything_else_is_done() {
    let world = World::new();
    fs::write(&world.at.links, "a file in the folder's place").unwrap();
    let said = world.install();
    assert!(said.contains("could not be made (") && said.contains("or call "), "{said}");
    assert!(world.at.current().join(place::BINARY).is_file());
}

#[test]
fn a_link_to_a_copy_from_a_marketplace_is_ours() {
    let world = World::new();
    fs::create_dir(&world.at.links).expect("folder");
    let link = world.at.links.join(COMMAND);
    let cached = world.at.config.join("plugins/cache/acme/brain-guard/0.1.0/bin/brain-guard");
    std::os::unix::fs::symlink(&cached, &link).expect("link");
    assert!(world.install().contains("bin/brain-guard (new)"));
    assert_eq!(fs::read_link(&link).expect("link"), world.at.current().join(place::BINARY));
    fs::remove_file(&link).expect("link");
    std::os::unix::fs::symlink(&cached, &link).expect("link");
    world.uninstall().expect("uninstall");
    assert!(!link.is_symlink());
}

#[test]
fn without_a_client_everything_else_is_done() {
    let mut world = World::new();
    world.at.client = None;
    assert!(world.install().contains("no `claude` found"));
    assert!(world.at.links.join(COMMAND).exists());
}

#[test]
fn a_disabled_plugin_stays_disabled() {
    let world = World::new();
    world.install();
    fs::write(world.client_file("enabled"), "false").expect("disable");
    let before = world.log();
    assert!(world.install().contains("it is disabled: `claude plugin enable"));
    assert_eq!(world.log(), before);
}

#[test]
fn an_older_version_in_the_client_is_brought_up_to_date() {
    let world = World::new();
    world.install();
    fs::write(world.client_file("plugin"), "0.0.1").expect("version");
    world.install();
    assert!(world.log().ends_with(&format!("update {}\n", client::PLUGIN)));
}

#[test]
fn a_client_that_refuses_leaves_a_valid_folder_and_can_be_tried_again() {
    let world = World::new();
    fs::write(world.client_file("refuse"), "").expect("file");
    let registration = install(&world.at, &world.program, &mut Vec::new()).expect("install");
    let said = registration.sentence("claude", "/home/me/.local/bin/brain-guard");
    assert!(
        said.starts_with("installed, but registering it failed: ") && said.contains("mock refusal")
    );
    assert!(said.ends_with("run `/home/me/.local/bin/brain-guard install` again"), "{said}");
    assert!(world.at.current().join(place::BINARY).exists());
    fs::remove_file(world.client_file("refuse")).expect("file");
    assert!(world.install().contains("from the next session"));
}

#[test]
fn another_folder_of_the_same_marketplace_is_named() {
    let world = World::new();
    fs::write(world.client_file("market"), "/src/brain-guard").expect("market");
    assert!(world.install().contains("until now from /src/brain-guard"));
}

#[test]
fn a_copy_from_another_marketplace_is_named_and_stays() {
    let world = World::new();
    assert!(!world.install().contains("acme"));
    fs::write(world.client_file("other"), "").expect("file");
    let way = "claude plugin uninstall brain-guard@acme";
    assert!(world.install().contains(way));
    let said = world.uninstall().expect("uninstall");
    assert!(said.contains(way) && !said.contains("uninstall brain-guard@brain-guard"), "{said}");
    assert!(!world.log().contains("acme"));
}

#[test]
fn uninstall_undoes_it_and_keeps_what_was_written() {
    let world = World::new();
    world.install();
    let state = world.folder.path().join("state");
    fs::create_dir(&state).expect("state");
    let said = world.uninstall().expect("uninstall");
    assert!(!world.at.data.exists() && !world.at.links.join(COMMAND).is_symlink());
    assert_eq!(fs::read_dir(&world.at.shells[3]).expect("folder").count(), 0);
    assert!(!world.client_file("market").exists() && !world.client_file("plugin").exists());
    assert!(state.exists() && said.contains(&state.display().to_string()));
    assert!(world.uninstall().expect("again").contains("was not there"));
}

/// The store is in the same folder as the releases.
#[test]
fn uninstall_keeps_the_imported_sessions() {
    let world = World::new();
    world.install();
    let session = world.at.data.join("sessions/claude/one/session.db");
    fs::create_dir_all(session.parent().expect("folder")).expect("store");
    fs::write(&session, "tags").expect("store");
    assert!(world.install().contains("unchanged"));
    let said = world.uninstall().expect("uninstall");
    let sessions = world.at.data.join("sessions");
    assert!(said.contains(&format!("{} (imported sessions", sessions.display())), "{said}");
    assert!(session.exists());
}

#[test]
fn uninstall_removes_the_clients_copies_of_this_plugin_only() {
    let world = World::new();
    world.install();
    let plugins = world.at.config.join("plugins");
    let own = "cache/brain-guard/brain-guard/0.0.1/bin/brain-guard";
    let others = [
        "cache/acme/brain-guard/0.0.1/plugin.json",
        "data/brain-guard-brain-guard/theirs",
        "data/brain-guard-acme/theirs",
    ];
    for file in others.into_iter().chain([own]) {
        let file = plugins.join(file);
        fs::create_dir_all(file.parent().expect("folder")).expect("folder");
        fs::write(file, [0; 2048]).expect("file");
    }
    world.uninstall().expect("uninstall");
    assert!(!plugins.join("cache/brain-guard").exists());
    assert!(others.iter().all(|file| plugins.join(file).exists()));
}

#[test]
fn uninstall_lists_what_stays_with_its_size() {
    let world = World::new();
    world.install();
    let kept = ["state/p/log.jsonl", "data/brain-guard/extracted/objects/1.pack"];
    for file in kept {
        let file = world.folder.path().join(file);
        fs::create_dir_all(file.parent().expect("folder")).expect("folder");
        fs::write(file, [0; 3000]).expect("file");
    }
    let said = world.uninstall().expect("uninstall");
    for line in ["state (notes, state,", "extracted (content of"] {
        let line =
            said.lines().find(|l| l.contains(line)).unwrap_or_else(|| panic!("{line}: {said}"));
        assert!(line.ends_with("3.0 KB)"), "{line}");
    }
    assert!(kept.iter().all(|file| world.folder.path().join(file).exists()));
}

#[test]
fn uninstall_leaves_a_marketplace_that_lies_elsewhere_and_foreign_files() {
    let world = World::new();
    world.install();
    fs::write(world.client_file("market"), "/src/brain-guard").expect("market");
    fs::write(world.at.data.join("notes"), "theirs").expect("file");
    assert!(world.uninstall().expect("uninstall").contains("reads it from /src/brain-guard"));
    assert!(world.client_file("plugin").exists());
    assert_eq!(fs::read_dir(&world.at.data).expect("data").count(), 1);
}

#[test]
fn a_client_that_refuses_to_forget_keeps_its_folder() {
    let world = World::new();
    world.install();
    fs::write(world.client_file("refuse"), "").expect("file");
    assert!(world.uninstall().is_err());
    assert!(world.at.current().join(place::BINARY).exists());
}

#[test]
fn only_programs_in_a_plugin_cache_are_cached() {
    let plugin = Path::new("/h/.claude/plugins/cache/m/p");
    assert_eq!(cached_plugin(&plugin.join("1.0/bin/brain-guard-x86_64")), Some(plugin));
    for other in [
        "/h/.local/share/brain-guard/current/bin/brain-guard",
        "/h/plugins/cache/p/1.0/bin/brain-guard",
        "/h/plugins/cache/m/p/1.0/lib/brain-guard",
        "plugins/cache/m/p/1.0/bin/brain-guard",
        "/",
    ] {
        assert_eq!(cached_plugin(Path::new(other)), None, "{other}");
    }
}

#[test]
fn uninstall_leaves_open_sessions_a_hook_that_does_nothing() {
    let world = World::new();
    world.install();
    let binary = world.at.current().join(place::BINARY);
    place::remove(&world.at.data, None).expect("remove");
    place::leave_idle_hook(&world.at.data).expect("idle");
    let ended = Command::new("sh").arg(&binary).arg("hook").output().expect("hook");
    assert!(ended.status.success() && ended.stdout.is_empty());
    world.install();
    assert_eq!(world.releases(), 1);
    place::leave_idle_hook(&world.at.data).expect("idle");
    world.uninstall().expect("uninstall");
    assert!(!world.at.data.exists());
}

#[test]
fn a_program_that_is_not_on_the_path_is_typed_with_its_path() {
    let world = World::new();
    assert_eq!(world.at.typed(&world.at.link()), "brain-guard");
    let elsewhere = world.folder.path().join("elsewhere");
    let at = Installation { links: elsewhere.clone(), ..world.at.clone() };
    assert_eq!(at.typed(&at.link()), elsewhere.join("brain-guard").to_string_lossy());
}

#[test]
fn a_client_that_is_not_on_the_path_is_found_where_installers_put_it() {
    let home = tempfile::tempdir().expect("home");
    let config = home.path().join(".claude");
    let find = || client::find(&[], home.path(), &config);
    fs::write(home.path().join(".npmrc"), "audit=false\nprefix = ~/tools/np\n").expect("npmrc");
    for place in [
        ".nvm/versions/node/v22.1.0/bin",
        "tools/np/bin",
        ".claude/local",
        ".npm-global/bin",
        ".local/bin",
    ] {
        let folder = home.path().join(place);
        fs::create_dir_all(&folder).expect("folder");
        let client = folder.join("claude");
        fs::write(&client, "").expect("client");
        assert_ne!(find(), Some(client.clone()), "a shell would not start it");
        fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).expect("mode");
        assert_eq!(find(), Some(client));
    }
}

#[test]
fn another_program_that_comes_first_on_the_path_is_named() {
    let world = World::new();
    let first = world.folder.path().join("first");
    fs::create_dir(&first).expect("folder");
    fs::write(first.join("brain-guard"), "").expect("file");
    let path_folders = vec![first.clone(), world.folder.path().join("bin")];
    let at = Installation { path_folders, ..world.at.clone() };
    let mut out = Vec::new();
    install(&at, &world.program, &mut out).expect("install");
    let said = String::from_utf8(out).expect("utf-8");
    let other =
        format!("brain-guard starts {}, which comes first", first.join("brain-guard").display());
    assert!(said.contains(&other), "{said}");
    assert_eq!(at.typed(&at.link()), at.link().to_string_lossy());
}
