//! What is measured: a program with what must be so before it starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::args::Args;
use crate::case::Case;
use crate::rows::{self, Mix, Session};

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
    fresh: Vec<PathBuf>,
}

pub const SCAN: &str = "scan";
pub const ROUNDS: &str = "rounds";
pub const INSCRIBE: &str = "inscribe";
pub const AGAIN: &str = "inscribe again";
pub const REWRITE: &str = "compress-before, the first round";
pub const HALF: &str = "compress-before, half";
pub const MERGE: &str = "merge";
pub const SEARCH: [&str; 3] = ["search, rare word", "search, common word", "search, two words"];
pub const COPY: &str = "cp";
pub const COPY_TWO: &str = "cp, both sessions";
pub const SYNCED: &str = "cp, sync";
pub const DIGEST: &str = "sha256sum";
pub const TYPED: &str = "serde_json, typed";
pub const JQ: &str = "jq -c .";
pub const PYTHON: &str = "Python json";

/// MB that an operation may have resident beside its largest round.
const MEMORY: u64 = 64 * rows::MB;

/// The folders of one size, and the programs' surroundings.
pub struct World {
    session: Session,
    other: Session,
    store: PathBuf,
    case: Case,
    binary: PathBuf,
    passes: PathBuf,
    work: PathBuf,
}

impl World {
    /// Makes the sessions, where they are not there, and inscribes them.
    ///
    /// # Errors
    /// What can't be made.
    pub fn new(args: &Args, megabytes: u64) -> Result<Self, String> {
        let told = |e: std::io::Error| e.to_string();
        fs::create_dir_all(&args.kept).map_err(told)?;
        let bytes = megabytes * rows::MB;
        let session = rows::session(&args.kept, 1, Mix::Work, bytes, 0).map_err(told)?;
        let other = rows::session(&args.kept, 2, Mix::Work, bytes / 4, 0).map_err(told)?;
        // Two stores, a session that is written anew, copies.
        rows::room(&args.work, bytes * 5).map_err(told)?;
        let work = args.work.join(format!("{megabytes:04}"));
        for folder in ["home", "out"] {
            fs::create_dir_all(work.join(folder)).map_err(told)?;
        }
        let input = work.join("input");
        fs::write(&input, "").map_err(told)?;
        let store = work.join("store");
        let path = |path: &Path| path.to_str().expect("utf-8").to_owned();
        let variable = |name: &str, value: String| (name.to_owned(), value);
        let case = Case {
            name: String::new(),
            megabytes,
            module: false,
            program: PathBuf::new(),
            args: Vec::new(),
            env: vec![
                variable("PATH", std::env::var("PATH").unwrap_or_default()),
                variable("HOME", path(&work.join("home"))),
                variable("BRAIN_GUARD_STORE", path(&store)),
            ],
            stdin: Vec::new(),
            input,
            lay: None,
        };
        let (binary, passes) = (args.binary.clone(), args.passes.clone());
        Ok(Self { session, other, store, case, binary, passes, work })
    }

    /// Bytes of the largest round, and what else is known of the session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Inscribes what the operations read; the error is what the program says.
    ///
    /// # Errors
    /// The verb doesn't work.
    pub fn inscribe(&self, sessions: &[&Session]) -> Result<(), String> {
        for session in sessions {
            tried(&self.verb("inscribe", &["inscribe", text(&session.path)]))?;
        }
        Ok(())
    }

    /// All measures that were asked for, and which can't be taken here, with the reason.
    pub fn measures(&self, args: &Args) -> (Vec<Measure>, Vec<String>) {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        let mut add = |name, measure: &dyn Fn() -> Result<Measure, String>| {
            if args.wants(name) {
                match measure() {
                    Ok(measure) => found.push(measure),
                    Err(why) => missing.push(format!("{name}: {why}")),
                }
            }
        };
        for (name, pass, about) in [
            (SCAN, "scan", "each line's head read, and which round it belongs to"),
            (ROUNDS, "rounds", "the same, with what the index is to know of each round"),
            (TYPED, "typed", "each line parsed into types that hold what the scan looks at"),
        ] {
            add(name, &|| {
                self.measure(name, about, &self.passes, &[pass, text(&self.session.path)], &[])
            });
        }
        let out = self.work.join("out");
        let (to, file) = (out.join("copy"), text(&self.session.path));
        let two = [file, text(&self.other.path), text(&out)];
        let sync = ["-c", "cp -- \"$1\" \"$2\" && sync -- \"$2\"", "sh", file, text(&to)];
        let python =
            ["-c", "import json, sys\nfor line in open(sys.argv[1], 'rb'): json.loads(line)", file];
        let others: [(&'static str, &'static str, &str, &[&str]); 6] = [
            (COPY, "", "cp", &[file, text(&to)]),
            (COPY_TWO, "", "cp", &two),
            (SYNCED, "`cp` and then `sync` of the copy", "sh", &sync),
            (DIGEST, "", "sha256sum", &[file]),
            (JQ, "", "jq", &["-c", ".", file]),
            (PYTHON, "`json.loads` of each line", "python3", &python),
        ];
        for (name, about, program, words) in others {
            add(name, &|| {
                let mut measure = self.measure(name, about, Path::new(program), words, &[&out])?;
                if name == COPY_TWO {
                    measure.bytes += self.other.bytes;
                }
                Ok(measure)
            });
        }
        self.verbs(&mut add);
        (found, missing)
    }

    fn verbs(&self, add: &mut dyn FnMut(&'static str, &dyn Fn() -> Result<Measure, String>)) {
        let (file, out) = (text(&self.session.path), self.work.join("out"));
        let fresh = self.work.join("fresh");
        add(INSCRIBE, &|| {
            let about = "a session that is not in the store yet: blocks, index, search; synced";
            let mut measure =
                self.measure(INSCRIBE, about, &self.binary, &["inscribe", file], &[])?;
            measure.case.env.push(("BRAIN_GUARD_STORE".into(), text(&fresh).into()));
            measure.fresh = vec![fresh.clone()];
            Ok(self.bounded(measure))
        });
        // What comes now reads what is inscribed here.
        let inscribed = std::cell::OnceCell::new();
        let ready =
            || inscribed.get_or_init(|| self.inscribe(&[&self.session, &self.other])).clone();
        add(AGAIN, &|| {
            ready()?;
            let about = "the same session again: nothing is new";
            Ok(self.bounded(self.measure(AGAIN, about, &self.binary, &["inscribe", file], &[])?))
        });
        for (name, time, about) in [
            (
                REWRITE,
                &self.session.early,
                "all rounds but the first written as a new session, validated, synced",
            ),
            (
                HALF,
                &self.session.middle,
                "the later half written, the earlier one as an index table",
            ),
        ] {
            add(name, &|| {
                ready()?;
                let words = ["surgery", "compress-before", file, time, "--out", text(&out)];
                Ok(self.bounded(self.measure(name, about, &self.binary, &words, &[&out])?))
            });
        }
        add(MERGE, &|| {
            ready()?;
            let words = ["surgery", "merge", file, text(&self.other.path), "--out", text(&out)];
            let about =
                "both sessions, the second a quarter as long, by time, written, validated, synced";
            let mut measure = self.measure(MERGE, about, &self.binary, &words, &[&out])?;
            measure.bytes += self.other.bytes;
            Ok(self.bounded(measure))
        });
    }

    /// The searches, each through a store of so many rounds.
    ///
    /// # Errors
    /// The session can't be made or inscribed.
    pub fn searches(&self, args: &Args, rounds: u64) -> Result<Vec<Measure>, String> {
        let talk = rows::session(&args.kept, 3, Mix::Talk, 0, rounds).map_err(|e| e.to_string())?;
        self.inscribe(&[&talk])?;
        let queries: [(&'static str, &[&str]); 3] = [
            (SEARCH[0], &["zephyr13"]),
            (SEARCH[1], &["parser"]),
            (SEARCH[2], &["architecture console"]),
        ];
        let asked = queries.into_iter().filter(|(name, _)| args.wants(name));
        asked
            .map(|(name, query)| {
                let words: Vec<&str> =
                    std::iter::once("search").chain(query.iter().copied()).collect();
                let mut measure = self.measure(name, "", &self.binary, &words, &[])?;
                measure.bytes = talk.bytes;
                Ok(self.bounded(measure))
            })
            .collect()
    }

    fn bounded(&self, measure: Measure) -> Measure {
        Measure { memory: Some(MEMORY + self.session.largest), ..measure }
    }

    fn verb(&self, name: &str, words: &[&str]) -> Case {
        Case {
            name: name.into(),
            program: self.binary.clone(),
            args: words.iter().map(|w| (*w).to_owned()).collect(),
            ..self.case.clone()
        }
    }

    /// # Errors
    /// What the program says when it fails: tried once, which brings it into memory too.
    fn measure(
        &self,
        name: &'static str,
        about: &'static str,
        program: &Path,
        words: &[&str],
        fresh: &[&PathBuf],
    ) -> Result<Measure, String> {
        let case = Case { program: program.into(), ..self.verb(name, words) };
        let fresh = fresh.iter().map(|p| (*p).clone()).collect();
        let measure = Measure { name, about, case, bytes: self.session.bytes, memory: None, fresh };
        measure.prepare();
        tried(&measure.case)?;
        Ok(measure)
    }

    /// Takes everything away that was written at this size.
    pub fn remove(&self) {
        // The caller takes the whole folder away at the end, whatever is left here.
        let _ = fs::remove_dir_all(&self.work);
        let _ = fs::remove_dir_all(&self.store);
    }
}

impl Measure {
    /// Takes away what the last run left.
    pub fn prepare(&self) {
        for path in &self.fresh {
            let _ = fs::remove_dir_all(path);
            fs::create_dir_all(path).expect("a folder");
        }
    }

    /// One run.
    pub fn time(&self) -> Duration {
        self.prepare();
        self.case.time()
    }
}

/// Runs it once.
fn tried(case: &Case) -> Result<(), String> {
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

fn text(path: &Path) -> &str {
    path.to_str().expect("utf-8")
}
