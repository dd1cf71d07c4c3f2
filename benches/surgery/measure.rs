//! What is measured: a program with what must be so before it starts.

use std::fs::{self, File, FileTimes};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::case::Case;
use crate::place;
use crate::session::{MB, Session};

/// Bytes that a program of ours may have resident beside its largest round or row.
const MEMORY: u64 = 64 * MB;

/// Rounds that the search looks through.
pub const MANY: u64 = 100_000;

/// What is measured at one size.
pub struct Measure {
    pub name: &'static str,
    /// What it does, for the page.
    pub about: &'static str,
    pub case: Case,
    /// Bytes of session that it works on.
    pub bytes: u64,
    /// Bytes that it may have resident, where there is a goal: its fixed part and the largest round.
    pub memory: Option<u64>,
    /// Taken away before each start, outside of the measured time.
    pub fresh: Vec<PathBuf>,
    /// Files that are laid there then, from where: what a start changes is as before it.
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
    /// Of a program on a session.
    pub fn of(name: &'static str, about: &'static str, case: Case, session: &Session) -> Self {
        let (bytes, memory) = (session.bytes, None);
        Self { name, about, case, bytes, memory, fresh: Vec::new(), laid: Vec::new() }
    }

    /// Held to our bound of memory, with so many bytes beside it.
    pub fn bounded(self, largest: u64) -> Self {
        Self { memory: Some(MEMORY + largest), ..self }
    }

    /// Tried once, which brings it into memory, too.
    ///
    /// # Errors
    /// What the program says when it fails.
    pub fn checked(self) -> Result<Self, String> {
        self.prepare();
        tried(&self.case)?;
        Ok(self)
    }

    /// Takes away what the last run left.
    pub fn prepare(&self) {
        for path in &self.fresh {
            let _ = fs::remove_dir_all(path);
            fs::create_dir_all(path).expect("a folder");
        }
        for (from, to) in &self.laid {
            lay(from, to).expect("a copy");
        }
    }

    /// One run, of what is in memory, while the disk has nothing else to do.
    pub fn time(&self) -> Duration {
        self.prepare();
        rustix::fs::sync();
        self.warm().expect("what it reads");
        self.case.time()
    }

    /// Reads what the program reads. A machine may take files out of memory while another program
    /// runs, and the next one would be measured reading them from the disk.
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

/// Copies a file, with the time of the other. It is on the disk: what the disk is still at
/// would be measured along.
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
/// What it says where it fails.
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
