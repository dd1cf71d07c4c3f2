//! Rows stored together in one buffer, and rows that arrive in pieces.

use std::io;

use memchr::memchr_iter;

/// Rows, one after another, each with its line break.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// All their bytes.
    pub bytes: Vec<u8>,
    /// Where each row ends.
    pub ends: Vec<usize>,
    /// Whether [`Rows::edit`] changed any.
    pub is_edited: bool,
}

impl Rows {
    /// Reserves room for that many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ..Self::default() }
    }

    /// The rows, each with its line break.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(self.ends.iter().copied()).map(|(start, end)| &self.bytes[start..end])
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[u8]) {
        self.bytes.extend_from_slice(row);
        self.ends.push(self.bytes.len());
    }

    /// Removes all rows; the memory stays.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.is_edited = false;
    }

    /// Edits the rows in place as `what` says; they usually get shorter. If it fails, the rows are
    /// unusable.
    ///
    /// # Errors
    /// Errors of `what`.
    pub fn edit(&mut self, mut what: impl FnMut(&[u8]) -> io::Result<Edit>) -> io::Result<()> {
        // Bytes not processed yet begin at `from`, moved by `moved` from their old place.
        let (mut from, mut to, mut moved) = (0, 0, 0);
        for end in std::mem::take(&mut self.ends) {
            let mut end = end + moved;
            let edit = what(&self.bytes[from..end])?;
            self.is_edited |= edit != Edit::Stays;
            match edit {
                Edit::Gone => {}
                Edit::Stays => {
                    self.bytes.copy_within(from..end, to);
                    to += end - from;
                    self.ends.push(to);
                }
                Edit::Becomes(row) => {
                    let (here, rest) = row.split_at(row.len().min(end - to));
                    self.bytes[to..to + here.len()].copy_from_slice(here);
                    self.bytes.splice(end..end, rest.iter().copied());
                    moved += rest.len();
                    end += rest.len();
                    to += row.len();
                    self.ends.push(to);
                }
            }
            from = end;
        }
        self.bytes.truncate(to);
        Ok(())
    }
}

/// What to do with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Keep it.
    Stays,
    /// Remove it.
    Gone,
    /// Replace it with this row, line break included.
    Becomes(Vec<u8>),
}

/// Splits bytes that arrive in pieces into rows. A row that arrives whole is not copied: a long one
/// must not be in memory twice.
#[derive(Debug, Default)]
pub struct RowSplitter {
    /// The start of an incomplete row.
    begun: Vec<u8>,
}

impl RowSplitter {
    /// Calls `row` with each row that ends in the next `bytes`, line break included.
    pub fn of(&mut self, bytes: &[u8], mut row: impl FnMut(&[u8])) {
        let mut from = 0;
        for end in memchr_iter(b'\n', bytes).map(|at| at + 1) {
            let part = &bytes[from..end];
            from = end;
            if self.begun.is_empty() {
                row(part);
            } else {
                self.begun.extend_from_slice(part);
                row(&std::mem::take(&mut self.begun));
            }
        }
        self.begun.extend_from_slice(&bytes[from..]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edits() -> impl Strategy<Value = Vec<(String, Edit)>> {
        let row = || "[a-z]{0,9}\n";
        let edit = prop_oneof![
            Just(Edit::Stays),
            Just(Edit::Gone),
            row().prop_map(|row| Edit::Becomes(row.into_bytes())),
        ];
        prop::collection::vec((row(), edit), 0..12)
    }

    proptest! {
        /// Editing in place gives the same rows as editing one by one.
        #[test]
        fn rows_become_what_is_said_of_each(edits in edits()) {
            let (mut rows, mut wanted) = (Rows::default(), Rows::default());
            for (row, edit) in &edits {
                rows.push(row.as_bytes());
                match edit {
                    Edit::Stays => wanted.push(row.as_bytes()),
                    Edit::Gone => {}
                    Edit::Becomes(row) => wanted.push(row),
                }
            }
            let mut each = edits.iter();
            rows.edit(|line| {
                let (row, edit) = each.next().unwrap();
                assert_eq!(line, row.as_bytes());
                Ok(edit.clone())
            }).unwrap();
            prop_assert_eq!((rows.bytes, rows.ends), (wanted.bytes, wanted.ends));
            prop_assert_eq!(rows.is_edited, edits.iter().any(|(_, edit)| *edit != Edit::Stays));
        }

        /// However the bytes are cut, the rows are the same; an unfinished row does not count yet.
        #[test]
        fn rows_come_whole(text in "[a\n]{0,40}", cuts in prop::collection::vec(0..40usize, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let (mut pieces, mut found) = (RowSplitter::default(), Vec::new());
            for pair in cuts.windows(2) {
                pieces.of(&text.as_bytes()[pair[0]..pair[1]], |row| found.push(row.to_vec()));
            }
            let whole = text.split_inclusive('\n').filter(|row| row.ends_with('\n'));
            prop_assert_eq!(found, whole.map(|row| row.as_bytes().to_vec()).collect::<Vec<_>>());
        }
    }
}
