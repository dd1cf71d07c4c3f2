//! Rows that were read together, in one piece of memory.

/// Rows, one after the other, each with its line break.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// All their bytes.
    pub bytes: Vec<u8>,
    /// Where each ends.
    pub ends: Vec<usize>,
}

impl Rows {
    /// Room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ends: Vec::new() }
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

    /// Removes all; the memory stays.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}
