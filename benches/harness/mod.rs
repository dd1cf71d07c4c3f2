//! What the benchmarks share: arguments, programs to measure, and the rounds of measuring.

pub mod report;
pub mod trace;

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Instant;

use rustix::fs::Advice;

use trace::Trace;

pub const MB: u64 = 1024 * 1024;

/// The command line.
#[derive(Default)]
pub struct Bench {
    /// The program to measure, and the target it is built for.
    pub binary: PathBuf,
    pub target: String,
    /// A fresh folder; `./bench` removes it.
    pub work: PathBuf,
    /// What the user typed.
    pub command: String,
    pub quick: bool,
    pub write: bool,
    pub accept: bool,
}

impl Bench {
    /// The arguments and the mode. `./bench` puts program, target and folder first.
    ///
    /// # Errors
    /// An unknown argument.
    pub fn parse(words: &[String]) -> Result<(Self, &str), String> {
        let [binary, target, work, typed @ ..] = words else {
            return Err("run ./bench, which builds the program".into());
        };
        let mode =
            typed.first().filter(|word| matches!(word.as_str(), "surgery" | "extract" | "view"));
        let mut bench = Self {
            binary: binary.into(),
            target: target.clone(),
            work: work.into(),
            command: ["./bench".into()].iter().chain(typed).cloned().collect::<Vec<_>>().join(" "),
            ..Self::default()
        };
        for word in &typed[usize::from(mode.is_some())..] {
            match word.as_str() {
                "--quick" => bench.quick = true,
                "--write" => bench.write = true,
                "--accept" if mode.is_none() => bench.accept = true,
                other => {
                    return Err(format!("unknown argument {other}; the top of ./bench lists them"));
                }
            }
        }
        if bench.write && (bench.quick || bench.accept) {
            return Err("--write writes down the whole run; leave out --quick and --accept".into());
        }
        Ok((bench, mode.map_or("hook", String::as_str)))
    }
}

/// A program with its input.
#[derive(Clone, Default)]
pub struct Case {
    pub name: String,
    /// MB of transcript or session; 0 for none.
    pub megabytes: u64,
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub stdin: Vec<u8>,
    /// Runs before each start, outside of the measured time.
    pub before: Option<Rc<dyn Fn()>>,
    /// The resident KiB it may have.
    pub most_kib: Option<u64>,
    /// Whether its instructions are counted, which takes fifty times as long.
    pub counted: bool,
}

impl Case {
    pub fn title(&self) -> String {
        let size =
            if self.megabytes == 0 { String::new() } else { format!(", {} MB", self.megabytes) };
        format!("{}{size}", self.name)
    }

    /// Another program without arguments in the same environment.
    pub fn instead(&self, name: &str, program: &Path) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            env: self.env.clone(),
            stdin: self.stdin.clone(),
            ..Self::default()
        }
    }

    /// The program, started by a tool if there is one. The input is a file, because the number of
    /// reads from a pipe depends on its writer.
    pub fn command(&self, tool: &[&str]) -> Command {
        if let Some(before) = &self.before {
            before();
        }
        let program = self.program.to_str().expect("utf-8");
        let mut words = tool.iter().copied().chain([program]);
        let mut command = Command::new(words.next().expect("a program"));
        let mut input = tempfile::tempfile().expect("input");
        input.write_all(&self.stdin).and_then(|()| input.rewind()).expect("input");
        command.args(words).args(&self.args).env_clear().envs(self.env.iter().cloned());
        command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs it once and returns its output.
    ///
    /// # Errors
    /// The first line of its error.
    pub fn output(&self) -> Result<Vec<u8>, String> {
        let done = self.command(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).output();
        let done = done.map_err(|why| format!("{}: {why}", self.program.display()))?;
        if done.status.success() {
            return Ok(done.stdout);
        }
        let said = String::from_utf8_lossy(&done.stderr);
        Err(format!("{}: {}", self.title(), said.lines().next().unwrap_or("failed without a word")))
    }

    /// Milliseconds from start to end.
    fn time(&self) -> f64 {
        let mut command = self.command(&[]);
        let begun = Instant::now();
        let status = command.status().expect("started");
        let taken = begun.elapsed();
        assert!(status.success(), "{} failed", self.title());
        taken.as_secs_f64() * 1e3
    }
}

/// A measured case.
pub struct Row {
    pub case: Case,
    pub trace: Trace,
    pub instructions: Option<u64>,
    /// Milliseconds, shortest first.
    pub ms: Vec<f64>,
    /// The median over the rounds of its time divided by the first case's.
    pub ratio: f64,
}

/// Counts each case, then times all in rounds. A round starts each case once, in an order that
/// rotates, so that a slow phase of the machine affects all.
pub fn measure(cases: Vec<Case>, rounds: usize) -> Vec<Row> {
    // Counts come first, because the files that a run leaves are the same then in every run.
    let counts: Vec<_> = cases
        .iter()
        .map(|case| (trace::trace(case), case.counted.then(|| trace::instructions(case))))
        .collect();
    // A file that was just written is mapped up to twice as fast as one that is read from disk.
    for file in cases.iter().filter_map(|case| File::open(&case.program).ok()) {
        file.sync_all().expect("on the disk");
        rustix::fs::fadvise(&file, 0, None, Advice::DontNeed).expect("dropped");
    }
    let mut times = vec![Vec::new(); cases.len()];
    for round in 0..rounds {
        for turn in 0..cases.len() {
            let index = (turn + round) % cases.len();
            times[index].push(cases[index].time());
        }
    }
    let first = times[0].clone();
    let rows = cases.into_iter().zip(counts).zip(times);
    rows.map(|((case, (trace, instructions)), ms)| {
        let ratios = sorted(ms.iter().zip(&first).map(|(own, first)| own / first).collect());
        Row { case, trace, instructions, ratio: quantile(&ratios, 0.5), ms: sorted(ms) }
    })
    .collect()
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The value below which this share of the sorted ones lies.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
