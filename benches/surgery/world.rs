//! The sessions and stores of one size, and all measures on them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::measure::{
    AGAIN, COPY, DIGEST, HALF, IMPORT, JQ, MERGE, Measure, PYTHON, REWRITE, ROUNDS, SCAN, SEARCH,
    SYNCED, TYPED, tried,
};
use crate::place::{Place, text, with_store};
use crate::rows::{Mix, Writer};
use crate::session::{self, MB, Rounds, Session};

/// The folders of one size, and the environment of the programs.
pub struct World {
    session: Session,
    other: Session,
    place: Place,
    binary: PathBuf,
    passes: PathBuf,
}

/// Adds a measure by name, if it was requested.
type Add<'a> = dyn FnMut(&'static str, &dyn Fn() -> Result<Measure, String>) + 'a;

impl World {
    /// Makes and imports missing sessions.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub fn new(args: &Args, megabytes: u64) -> Result<Self, String> {
        let told = |e: std::io::Error| e.to_string();
        fs::create_dir_all(&args.kept).map_err(told)?;
        let bytes = megabytes * MB;
        let work =
            |id: &str, seed: u64| -> Box<dyn Rounds> { Box::new(Writer::new(Mix::Work, id, seed)) };
        let session = session::session(&args.kept, 1, bytes, 0, &work).map_err(told)?;
        let other = session::session(&args.kept, 2, bytes / 4, 0, &work).map_err(told)?;
        // Space for two stores, a rewritten session, and copies.
        let place = Place::new(args, megabytes, 5)?;
        let (binary, passes) = (args.binary.clone(), args.passes.clone());
        Ok(Self { session, other, place, binary, passes })
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Imports the sessions that the operations read.
    ///
    /// # Errors
    /// The program's error.
    pub fn import(&self, sessions: &[&Session]) -> Result<(), String> {
        for session in sessions {
            let words = ["import", text(&session.path)];
            tried(&self.place.case("import", &self.binary, &words))?;
        }
        Ok(())
    }

    /// All requested measures, and why others cannot be taken here.
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
        let out = self.place.out();
        let (to, file) = (out.join("copy"), text(&self.session.path));
        let sync = ["-c", "cp -- \"$1\" \"$2\" && sync -- \"$2\"", "sh", file, text(&to)];
        let python =
            ["-c", "import json, sys\nfor line in open(sys.argv[1], 'rb'): json.loads(line)", file];
        let others: [(&'static str, &'static str, &str, &[&str]); 5] = [
            (COPY, "", "cp", &[file, text(&to)]),
            (SYNCED, "`cp` and then `sync` of the copy", "sh", &sync),
            (DIGEST, "", "sha256sum", &[file]),
            (JQ, "", "jq", &["-c", ".", file]),
            (PYTHON, "`json.loads` of each line", "python3", &python),
        ];
        for (name, about, program, words) in others {
            add(name, &|| self.measure(name, about, Path::new(program), words, &[&out]));
        }
        self.verbs(&mut add);
        (found, missing)
    }

    fn verbs(&self, add: &mut Add) {
        let (file, out) = (text(&self.session.path), self.place.out());
        let fresh = self.place.work.join("fresh");
        add(IMPORT, &|| {
            let about = "a session that is not in the store yet: blocks, index, search; synced";
            let mut measure = self.measure(IMPORT, about, &self.binary, &["import", file], &[])?;
            measure.case = with_store(measure.case, &fresh);
            measure.fresh = vec![fresh.clone()];
            Ok(self.bounded(measure))
        });
        // The measures below read what is imported here.
        let imported = std::cell::OnceCell::new();
        let ready = || imported.get_or_init(|| self.import(&[&self.session, &self.other])).clone();
        add(AGAIN, &|| {
            ready()?;
            let about = "the same session again: nothing is new";
            Ok(self.bounded(self.measure(AGAIN, about, &self.binary, &["import", file], &[])?))
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

    /// The searches, each through a store of this many rounds.
    ///
    /// # Errors
    /// The session cannot be made or imported.
    pub fn searches(&self, args: &Args, rounds: u64) -> Result<Vec<Measure>, String> {
        let talk =
            |id: &str, seed: u64| -> Box<dyn Rounds> { Box::new(Writer::new(Mix::Talk, id, seed)) };
        let talk = session::session(&args.kept, 3, 0, rounds, &talk).map_err(|e| e.to_string())?;
        self.import(&[&talk])?;
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
        measure.bounded(self.session.largest)
    }

    /// # Errors
    /// The program's error.
    fn measure(
        &self,
        name: &'static str,
        about: &'static str,
        program: &Path,
        words: &[&str],
        fresh: &[&PathBuf],
    ) -> Result<Measure, String> {
        let case = self.place.case(name, program, words);
        let fresh = fresh.iter().map(|path| (*path).clone()).collect();
        Measure { fresh, ..Measure::of(name, about, case, &self.session) }.checked()
    }

    /// Removes everything written at this size.
    pub fn remove(&self) {
        self.place.remove();
    }
}
