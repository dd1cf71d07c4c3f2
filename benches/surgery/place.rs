//! Where the programs of one size run: a home, a store, a folder for what they write.

use std::fs;
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::case::Case;
use crate::session::{self, MB};

/// The variable that says where the store lies.
const STORE: &str = "BRAIN_GUARD_STORE";

/// The folders of one size, and what programs find there.
pub struct Place {
    pub work: PathBuf,
    case: Case,
}

impl Place {
    /// Made for sessions of so many MB, with room for them so many times.
    ///
    /// # Errors
    /// Too little room; what can't be made.
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

    /// Where copies and new sessions go.
    pub fn out(&self) -> PathBuf {
        self.work.join("out")
    }

    /// A program with its words.
    pub fn case(&self, name: &str, program: &Path, words: &[&str]) -> Case {
        Case {
            name: name.into(),
            program: program.into(),
            args: words.iter().map(|word| (*word).to_owned()).collect(),
            ..self.case.clone()
        }
    }

    /// Takes everything away that was written at this size.
    pub fn remove(&self) {
        // The caller takes the whole folder away at the end, whatever is left here.
        let _ = fs::remove_dir_all(&self.work);
    }
}

/// Where a program's store lies, where it has one.
pub fn store(case: &Case) -> Option<&Path> {
    let named = case.env.iter().find(|(name, _)| name == STORE);
    named.map(|(_, value)| Path::new(value))
}

/// The same with another store.
pub fn with_store(mut case: Case, store: &Path) -> Case {
    case.env.retain(|(name, _)| name != STORE);
    case.env.push((STORE.into(), text(store).into()));
    case
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("utf-8")
}
