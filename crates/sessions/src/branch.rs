//! Which rows belong to the current conversation. After a rewind the rows of the abandoned branch
//! stay in the file, and the next prompt has an earlier row as its parent.

use std::ops::ControlFlow::{self, Break, Continue};

/// How many bytes before an abandoned response are searched for rows of the current branch.
const LOOK_BACK: u64 = 8 * 1024 * 1024;

/// Which row comes next on the branch, going towards the start.
#[derive(Debug, Default, PartialEq, Eq)]
enum Next {
    /// Any row: none was read yet.
    #[default]
    Any,
    /// The parent of the last row.
    Row(String),
    /// No row: the last one was the first of the branch.
    Nothing,
}

/// Follows the parent ids from the end of the file.
#[derive(Debug, Default)]
pub struct Branch {
    next: Next,
    /// A response off the branch was read, and no row on the branch since.
    leaving: bool,
    looked: u64,
}

/// Where a row is, relative to the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On the branch, or in no chain.
    On,
    /// Next to it: a result of one of several calls, or a row of an abandoned branch.
    Beside,
    /// On an abandoned branch.
    Left,
}

impl Branch {
    /// Places a row; rows come from the end towards the start. `Break` means that no earlier row
    /// can be on the branch.
    pub fn place(
        &mut self,
        uuid: Option<&str>,
        parent: Option<&str>,
        response: bool,
        bytes: u64,
    ) -> ControlFlow<(), Place> {
        let Some(uuid) = uuid else {
            return Continue(if self.leaving { Place::Left } else { Place::On });
        };
        let on = match &self.next {
            Next::Any => true,
            Next::Row(next) => next == uuid,
            Next::Nothing => false,
        };
        if on {
            self.next = parent.map_or(Next::Nothing, |parent| Next::Row(parent.to_owned()));
            self.leaving = false;
            return Continue(Place::On);
        }
        if response && self.next == Next::Nothing {
            return Break(());
        }
        self.leaving |= response;
        if !self.leaving {
            return Continue(Place::Beside);
        }
        self.looked += bytes;
        if self.looked > LOOK_BACK { Break(()) } else { Continue(Place::Left) }
    }

    /// Whether no row of the branch was found before a response that is off the branch. Clients
    /// have broken the chain before; that response is then the best one available.
    pub fn lost(&self) -> bool {
        self.leaving
    }
}

#[cfg(test)]
mod tests {
    use super::Place::{Beside, Left, On};
    use super::*;

    type Row = (&'static str, Option<&'static str>);

    /// Places rows from the end; ids that begin with `a` are responses.
    fn places(rows: &[Row]) -> (Vec<Place>, bool) {
        let (mut branch, mut places) = (Branch::default(), Vec::new());
        for (uuid, parent) in rows.iter().rev() {
            match branch.place(Some(uuid), *parent, uuid.starts_with('a'), 100) {
                Break(()) => break,
                Continue(place) => places.push(place),
            }
        }
        (places, branch.lost())
    }

    #[test]
    fn a_straight_chain() {
        let rows = [("u1", None), ("a1", Some("u1")), ("s1", Some("a1")), ("u2", Some("s1"))];
        assert_eq!(places(&rows), (vec![On; 4], false));
    }

    #[test]
    fn what_was_rewound_is_left_out() {
        let rows = |goes_on| {
            [
                ("u1", None),
                ("a1", Some("u1")),
                ("s1", Some("a1")),
                ("u2", Some("s1")),
                ("a2", Some("u2")),
                ("s2", Some("a2")),
                ("u3", goes_on),
            ]
        };
        let back = places(&rows(Some("s1")));
        assert_eq!(back, (vec![On, Beside, Left, Left, On, On, On], false));
        assert_eq!(places(&rows(None)), (vec![On, Beside], false), "to the very start");
        let lost = places(&rows(Some("nowhere")));
        assert_eq!(lost, (vec![On, Beside, Left, Left, Left, Left, Left], true));
    }

    #[test]
    fn results_of_several_calls() {
        let calls = [("a1", None), ("a2", Some("a1"))];
        let order = |first: Row, last: Row| [&calls[..], &[first, last]].concat();
        let (one, two) = (("r1", Some("a1")), ("r2", Some("a2")));
        assert_eq!(places(&order(one, two)).0, [On, Beside, On, On]);
        assert_eq!(places(&order(two, one)).0, [On, Beside, Left, On]);
    }

    #[test]
    fn rows_without_ids_are_no_chain() {
        let mut branch = Branch::default();
        for response in [false, true, false] {
            assert_eq!(branch.place(None, None, response, 9), Continue(On));
        }
    }
}
