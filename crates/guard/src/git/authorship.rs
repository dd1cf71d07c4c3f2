//! Decides whether a call made a commit. Git does not record which process made it, and several
//! sessions and people may use one repository. So the time, the command, its output and other
//! active sessions decide.

/// Seconds before a call's start in which its own commit may lie. The client's hook runs a while
/// after the call and learns only its duration.
const SLACK_SECONDS: i64 = 2;

/// The subcommands of `git` that make commits.
const MAKES: [&str; 7] = ["commit", "merge", "rebase", "cherry-pick", "revert", "am", "pull"];

/// A shell call of this session that has ended, or still runs in the background.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The command.
    pub command: &'a str,
    /// Its output, as far as it is known.
    pub output: &'a str,
    /// When it began, in seconds since 1970.
    pub began: i64,
    /// When it ended; the current time if it still runs.
    pub ended: i64,
    /// Whether the client reported both times, so that all time in between belongs to this call. It
    /// does not for background calls, or if the client omits the duration.
    pub measured: bool,
}

/// How likely a call made a commit, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Only the time matches: a script, an alias, a release tool.
    Silent,
    /// The command contains a git subcommand that makes commits.
    Named,
    /// The output reports this commit: `[main 1a2b3c4] …`.
    Shown,
}

impl Call<'_> {
    /// The earliest time of a commit by this call, in seconds since 1970.
    pub fn earliest(&self) -> i64 {
        self.began - SLACK_SECONDS
    }

    /// The evidence that this call made the commit.
    fn evidence(&self, hash: &str) -> Evidence {
        let mut reported = reports(self.output).peekable();
        // A call that reports its commits would also have reported this one.
        let says_all = reported.peek().is_some();
        if reported.any(|short| hash.starts_with(short)) {
            return Evidence::Shown;
        }
        let says = |word: &&str| self.command.contains(*word);
        let named = says(&"git") && MAKES.iter().any(says) && !says_all;
        if named { Evidence::Named } else { Evidence::Silent }
    }
}

/// The abbreviated hashes in git's reports of commits.
pub fn reports(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let (inside, _) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
        let short = inside.rsplit(' ').next()?;
        let hash = short.len() >= 4 && short.bytes().all(|b| b.is_ascii_hexdigit());
        (hash && short.len() < inside.len()).then_some(short)
    })
}

/// The evidence that this call made the commit; `None` if it is too weak. `rival` tells whether
/// another session was at work in the repository at that time. With a rival, a matching time alone
/// is too weak.
pub fn find_evidence(
    hash: &str,
    at: i64,
    call: &Call,
    rival: impl FnOnce() -> bool,
) -> Option<Evidence> {
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

/// The folders in a command, if they are plain words. The command may commit in another repository
/// than the shell's final one.
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
        find_evidence(HASH, at, call, || rival)
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
