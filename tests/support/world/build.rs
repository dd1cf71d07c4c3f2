//! The options of a world, and the files written for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicU32;
use std::thread;

use serde_json::{Value, json};

use super::plugin::{self, Spy};
use super::surroundings::{API_KEY, client_state, environment};
use super::{KEY, World, set_guard};
use crate::support::client;
use crate::support::evidence::Evidence;
use crate::support::hook::split;
use crate::support::mock::{Mock, Reply, Request, Script};
use crate::support::process;
use base::env::TEST_CONSTANTS;

pub struct Builder {
    version: String,
    guard: bool,
    with_mod: bool,
    installed: bool,
    in_tmux: bool,
    spy: Option<Spy>,
    guard_settings: Option<Value>,
    guard_project_settings: Option<Value>,
    client_settings: Value,
    env: BTreeMap<String, String>,
    files: Vec<(String, String)>,
    home_files: Vec<(String, String)>,
    guard_binary: PathBuf,
    access: Option<BTreeMap<String, String>>,
    agent: Script,
    subagent: Script,
    is_strict: bool,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self {
            version: client::PINNED.to_owned(),
            guard: true,
            with_mod: true,
            installed: false,
            in_tmux: false,
            spy: None,
            guard_settings: None,
            guard_project_settings: None,
            client_settings: json!({
                "skipDangerousModePermissionPrompt": true,
                "permissions": {"defaultMode": "bypassPermissions"},
            }),
            env: BTreeMap::from([(TEST_CONSTANTS.to_owned(), split(json!({})).1)]),
            files: vec![("README.md".to_owned(), "# a project\n".to_owned())],
            home_files: Vec::new(),
            guard_binary: PathBuf::from(env!("CARGO_BIN_EXE_brain-guard")),
            access: None,
            agent: Box::new(|_| Reply::text("done")),
            subagent: Box::new(|_| Reply::text("sub done")),
            is_strict: false,
        }
    }

    /// Scripts the main conversation.
    pub fn agent(mut self, script: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        self.agent = Box::new(script);
        self
    }

    /// Scripts the subagents; by default they say "sub done".
    pub fn subagent(mut self, script: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        self.subagent = Box::new(script);
        self
    }

    /// Lets the model refuse thinking blocks after anything before them changed.
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Leaves out brain-guard.
    pub fn bare(mut self) -> Self {
        self.guard = false;
        self
    }

    /// Keeps brain-guard's hooks, but not its module.
    pub fn without_mod(mut self) -> Self {
        self.with_mod = false;
        self
    }

    /// Lets the client see that it runs in a tmux pane, so tmux can be the carrier.
    pub fn in_tmux(mut self) -> Self {
        self.in_tmux = true;
        self
    }

    /// Installs the plugin from a folder marketplace instead of using `--plugin-dir`.
    pub fn installed(mut self) -> Self {
        self.installed = true;
        self
    }

    /// Adds the spy; `World::hooks` returns its records.
    pub fn spy(mut self, spy: Spy) -> Self {
        self.spy = Some(spy);
        self
    }

    /// Sets brain-guard's user settings, and its constants.
    pub fn guard_settings(mut self, settings: Value) -> Self {
        let (settings, constants) = split(settings);
        self.env.insert(TEST_CONSTANTS.to_owned(), constants);
        self.guard_settings = Some(settings);
        self
    }

    pub fn guard_project_settings(mut self, settings: Value) -> Self {
        self.guard_project_settings = Some(settings);
        self
    }

    /// Sets a top-level key of the client's user settings.
    pub fn client_setting(mut self, key: &str, value: Value) -> Self {
        self.client_settings[key] = value;
        self
    }

    /// Sets the permission mode; the default is `bypassPermissions`.
    pub fn permission_mode(mut self, mode: &str) -> Self {
        self.client_settings["permissions"]["defaultMode"] = json!(mode);
        self
    }

    /// Runs the client's Bash in its sandbox.
    pub fn sandbox(self) -> Self {
        self.client_setting("sandbox", json!({"enabled": true}))
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    pub fn home_file(mut self, path: &str, text: &str) -> Self {
        self.home_files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// Uses another build of brain-guard than the one of this test.
    pub fn guard_binary(mut self, path: &Path) -> Self {
        path.clone_into(&mut self.guard_binary);
        self
    }

    /// Uses the API of these variables instead of the mock. The client gets only their key and
    /// address.
    pub fn access(mut self, variables: BTreeMap<String, String>) -> Self {
        self.access = Some(variables);
        self
    }

    /// Uses another version of the client than the pinned one.
    pub fn client(mut self, version: &str) -> Self {
        version.clone_into(&mut self.version);
        self
    }

    /// Writes the files and starts the mock.
    pub fn start(self) -> World {
        let temp =
            tempfile::Builder::new().prefix("bg-e2e-").tempdir().expect("a temporary folder");
        // The client resolves the project to its real path.
        let root = temp.path().canonicalize().expect("the temporary folder is there");
        let evidence = Evidence::default();
        let mock = Mock::start(self.agent, self.subagent, self.is_strict, &evidence);
        for folder in ["home", "project", "state", "tmp", "spy"] {
            std::fs::create_dir(root.join(folder)).expect("the temporary folder is writable");
        }
        let (home, project) = (root.join("home"), root.join("project"));
        let key = self.access.as_ref().map_or(Some(KEY), |set| Some(set.get(API_KEY)?.as_str()));
        plugin::write(&home.join(".claude.json"), &client_state(&project, key).to_string());
        plugin::write(&home.join(".claude/settings.json"), &self.client_settings.to_string());
        if let Some(settings) = &self.guard_settings {
            set_guard(&home, settings);
        }
        if let Some(settings) = &self.guard_project_settings {
            plugin::write(&project.join(".brain-guard/settings.json"), &settings.to_string());
        }
        for (path, text) in &self.files {
            plugin::write(&project.join(path), text);
        }
        for (path, text) in &self.home_files {
            plugin::write(&home.join(path), text);
        }
        let mut plugins = Vec::new();
        if self.guard {
            let folder = root.join("plugins/brain-guard");
            let (repository, binary) = (Path::new(env!("CARGO_MANIFEST_DIR")), &self.guard_binary);
            plugin::assemble(repository, binary, &folder, self.with_mod);
            plugins.push(folder);
        }
        if let Some(spy) = &self.spy {
            let folder = root.join("plugins/spy");
            spy.write(&folder);
            plugins.push(folder);
        }
        let mut env = environment(&root, &mock.url());
        if let Some(access) = self.access {
            env.retain(|name, _| name != API_KEY && name != "ANTHROPIC_BASE_URL");
            env.extend(access);
        }
        env.extend(self.env);
        let name = thread::current().name().unwrap_or("world").replace("::", "-");
        let mut world = World {
            name,
            binary: client::binary(&self.version),
            guard_binary: self.guard_binary,
            env,
            plugins,
            in_tmux: self.in_tmux,
            terminals: AtomicU32::new(0),
            mock,
            evidence,
            root,
            _temp: temp,
        };
        world.git();
        if self.installed && self.guard {
            let folder = world.plugins.remove(0);
            world.install(&folder);
        }
        world.watch();
        world
    }
}

impl World {
    fn git(&self) {
        let identity = ["-c", "user.name=tester", "-c", "user.email=tester@example.invalid"];
        for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "start"]] {
            let mut git = Command::new("git");
            git.args(identity)
                .args(arguments)
                .current_dir(self.project())
                .env_clear()
                .envs(&self.env);
            let output = process::run(&mut git, process::DEADLINE).expect("git runs");
            assert!(output.status.success(), "git {arguments:?}: {}", output.stderr);
        }
    }

    /// Installs the plugin from a marketplace of this name, whose folder it returns.
    pub fn install_from(&self, market: &str) -> PathBuf {
        let folder = self.plugin(market);
        let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
        plugin::assemble(repository, &self.guard_binary, &folder, true);
        let path = folder.join(".claude-plugin/marketplace.json");
        let text = std::fs::read_to_string(&path).expect("marketplace.json");
        let mut named: Value = serde_json::from_str(&text).expect("marketplace.json is JSON");
        named["name"] = json!(market);
        plugin::write(&path, &named.to_string());
        self.install(&folder);
        folder
    }

    /// Adds the folder as a marketplace and installs the plugin from it, by the client's commands.
    fn install(&self, folder: &Path) {
        let path = folder.join(".claude-plugin/marketplace.json");
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let market: Value = serde_json::from_str(&text).expect("marketplace.json is JSON");
        let name =
            |value: &Value| value["name"].as_str().expect("marketplace.json names it").to_owned();
        let plugin = format!("{}@{}", name(&market["plugins"][0]), name(&market));
        let folder = folder.display().to_string();
        for arguments in
            [["plugin", "marketplace", "add", &folder].as_slice(), &["plugin", "install", &plugin]]
        {
            let output = process::run(self.command().args(arguments), process::DEADLINE)
                .expect("the client runs");
            let said = format!("{}{}", output.stdout, output.stderr);
            assert!(output.status.success(), "claude {arguments:?}: {said}");
        }
    }
}
