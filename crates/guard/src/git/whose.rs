//! Whose a line of a reflog is. Git doesn't write down which process made a commit, and
//! several sessions and people may work in one repository; so a line is judged by when it
//! was written, by what the call says and shows, and by who else was at work there.

use super::reflog::{Act, Line};

/// How far before its beginning a call's own commit may lie: the client's hook starts some
/// time after the call has ended, and only the call's length is told.
const SLACK_SECONDS: i64 = 2;

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

/// Where a line was written, seen from the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the working tree its shell stands in.
    Here,
    /// In another one.
    Elsewhere,
}

/// What speaks for a call having written a line, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Nothing but the time: a script, an alias, a release tool.
    Silent,
    /// The command says what the line says was done.
    Named,
    /// The output reports the very commit: `[main 1a2b3c4] …`.
    Shown,
}

impl Call<'_> {
    /// What speaks for this call.
    pub fn evidence(&self, line: &Line) -> Evidence {
        if reports(self.output).any(|short| line.new.starts_with(short)) {
            return Evidence::Shown;
        }
        let says = |word: &str| self.command.contains(word);
        let named = says("git")
            && match line.act() {
                Act::Rewritten | Act::Rebase(_) => says("rebase") || says("pull"),
                Act::Amended => says("commit"),
                _ => says(line.verb()),
            };
        // A call that reports what it commits would have reported this one too.
        let reported = matches!(line.act(), Act::Made | Act::Amended)
            && line.verb() == "commit"
            && reports(self.output).next().is_some();
        if named && !reported { Evidence::Named } else { Evidence::Silent }
    }
}

/// The abbreviated hashes in git's own reports of commits.
fn reports(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let (inside, _) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
        let short = inside.rsplit(' ').next()?;
        let hash = short.len() >= 4 && short.bytes().all(|b| b.is_ascii_hexdigit());
        (hash && short.len() < inside.len()).then_some(short)
    })
}

/// What makes a line this call's; `None` if it is not known to be. `fresh` is a line that
/// was not there when the session looked last. `rival` says whether another session was at
/// work in the same place at that time: then what only the time speaks for is nobody's.
pub fn ours(
    line: &Line,
    fresh: bool,
    place: Place,
    call: &Call,
    rival: impl FnOnce() -> bool,
) -> Option<Evidence> {
    let evidence = call.evidence(line);
    let from = |seconds: i64| (call.began - seconds..=call.ended).contains(&line.at);
    let taken = match evidence {
        Evidence::Shown => true,
        Evidence::Named if call.measured => from(0) || (fresh && from(SLACK_SECONDS) && !rival()),
        Evidence::Named => from(0) && !rival(),
        Evidence::Silent => call.measured && place == Place::Here && from(0) && !rival(),
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

    fn line(message: &str, at: i64) -> Line {
        let (old, new) = ("a".repeat(40), format!("1a2b3c4d{}", "0".repeat(32)));
        Line { old, new, at, message: message.to_owned() }
    }

    const CALL: Call =
        Call { command: "make release", output: "", began: 100, ended: 110, measured: true };
    const SHOWS: &str = "hooks ran\n[main (root-commit) 1a2b3c4] x\n 1 file changed";

    fn judged(line: &Line, call: &Call, rival: bool) -> Option<Evidence> {
        ours(line, true, Place::Here, call, || rival)
    }

    #[test]
    fn what_a_call_reports_is_its_own_whatever_the_clock_says() {
        let dated = line("commit: x", 5);
        let shows = Call { output: SHOWS, ..CALL };
        assert_eq!(judged(&dated, &shows, true), Some(Evidence::Shown));
        assert_eq!(judged(&dated, &CALL, false), None);
        for other in ["[main 1a2b3c5] x", "1a2b3c4 x", "[1a2b3c4] x", "[ok] x", "[main 1a] x"] {
            assert_eq!(CALL.evidence(&dated), Evidence::Silent, "{other}");
            assert_eq!(
                Call { output: other, ..CALL }.evidence(&dated),
                Evidence::Silent,
                "{other}"
            );
        }
    }

    #[test]
    fn a_quiet_call_has_its_own_time_its_own_place_and_no_rival() {
        for (at, expected) in [(98, None), (99, None), (100, Some(Evidence::Silent)), (111, None)] {
            assert_eq!(judged(&line("commit: x", at), &CALL, false), expected, "{at}");
        }
        let within = line("commit: x", 105);
        assert_eq!(judged(&within, &CALL, true), None);
        assert_eq!(ours(&within, true, Place::Elsewhere, &CALL, || false), None);
        let unmeasured = Call { measured: false, ..CALL };
        assert_eq!(judged(&within, &unmeasured, false), None);
    }

    #[test]
    fn a_named_command_may_begin_a_little_earlier_than_it_seems() {
        let named = Call { command: "git commit -qm x", ..CALL };
        let early = line("commit: x", 98);
        assert_eq!(judged(&early, &named, false), Some(Evidence::Named));
        assert_eq!(judged(&early, &named, true), None);
        assert_eq!(ours(&early, false, Place::Here, &named, || false), None, "an old line");
        assert_eq!(judged(&line("commit: x", 97), &named, false), None);
        assert_eq!(judged(&line("commit: x", 100), &named, true), Some(Evidence::Named));
        assert_eq!(judged(&line("revert: x", 98), &named, false), None, "it says commit");
        let pull = Call { command: "git pull -r", ..CALL };
        assert_eq!(judged(&line("pull -r (pick): x", 98), &pull, true), None);
        assert_eq!(judged(&line("pull -r (pick): x", 98), &pull, false), Some(Evidence::Named));
    }

    #[test]
    fn a_call_that_reports_its_commits_takes_no_other_that_comes_just_before() {
        let shows = Call { command: "git commit -m y", output: "[main 9999999] y", ..CALL };
        assert_eq!(judged(&line("commit: a person's", 99), &shows, false), None);
        assert_eq!(judged(&line("commit: a rival's", 101), &shows, true), None);
    }

    #[test]
    fn folders_in_plain_words() {
        let command = "cd lib && git -C \"../other repo\" add .; (cd 'x'; cd $Y) && git -C lib log";
        assert_eq!(folders(command), ["lib", "../other", "x"]);
        assert_eq!(folders("cargo test"), Vec::<&str>::new());
        assert_eq!(folders("cd"), Vec::<&str>::new());
    }
}
