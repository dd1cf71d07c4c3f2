//! Starting, timing and comparing.

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A program with what it is given.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub stdin: Vec<u8>,
}

impl Case {
    /// The program that every other is compared with: given the same, it does nothing.
    fn baseline(of: &Self) -> Self {
        Self { name: "/bin/true".into(), program: Path::new("/bin/true").into(), ..of.clone() }
    }

    /// Starts it the way every case is started, and waits for its end.
    fn time(&self) -> Duration {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let begun = Instant::now();
        let mut child = command.spawn().expect("started");
        if let Some(mut pipe) = child.stdin.take() {
            // `/bin/true` may be gone before it was told anything.
            let _ = pipe.write_all(&self.stdin);
        }
        let status = child.wait().expect("ended");
        let taken = begun.elapsed();
        assert!(status.success(), "{} failed", self.name);
        taken
    }
}

/// What came of one case.
#[derive(Debug)]
pub struct Figures {
    pub name: String,
    /// Milliseconds that half, nine tenths and 99 of 100 runs took at most.
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    /// Median of the rounds' ratios to `/bin/true`.
    pub ratio: f64,
}

impl Figures {
    fn of(name: &str, times: &[Duration], baseline: &[Duration]) -> Self {
        let mut ms: Vec<f64> = times.iter().map(|t| t.as_secs_f64() * 1e3).collect();
        let mut ratios: Vec<f64> =
            times.iter().zip(baseline).map(|(t, b)| t.as_secs_f64() / b.as_secs_f64()).collect();
        ms.sort_by(f64::total_cmp);
        ratios.sort_by(f64::total_cmp);
        let at =
            |sorted: &[f64], part: f64| sorted[((sorted.len() - 1) as f64 * part).round() as usize];
        Self {
            name: name.into(),
            p50: at(&ms, 0.5),
            p90: at(&ms, 0.9),
            p99: at(&ms, 0.99),
            ratio: at(&ratios, 0.5),
        }
    }

    pub fn json(&self) -> Value {
        json!({"case": self.name, "p50_ms": self.p50, "p90_ms": self.p90, "p99_ms": self.p99, "ratio": self.ratio})
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { name, p50, p90, p99, ratio } = self;
        write!(f, "{name:<36} {p50:>7.3} {p90:>7.3} {p99:>7.3}   {ratio:>11.2}")
    }
}

/// Runs the cases and `/bin/true` in rounds.
pub fn measure(cases: &[Case], rounds: usize) -> Vec<Figures> {
    let all: Vec<Case> =
        std::iter::once(Case::baseline(&cases[0])).chain(cases.iter().cloned()).collect();
    let mut times: Vec<Vec<Duration>> = vec![Vec::with_capacity(rounds); all.len()];
    // The first rounds bring programs and files into memory.
    for round in 0..rounds + 5 {
        for turn in 0..all.len() {
            let index = (turn + round) % all.len();
            let taken = all[index].time();
            if round >= 5 {
                times[index].push(taken);
            }
        }
    }
    all.iter().zip(&times).map(|(case, own)| Figures::of(&case.name, own, &times[0])).collect()
}
