//! The sessions and stores of one size, and all measures on them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::case::Case;
use crate::claude::{Mix, Writer as ClaudeWriter};
use crate::measure::{Measure, tried};
use crate::place::text;
use crate::place::{Place, with_store};
use crate::rows::Writer;
use crate::session::{self, MB, Rounds, Session};

pub const PLAN: &str = "plan";
pub const RUN: &str = "run";
pub const AGAIN: &str = "run again";
pub const RESTORE: &str = "restore all in place";
pub const COPY: &str = "cp";
pub const SYNCED: &str = "cp, sync";
pub const PLAN_CLAUDE: &str = "plan, Claude Code's";
pub const RUN_CLAUDE: &str = "run, Claude Code's, into a new session";

/// The folders of one size, and the environment of the programs.
pub struct World {
    session: Session,
    claude: Session,
    place: Place,
    binary: PathBuf,
}

/// Prepares one of our verbs.
type Measured = fn(&World) -> Result<Measure, String>;

impl World {
    /// Makes missing sessions.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub fn new(args: &Args, megabytes: u64) -> Result<Self, String> {
        let told = |e: std::io::Error| e.to_string();
        fs::create_dir_all(&args.kept).map_err(told)?;
        let bytes = megabytes * MB;
        let pi = |id: &str, seed: u64| -> Box<dyn Rounds> { Box::new(Writer::new(id, seed)) };
        let claude = |id: &str, seed: u64| -> Box<dyn Rounds> {
            Box::new(ClaudeWriter::new(Mix::Work, id, seed))
        };
        let session = session::session(&args.kept, 16, bytes, 0, &pi).map_err(told)?;
        let claude = session::session(&args.kept, 1, bytes, 0, &claude).map_err(told)?;
        // Space for copies to extract from, three stores, and the new session.
        let place = Place::new(args, megabytes, 8)?;
        Ok(Self { session, claude, place, binary: args.binary.clone() })
    }

    /// The session of pi.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// All requested measures, and why others cannot be taken here.
    pub fn measures(&self, args: &Args) -> (Vec<Measure>, Vec<String>) {
        let (file, out) = (text(&self.session.path), self.place.out());
        let to = out.join("copy");
        let sync = ["-c", "cp -- \"$1\" \"$2\" && sync -- \"$2\"", "sh", file, text(&to)];
        let others: [(&'static str, &'static str, &str, &[&str]); 2] = [
            (COPY, "", "cp", &[file, text(&to)]),
            (SYNCED, "`cp` and then `sync` of the copy", "sh", &sync),
        ];
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        let mut add = |name, measure: Result<Measure, String>| match measure {
            Ok(measure) => found.push(measure),
            Err(why) => missing.push(format!("{name}: {why}")),
        };
        for (name, about, program, words) in others {
            if args.wants(name) {
                let case = self.place.case(name, Path::new(program), words);
                let measure = Measure::of(name, about, case, &self.session);
                add(name, Measure { fresh: vec![out.clone()], ..measure }.checked());
            }
        }
        let verbs: [(&str, Measured); 6] = [
            (PLAN, Self::plan),
            (RUN, Self::run),
            (AGAIN, Self::again),
            (RESTORE, Self::restore),
            (PLAN_CLAUDE, Self::plan_claude),
            (RUN_CLAUDE, Self::run_claude),
        ];
        for (name, measured) in verbs {
            if args.wants(name) {
                add(name, measured(self));
            }
        }
        (found, missing)
    }

    fn plan(&self) -> Result<Measure, String> {
        let about = "what would be extracted, with its tokens; nothing is written";
        let case = self.verb(PLAN, &["plan", text(&self.session.path)]);
        Measure::of(PLAN, about, case, &self.session).bounded(self.session.largest_row).checked()
    }

    /// From an untouched copy of the session into an empty store.
    fn run(&self) -> Result<Measure, String> {
        let about = "all that the settings extract, into an empty store, synced; the session written anew, synced";
        let (file, store) = self.own("run");
        let case = with_store(self.verb(RUN, &["run", text(&file)]), &store);
        let laid = vec![(self.session.path.clone(), file)];
        let measure = Measure::of(RUN, about, case, &self.session);
        Measure { laid, fresh: vec![store], ..measure }.bounded(self.session.largest_row).checked()
    }

    /// On a session with everything extracted already.
    fn again(&self) -> Result<Measure, String> {
        let (file, store) = self.own("again");
        self.extracted(&file, &store)?;
        let about = "the same session again: nothing is to be done";
        let case = with_store(self.verb(AGAIN, &["run", text(&file)]), &store);
        Measure::of(AGAIN, about, case, &self.session).bounded(self.session.largest_row).checked()
    }

    /// The session and the ledger are reset before each start.
    fn restore(&self) -> Result<Measure, String> {
        let (file, store) = self.own("restore");
        self.extracted(&file, &store)?;
        let id = file.file_stem().unwrap_or_default();
        let ledger = find(&store.join("extracted/sessions"), &|path| {
            path.ends_with("ledger.jsonl") && path.parent().is_some_and(|f| f.ends_with(id))
        });
        let ledger = ledger.ok_or("no ledger was written")?;
        let kept = self.place.work.join("kept");
        fs::create_dir_all(&kept).map_err(|e| e.to_string())?;
        let mut laid = Vec::new();
        for (name, path) in [("session", file.clone()), ("ledger", ledger)] {
            let aside = kept.join(name);
            // Keeps the file time, because a session written just now is left alone.
            let time = fs::metadata(&path).and_then(|meta| meta.modified());
            fs::copy(&path, &aside)
                .and_then(|_| fs::File::options().write(true).open(&aside))
                .and_then(|copy| copy.set_modified(time?))
                .map_err(|e| e.to_string())?;
            laid.push((aside, path));
        }
        let about = "every value put back into the session, its content verified, synced";
        let words = ["restore", text(&file), "all", "--in-place", "--unmarked"];
        let case = with_store(self.verb(RESTORE, &words), &store);
        let measure = Measure { laid, ..Measure::of(RESTORE, about, case, &self.session) };
        let measure = measure.bounded(self.session.largest_row).checked()?;
        let same = fs::read(&file).ok() == fs::read(&self.session.path).ok();
        if same { Ok(measure) } else { Err("the session is not what it was before".into()) }
    }

    fn plan_claude(&self) -> Result<Measure, String> {
        let case = self.verb(PLAN_CLAUDE, &["plan", text(&self.claude.path)]);
        Measure::of(PLAN_CLAUDE, "", case, &self.claude).bounded(self.claude.largest_row).checked()
    }

    /// From an imported session, like the surgery operations; nothing was extracted yet.
    fn run_claude(&self) -> Result<Measure, String> {
        let (_, store) = self.own("claude");
        fs::create_dir_all(&store).map_err(|e| e.to_string())?;
        let words = ["import", text(&self.claude.path)];
        tried(&with_store(self.place.case("import", &self.binary, &words), &store))?;
        let out = self.place.out();
        let about = "a session that is in the store written as a new one without what is extracted, validated, synced";
        let words = ["run", text(&self.claude.path), "--out", text(&out)];
        let case = with_store(self.verb(RUN_CLAUDE, &words), &store);
        let fresh = vec![out, store.join("extracted")];
        let measure = Measure { fresh, ..Measure::of(RUN_CLAUDE, about, case, &self.claude) };
        measure.bounded(self.claude.largest).checked()
    }

    /// A session of that name with its own store.
    fn own(&self, name: &str) -> (PathBuf, PathBuf) {
        let folder = self.place.work.join(name);
        let file = self.session.path.file_name().unwrap_or_default();
        (folder.join(file), folder.join("store"))
    }

    /// Puts the session there and extracts from it once.
    fn extracted(&self, file: &Path, store: &Path) -> Result<(), String> {
        let case = with_store(self.verb(RUN, &["run", text(file)]), store);
        let laid = vec![(self.session.path.clone(), file.to_path_buf())];
        let measure = Measure::of(RUN, "", case, &self.session);
        Measure { laid, fresh: vec![store.to_path_buf()], ..measure }.checked().map(drop)
    }

    fn verb(&self, name: &str, words: &[&str]) -> Case {
        let words: Vec<&str> = std::iter::once("extract").chain(words.iter().copied()).collect();
        self.place.case(name, &self.binary, &words)
    }

    /// Removes everything written at this size.
    pub fn remove(&self) {
        self.place.remove();
    }
}

/// The first file below a folder that matches.
fn find(folder: &Path, is: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if let Some(found) = find(&path, is) {
                return Some(found);
            }
        } else if is(&path) {
            return Some(path);
        }
    }
    None
}
