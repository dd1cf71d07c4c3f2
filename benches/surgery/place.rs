//! Where the programs of one size run: a home, a store, an output folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::case::Case;
use crate::session::{self, MB};

/// The variable with the store's path.
const STORE: &str = "BRAIN_GUARD_STORE";

/// The folders of one size.
pub struct Place {
    pub work: PathBuf,
    case: Case,
}

impl Place {
    /// Makes a place for sessions of this many MB, with space for `times` copies.
    ///
    /// # Errors
    /// Too little space, or a folder that cannot be made.
    pub fn new(args: &Args, megabytes: u64, times: u64) -> Result<Self, String> {
        let told = |e: std::io::Error| e.to_string();
        session::room(&args.work, megabytes * MB * times).map_err(told)?;
        let work = args.work.join(format!("{megabytes:04}"));
        for folder in ["home", "out"] {
            fs::create_dir_all(work.join(folder)).map_err(told)?;
        }
        let input = work.join("input");
        fs::write(&input, "").map_err(told)?;
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let case = Case {
            name: String::new(),
            megabytes,
            module: false,
            program: PathBuf::new(),
            args: Vec::new(),
            env: vec![
                variable("PATH", &std::env::var("PATH").unwrap_or_default()),
                variable("HOME", text(&work.join("home"))),
                variable(STORE, text(&work.join("store"))),
            ],
            stdin: Vec::new(),
            input,
            lay: None,
        };
        Ok(Self { work, case })
    }

    /// The folder for copies and new sessions.
    pub fn out(&self) -> PathBuf {
        self.work.join("out")
    }

    /// A program with its arguments.
    pub fn case(&self, name: &str, program: &Path, words: &[&str]) -> Case {
        Case {
            name: name.into(),
            program: program.into(),
            args: words.iter().map(|word| (*word).to_owned()).collect(),
            ..self.case.clone()
        }
    }

    /// Removes everything written at this size.
    pub fn remove(&self) {
        // The caller removes the whole folder at the end.
        let _ = fs::remove_dir_all(&self.work);
    }
}

/// The store of a program, if it has one.
pub fn store(case: &Case) -> Option<&Path> {
    let named = case.env.iter().find(|(name, _)| name == STORE);
    named.map(|(_, value)| Path::new(value))
}

/// The case with another store.
pub fn with_store(mut case: Case, store: &Path) -> Case {
    case.env.retain(|(name, _)| name != STORE);
    case.env.push((STORE.into(), text(store).into()));
    case
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("utf-8")
}
