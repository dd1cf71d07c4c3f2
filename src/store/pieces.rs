//! Writing in pieces of one size, from the file's beginning on: the system has whole pages to
//! fill then, and none to clear first.

use std::io::{self, Write};

/// A file that is written in pieces. What is dropped before [`Pieces::flush`] is lost.
#[derive(Debug)]
pub struct Pieces<W> {
    out: W,
    piece: Vec<u8>,
    /// Bytes of a piece.
    size: usize,
}

impl<W: Write> Pieces<W> {
    /// Of `size` bytes each, some pages, into a file that is empty.
    pub fn new(out: W, size: usize) -> Self {
        Self { out, piece: Vec::with_capacity(size), size }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// What the system says; how much was written is not known then.
    pub fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while bytes.len() >= self.size - self.piece.len() {
            let (fits, rest) = bytes.split_at(self.size - self.piece.len());
            if self.piece.is_empty() {
                self.out.write_all(fits)?;
            } else {
                self.piece.extend_from_slice(fits);
                self.flush()?;
            }
            bytes = rest;
        }
        self.piece.extend_from_slice(bytes);
        Ok(())
    }

    /// Hands what is there to the system.
    ///
    /// # Errors
    /// What the system says.
    pub fn flush(&mut self) -> io::Result<()> {
        let written = self.out.write_all(&self.piece);
        self.piece.clear();
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written at a time.
    #[derive(Default)]
    struct Writes(Vec<Vec<u8>>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn bytes_go_in_whole_pieces_and_in_their_order() {
        let bytes: Vec<u8> = (0..=255).collect();
        for cut in 0..=40 {
            let mut pieces = Pieces::new(Writes::default(), 16);
            for part in [&bytes[..cut], &bytes[cut..cut + 3], &bytes[cut + 3..]] {
                pieces.put(part).unwrap();
            }
            pieces.put(b"end").unwrap();
            pieces.flush().unwrap();
            let all = pieces.out.0;
            assert_eq!(all.concat(), [&bytes[..], b"end"].concat(), "{cut}");
            let (last, whole) = all.split_last().unwrap();
            assert!(whole.iter().all(|piece| piece.len() % 16 == 0) && last == b"end", "{cut}");
        }
    }
}
