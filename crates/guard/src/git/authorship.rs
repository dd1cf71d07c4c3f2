//! Whose a commit is. Git doesn't write down which process made it, and several sessions and
//! people may work in one repository; so it is judged by when it was made, by what the call says
//! and shows, and by who else was at work there.

/// How far before its beginning a call's own commit may lie: the client's hook starts some
/// time after the call has ended, and only the call's length is told.
const SLACK_SECONDS: i64 = 2;

/// What makes commits, behind `git`.
const MAKES: [&str; 7] = ["commit", "merge", "rebase", "cherry-pick", "revert", "am", "pull"];

/// A shell call of this session that has ended, or one that runs on in the background.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// What was run.
    pub command: &'a str,
    /// What it printed, as far as it is known.
    pub output: &'a str,
    /// When it began, in seconds since 1970.
    pub began: i64,
    /// When it ended; now, where it runs on.
    pub ended: i64,
    /// Both are known from the client, and everything in between is this call's time:
    /// not so for one in the background, or where the client doesn't tell how long it took.
    pub measured: bool,
}

/// What speaks for a call having made a commit, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Nothing but the time: a script, an alias, a release tool.
    Silent,
    /// The command says that it makes commits.
    Named,
    /// The output reports the very commit: `[main 1a2b3c4] …`.
    Shown,
}

impl Call<'_> {
    /// From when on a commit may be this call's, in seconds since 1970.
    pub fn earliest(&self) -> i64 {
        self.began - SLACK_SECONDS
    }

    /// What speaks for this call.
    fn evidence(&self, hash: &str) -> Evidence {
        let mut reported = reports(self.output).peekable();
        // A call that reports what it commits would have reported this one, too.
        let says_all = reported.peek().is_some();
        if reported.any(|short| hash.starts_with(short)) {
            return Evidence::Shown;
        }
        let says = |word: &&str| self.command.contains(*word);
        let named = says(&"git") && MAKES.iter().any(says) && !says_all;
        if named { Evidence::Named } else { Evidence::Silent }
    }
}

/// The abbreviated hashes in git's own reports of commits.
pub fn reports(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let (inside, _) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
        let short = inside.rsplit(' ').next()?;
        let hash = short.len() >= 4 && short.bytes().all(|b| b.is_ascii_hexdigit());
        (hash && short.len() < inside.len()).then_some(short)
    })
}

/// What makes a commit this call's; `None` if it is not known to be. `rival` says whether another
/// session was at work in the repository at that time: then what only the time speaks for is
/// nobody's.
pub fn ours(hash: &str, at: i64, call: &Call, rival: impl FnOnce() -> bool) -> Option<Evidence> {
    let evidence = call.evidence(hash);
    let from = |seconds: i64| (seconds..=call.ended).contains(&at);
    let taken = match evidence {
        Evidence::Shown => true,
        Evidence::Named if call.measured => from(call.began) || (from(call.earliest()) && !rival()),
        Evidence::Named => from(call.began) && !rival(),
        Evidence::Silent => call.measured && from(call.began) && !rival(),
    };
    taken.then_some(evidence)
}

/// The folders a command goes to, as far as they stand there in plain words: it may commit
/// in another repository than the one its shell stands in afterwards.
pub fn folders(command: &str) -> Vec<&str> {
    const MOST: usize = 4;
    let mut found = Vec::new();
    let mut words = command.split([' ', '\t', '\n', ';', '&', '|', '(', ')']);
    while let Some(word) = words.next() {
        if !matches!(word, "cd" | "pushd" | "-C") {
            continue;
        }
        let Some(folder) = words.next() else { break };
        let folder = folder.trim_matches(['"', '\'']);
        if !folder.is_empty() && !folder.contains(['$', '`']) && !found.contains(&folder) {
            found.push(folder);
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "1a2b3c4d00000000000000000000000000000000";
    const CALL: Call =
        Call { command: "make release", output: "", began: 100, ended: 110, measured: true };
    const SHOWS: &str = "hooks ran\n[main (root-commit) 1a2b3c4] x\n 1 file changed";

    fn judged(at: i64, call: &Call, rival: bool) -> Option<Evidence> {
        ours(HASH, at, call, || rival)
    }

    #[test]
    fn what_a_call_reports_is_its_own_whatever_the_clock_says() {
        let shows = Call { output: SHOWS, ..CALL };
        assert_eq!(judged(5, &shows, true), Some(Evidence::Shown));
        assert_eq!(judged(5, &CALL, false), None);
        for other in ["[main 1a2b3c5] x", "1a2b3c4 x", "[1a2b3c4] x", "[ok] x", "[main 1a] x"] {
            assert_eq!(judged(5, &Call { output: other, ..CALL }, false), None, "{other}");
        }
    }

    #[test]
    fn a_quiet_call_has_its_own_time_and_no_rival() {
        for (at, expected) in [(98, None), (99, None), (100, Some(Evidence::Silent)), (111, None)] {
            assert_eq!(judged(at, &CALL, false), expected, "{at}");
        }
        assert_eq!(judged(105, &CALL, true), None);
        assert_eq!(judged(105, &Call { measured: false, ..CALL }, false), None);
    }

    #[test]
    fn a_named_command_may_begin_a_little_earlier_than_it_seems() {
        let named = Call { command: "git commit -qm x", ..CALL };
        assert_eq!(judged(98, &named, false), Some(Evidence::Named));
        assert_eq!(judged(98, &named, true), None);
        assert_eq!(judged(97, &named, false), None);
        assert_eq!(judged(100, &named, true), Some(Evidence::Named));
        let looks = Call { command: "git log", ..CALL };
        assert_eq!(judged(98, &looks, false), None, "it makes none");
    }

    #[test]
    fn a_call_that_reports_its_commits_takes_no_other_that_comes_just_before() {
        let shows = Call { command: "git commit -m y", output: "[main 9999999] y", ..CALL };
        assert_eq!(judged(99, &shows, false), None, "a person's");
        assert_eq!(judged(101, &shows, true), None, "a rival's");
    }

    #[test]
    fn folders_in_plain_words() {
        let command = "cd lib && git -C \"../other repo\" add .; (cd 'x'; cd $Y) && git -C lib log";
        assert_eq!(folders(command), ["lib", "../other", "x"]);
        assert_eq!(folders("cargo test"), Vec::<&str>::new());
        assert_eq!(folders("cd"), Vec::<&str>::new());
    }
}
