//! Where and with what the figures were measured.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Serialize;

/// The machine, the compiler and the program.
#[derive(Debug, Serialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub kernel: String,
    pub virtualised: bool,
    /// In UTC.
    pub date: String,
    pub rustc: String,
    pub target: String,
    pub program: String,
    /// The size of the program's file.
    pub program_bytes: u64,
}

impl Machine {
    /// The values on this machine.
    pub fn here(binary: &Path, target: &str) -> Self {
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = cpu.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let program = binary.to_str().expect("utf-8");
        Self {
            cpu: field("model name").unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            // The rest of the version is the builder's name for it.
            kernel: kernel.trim().split('-').next().unwrap_or_default().into(),
            virtualised: field("flags").is_some_and(|f| f.split(' ').any(|f| f == "hypervisor")),
            date: chrono::Utc::now().format("%Y-%m-%d").to_string(),
            rustc: said(Command::new("rustc").arg("--version")),
            target: target.into(),
            program: said(Command::new(program).arg("--version")),
            program_bytes: fs::metadata(binary).map_or(0, |m| m.len()),
        }
    }
}

/// The first line of a program's output.
fn said(command: &mut Command) -> String {
    let out = command.output().map(|o| o.stdout).unwrap_or_default();
    String::from_utf8_lossy(&out).lines().next().unwrap_or("unknown").to_owned()
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { cpu, cores, kernel, date, rustc, target, program, program_bytes, .. } = self;
        let kind = if self.virtualised { "virtualised" } else { "not virtualised" };
        let mib = *program_bytes as f64 / 1024.0 / 1024.0;
        writeln!(f, "{cpu}, {cores} cores, Linux {kernel}, {kind}; {date}")?;
        write!(f, "{program} ({mib:.1} MiB) built by {rustc} for {target}")
    }
}
