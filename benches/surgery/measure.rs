//! A measure: a program with its preconditions.

use std::fs::{self, File, FileTimes};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::case::Case;
use crate::place;
use crate::session::{MB, Session};

/// Bytes that our programs may have resident beyond their largest round or row.
const MEMORY: u64 = 64 * MB;

/// Rounds in the store for searches.
pub const MANY: u64 = 100_000;

pub struct Measure {
    pub name: &'static str,
    /// What it does, for the page.
    pub about: &'static str,
    pub case: Case,
    /// The session's bytes.
    pub bytes: u64,
    /// The allowed resident bytes, if there is a goal: a fixed part plus the largest round.
    pub memory: Option<u64>,
    /// Removed before each start, outside of the measured time.
    pub fresh: Vec<PathBuf>,
    /// Files copied into place (source, target) before each start, because a run changes them.
    pub laid: Vec<(PathBuf, PathBuf)>,
}

pub const SCAN: &str = "scan";
pub const ROUNDS: &str = "rounds";
pub const IMPORT: &str = "import";
pub const AGAIN: &str = "import again";
pub const REWRITE: &str = "compress-before, the first round";
pub const HALF: &str = "compress-before, half";
pub const MERGE: &str = "merge";
pub const SEARCH: [&str; 3] = ["search, rare word", "search, common word", "search, two words"];
pub const COPY: &str = "cp";
pub const SYNCED: &str = "cp, sync";
pub const DIGEST: &str = "sha256sum";
pub const TYPED: &str = "serde_json, typed";
pub const JQ: &str = "jq -c .";
pub const PYTHON: &str = "Python json";

impl Measure {
    /// A program on a session.
    pub fn of(name: &'static str, about: &'static str, case: Case, session: &Session) -> Self {
        let (bytes, memory) = (session.bytes, None);
        Self { name, about, case, bytes, memory, fresh: Vec::new(), laid: Vec::new() }
    }

    /// Adds our memory bound, plus this many bytes.
    pub fn bounded(self, largest: u64) -> Self {
        Self { memory: Some(MEMORY + largest), ..self }
    }

    /// Runs it once as a check, which also brings it into memory.
    ///
    /// # Errors
    /// The program's error.
    pub fn checked(self) -> Result<Self, String> {
        self.prepare();
        tried(&self.case)?;
        Ok(self)
    }

    /// Removes what the last run left.
    pub fn prepare(&self) {
        for path in &self.fresh {
            let _ = fs::remove_dir_all(path);
            fs::create_dir_all(path).expect("a folder");
        }
        for (from, to) in &self.laid {
            lay(from, to).expect("a copy");
        }
    }

    /// Times one run with warm caches and an idle disk.
    pub fn time(&self) -> Duration {
        self.prepare();
        rustix::fs::sync();
        self.warm().expect("what it reads");
        self.case.time()
    }

    /// Reads the program's input, because the machine may drop cached files while another program
    /// runs.
    fn warm(&self) -> io::Result<()> {
        let mut room = vec![0; MB as usize];
        let files = self.case.args.iter().map(Path::new).filter(|path| path.is_file());
        for path in files.chain(place::store(&self.case).filter(|store| store.is_dir())) {
            read(path, &mut room)?;
        }
        Ok(())
    }
}

/// Reads a file, or all files below a folder.
fn read(path: &Path, room: &mut [u8]) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            read(&entry?.path(), room)?;
        }
        return Ok(());
    }
    let mut file = File::open(path)?;
    while file.read(room)? > 0 {}
    Ok(())
}

/// Copies a file with its time, and syncs it, because pending disk writes would distort the
/// measurement.
fn lay(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to)?;
    let file = File::options().write(true).open(to)?;
    file.set_times(FileTimes::new().set_modified(fs::metadata(from)?.modified()?))?;
    file.sync_all()
}

/// Runs it once.
///
/// # Errors
/// The program's error.
pub fn tried(case: &Case) -> Result<(), String> {
    let mut command = Command::new(&case.program);
    command.args(&case.args).env_clear().envs(case.env.iter().map(|(k, v)| (k, v)));
    let done = command.stdin(Stdio::null()).stdout(Stdio::null()).output();
    let done = done.map_err(|e| format!("{}: {e}", case.program.display()))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(said.lines().next().unwrap_or("it failed without a word").to_owned())
}
