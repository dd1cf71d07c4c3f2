//! A copy that the client installed from a marketplace: its offer, `/brain-guard:setup`, and the
//! link after an update.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::hook::{Answer, Hook, PROGRAM, finish};

const OFFER: &str = "brain-guard: /brain-guard:setup adds the terminal command and the key chords";

/// A session whose hooks run from this version in the client's plugin cache.
struct Copy {
    hook: Hook,
    program: PathBuf,
}

impl Copy {
    fn of(mut hook: Hook, version: &str) -> Self {
        let plugins = hook.home.join(".claude/plugins/cache/market/brain-guard");
        let folder = plugins.join(version);
        let program = folder.join("bin/brain-guard");
        fs::create_dir_all(folder.join("bin")).expect("folder");
        if !program.exists() && fs::hard_link(PROGRAM, &program).is_err() {
            fs::copy(PROGRAM, &program).expect("another file system");
        }
        hook.set("CLAUDE_PLUGIN_ROOT", folder.to_str().expect("utf-8"));
        Self { hook, program }
    }

    /// Runs the hook of this copy.
    fn send(&self, event: &str, more: &serde_json::Value) -> Answer {
        let mut command = std::process::Command::new(&self.program);
        command.arg("hook").env_clear().envs(self.hook.variables()).current_dir(&self.hook.project);
        finish(command, self.hook.payload(event, more).to_string().as_bytes())
    }

    fn start(&self, source: &str) -> Answer {
        self.send("SessionStart", &json!({"source": source}))
    }

    fn setup(&self, args: &str) -> String {
        let typed =
            json!({"command_name": "brain-guard:setup", "command_args": args, "prompt": "x"});
        let reply = self.send("UserPromptExpansion", &typed).json();
        assert_eq!(reply["decision"], "block", "{reply}");
        reply["reason"].as_str().expect("reason").to_owned()
    }

    fn link(&self) -> PathBuf {
        self.hook.home.join(".local/bin/brain-guard")
    }

    fn target(&self) -> Option<PathBuf> {
        fs::read_link(self.link()).ok()
    }

    fn link_to(&self, target: &Path) {
        fs::create_dir_all(self.link().parent().expect("parent")).expect("folder");
        symlink(target, self.link()).expect("link");
    }

    fn keys(&self) -> PathBuf {
        self.hook.home.join(".claude/keybindings.json")
    }
}

#[test]
fn the_offer_is_made_once_to_a_person_who_starts_a_session() {
    let mut copy = Copy::of(Hook::new(), "0.1.0");
    copy.hook.set("CLAUDE_CODE_SESSION_ATTENDED", "0");
    assert!(copy.start("startup").silent());
    copy.hook.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    for source in ["resume", "clear", "compact"] {
        assert!(!copy.start(source).user().contains("setup"), "{source}");
    }
    assert_eq!(copy.start("startup").user(), OFFER);
    assert!(copy.start("startup").silent());
    copy.hook.project = copy.hook.home.join("another");
    fs::create_dir(&copy.hook.project).expect("folder");
    let project = copy.hook.project.display().to_string();
    copy.hook.set("CLAUDE_PROJECT_DIR", &project);
    assert!(copy.start("startup").silent(), "in another project");
}

#[test]
fn no_offer_to_an_installed_copy_or_beside_one() {
    let hook = Hook::new();
    assert!(hook.start("startup").silent());
    let copy = Copy::of(hook, "0.1.0");
    copy.link_to(&copy.hook.home.join(".local/share/brain-guard/current/bin/brain-guard"));
    assert!(copy.start("startup").silent());
}

#[test]
fn setup_links_and_binds_and_off_undoes_it() {
    let copy = Copy::of(Hook::new(), "0.1.0");
    copy.start("startup");
    assert!(copy.hook.prompt("/brain-guard:setup").silent());
    assert_eq!(copy.hook.state()["turn"], json!(null), "no turn begins");
    let said = copy.setup("");
    assert!(said.contains("(new)") && said.contains("/brain-guard:setup off"), "{said}");
    assert_eq!(copy.target().as_ref(), Some(&copy.program));
    assert!(copy.keys().exists());
    assert!(copy.setup("on").contains("takes nothing or `off`"));
    let said = copy.setup("off");
    assert!(said.contains("removed") && said.contains("taken out"), "{said}");
    assert!(copy.target().is_none() && !copy.keys().exists());
}

#[test]
fn setup_respects_chords_that_are_off() {
    let copy = Copy::of(Hook::new(), "0.1.0");
    copy.hook.settings(&json!({"boundary": {"chords": "off"}}));
    assert!(copy.setup("").contains("boundary.chords is off"));
    assert!(copy.target().is_some() && !copy.keys().exists());
}

#[test]
fn setup_changes_nothing_that_install_made() {
    let copy = Copy::of(Hook::new(), "0.1.0");
    let installed = copy.hook.home.join(".local/share/brain-guard/current/bin/brain-guard");
    copy.link_to(&installed);
    assert!(copy.setup("").contains("nothing changed"));
    assert!(copy.setup("off").contains("nothing changed"));
    assert_eq!(copy.target(), Some(installed));
    assert!(!copy.keys().exists());
}

#[test]
fn setup_forged_in_the_agents_shell_is_refused() {
    let copy = Copy::of(Hook::new(), "0.1.0");
    copy.start("startup");
    let typed = json!({"command_name": "brain-guard:setup", "command_args": "", "prompt": "x"});
    let payload = copy.hook.payload("UserPromptExpansion", &typed).to_string();
    let mut shell = std::process::Command::new("/bin/sh");
    // The second command keeps the shell alive as the hook's parent.
    shell.args(["-c", "\"$0\" hook; true"]).arg(&copy.program).env_clear();
    shell.envs(copy.hook.variables()).current_dir(&copy.hook.project);
    let answer = finish(shell, payload.as_bytes()).json();
    assert!(answer["reason"].as_str().expect("reason").contains("no agent started"), "{answer}");
    assert!(copy.target().is_none());
}

#[test]
fn a_start_after_an_update_points_the_link_to_the_new_version() {
    let old = Copy::of(Hook::new(), "0.0.9");
    old.setup("");
    let before = old.program;
    let new = Copy::of(old.hook, "0.1.0");
    for source in ["clear", "compact"] {
        new.start(source);
        assert_eq!(new.target().as_ref(), Some(&before), "the client may be older than {source}");
    }
    new.send("UserPromptSubmit", &json!({"prompt": "x"}));
    assert_eq!(new.target().as_ref(), Some(&before));
    assert!(new.start("startup").silent());
    assert_eq!(new.target().as_ref(), Some(&new.program));
}

#[test]
fn a_start_leaves_links_of_others() {
    let copy = Copy::of(Hook::new(), "0.1.0");
    let cache = copy.hook.home.join(".claude/plugins/cache");
    for theirs in ["other/brain-guard/0.0.9", "market/other/0.0.9"] {
        let target = cache.join(theirs).join("bin/brain-guard");
        copy.link_to(&target);
        assert!(copy.start("startup").silent());
        assert_eq!(copy.target(), Some(target));
        fs::remove_file(copy.link()).expect("link");
    }
}
