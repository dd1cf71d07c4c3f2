//! One line of a reflog, and what git says in it that was done. The messages are those of
//! git 2.20 to 2.47, seen by running it.

use serde::{Deserialize, Serialize};

/// A line: `<old> <new> <name> <<email>> <seconds> <zone>\t<message>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The commit before; all zeros where there was none.
    pub old: String,
    /// The commit after.
    pub new: String,
    /// When, in seconds since 1970: the committer's date, which can be set to anything.
    pub at: i64,
    /// What was done.
    pub message: String,
}

/// What a line did to the commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act<'a> {
    /// A commit was made on top.
    Made,
    /// The commit at the top was put in the place of the one before.
    Amended,
    /// A rebase wrote a commit anew.
    Rewritten,
    /// A rebase left its base, or ended; it names the branch it worked on.
    Rebase(Option<&'a str>),
    /// The branch was set to another commit.
    Reset,
    /// Nothing that makes or drops commits: a checkout, a fast-forward, a clone.
    Other,
}

impl Line {
    /// Reads one line, without its line break. `None` for what isn't one.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let (head, message) = text.split_once('\t').unwrap_or((&text, ""));
        let (old, rest) = head.split_once(' ')?;
        let (new, who) = rest.split_once(' ')?;
        let (front, _zone) = who.rsplit_once(' ')?;
        let at = front.rsplit(' ').next()?.parse().ok()?;
        let hash =
            |h: &str| (40..=64).contains(&h.len()) && h.bytes().all(|b| b.is_ascii_hexdigit());
        (hash(old) && hash(new)).then(|| Self {
            old: old.to_owned(),
            new: new.to_owned(),
            at,
            message: message.to_owned(),
        })
    }

    /// What git did, in front of the first `: `, and what it says of that.
    fn parts(&self) -> (&str, &str) {
        self.message.split_once(": ").unwrap_or((&self.message, ""))
    }

    /// The command that did it: `commit`, `pull`, `rebase` …
    pub fn verb(&self) -> &str {
        self.parts().0.split([' ', ':']).next().unwrap_or_default()
    }

    /// The subject of the commit, where the line is of one.
    pub fn subject(&self) -> &str {
        self.parts().1
    }

    /// What was done to the commits.
    pub fn act(&self) -> Act<'_> {
        let (head, text) = self.parts();
        let step = head.strip_suffix(')').and_then(|h| h.rsplit_once(" (")).map(|(_, step)| step);
        let moved = self.old != self.new;
        match (self.verb(), step) {
            ("commit", Some("amend")) if moved => Act::Amended,
            ("commit", _) if moved => Act::Made,
            ("merge", None) if text.starts_with("Merge made by") => Act::Made,
            ("cherry-pick" | "revert" | "am", _)
                if moved && !matches!(text, "" | "fast-forward") =>
            {
                Act::Made
            }
            ("rebase" | "pull", Some("finish" | "abort")) => {
                Act::Rebase(text.strip_prefix("returning to refs/heads/"))
            }
            ("rebase", None) if head == "rebase finished" => {
                Act::Rebase(text.strip_prefix("returning to refs/heads/"))
            }
            ("rebase" | "pull", Some("start")) => Act::Rebase(None),
            ("rebase" | "pull", Some(step)) if moved && writes(step) => Act::Rewritten,
            // By the older machinery, which names no step.
            ("rebase", None) if moved && head == "rebase" => match text {
                "fast-forward" | "aborting" => Act::Other,
                _ if text.starts_with("checkout ") => Act::Rebase(None),
                _ => Act::Rewritten,
            },
            ("reset", _) if moved => Act::Reset,
            _ => Act::Other,
        }
    }

    /// Whether commits that stood may be out of reach after it.
    pub fn drops(&self) -> bool {
        matches!(self.act(), Act::Rewritten | Act::Rebase(_) | Act::Reset)
    }
}

/// Whether a rebase writes a commit in this step.
fn writes(step: &str) -> bool {
    matches!(step, "pick" | "reword" | "edit" | "squash" | "fixup" | "merge" | "continue")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &str) -> Line {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let text = format!("{a} {b} A  B <x@y> 1795260970 +0100\t{message}");
        Line::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn lines_are_read_and_damage_is_none() {
        let read = line("commit: fix: the parser");
        assert_eq!((read.at, read.subject()), (1_795_260_970, "fix: the parser"));
        let bare = format!("{0} {0} <> 1 +0000", "0".repeat(40));
        assert_eq!(Line::parse(bare.as_bytes()).unwrap().act(), Act::Other);
        for bad in ["", "x", "a b c 1 +0000\tcommit: x", "0000 1111 A <x> one +0000\tx"] {
            assert_eq!(Line::parse(bad.as_bytes()), None, "{bad}");
        }
        let torn = format!("{} {}", "a".repeat(40), "b".repeat(40));
        assert_eq!(Line::parse(torn.as_bytes()), None);
    }

    #[test]
    fn what_git_says_is_told_apart() {
        let acts = [
            ("commit: x", Act::Made),
            ("commit (initial): x", Act::Made),
            ("commit (merge): Merge branch 'f'", Act::Made),
            ("commit (cherry-pick): x", Act::Made),
            ("commit (amend): x", Act::Amended),
            ("merge f: Merge made by the 'ort' strategy.", Act::Made),
            ("cherry-pick: x", Act::Made),
            ("revert: Revert \"x\"", Act::Made),
            ("am: x", Act::Made),
            ("rebase (pick): x (y): z", Act::Rewritten),
            ("rebase -i (pick): x", Act::Rewritten),
            ("rebase (fixup): x", Act::Rewritten),
            ("rebase (continue): x", Act::Rewritten),
            ("pull --rebase origin main (pick): x", Act::Rewritten),
            ("rebase (start): checkout main", Act::Rebase(None)),
            ("rebase (finish): returning to refs/heads/a/b", Act::Rebase(Some("a/b"))),
            ("pull -r (finish): returning to refs/heads/f", Act::Rebase(Some("f"))),
            ("rebase (abort): returning to refs/heads/f", Act::Rebase(Some("f"))),
            ("reset: moving to HEAD~1", Act::Reset),
            ("rebase: fast-forward", Act::Other),
            ("rebase (label): x", Act::Other),
            ("merge f: Fast-forward", Act::Other),
            ("cherry-pick: fast-forward", Act::Other),
            ("pull: Fast-forward", Act::Other),
            ("pull origin main: Merge made by the 'ort' strategy.", Act::Other),
            ("checkout: moving from main to f", Act::Other),
            ("clone: from /x", Act::Other),
            ("Branch: renamed refs/heads/main to refs/heads/m", Act::Other),
            ("am --abort", Act::Other),
            ("", Act::Other),
        ];
        for (message, act) in acts {
            assert_eq!(line(message).act(), act, "{message}");
        }
    }
}
