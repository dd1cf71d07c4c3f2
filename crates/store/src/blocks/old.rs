//! Packs that are still there, and how they go.

use std::fs;
use std::io;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use super::edition::editions;
use super::packs;
use super::reader::Reader;
use super::root::Folder;

/// A folder of packs that is still there.
#[derive(Debug)]
pub struct Packs {
    /// The folder.
    pub path: PathBuf,
    /// The blocks that they are copied to.
    blocks: PathBuf,
}

/// The packs of a session and its editions that are still there.
///
/// # Errors
/// What the system says.
pub fn packs_of(folder: &Folder) -> io::Result<Vec<Packs>> {
    let all = editions(folder)?.into_iter().map(|edition| edition.path).chain([folder.blocks()]);
    let packs = all.map(|blocks| Packs { path: packs::of(&blocks), blocks });
    Ok(packs.filter(|packs| packs.path.is_dir()).collect())
}

impl Packs {
    /// Bytes that they take.
    ///
    /// # Errors
    /// What the system says.
    pub fn size(&self) -> io::Result<u64> {
        packs::size(&self.path)
    }

    /// That every byte of them is copied into the file; copies them where they are not.
    ///
    /// # Errors
    /// What the system says; `InvalidData` where the copy has not all of it.
    pub fn verify(&self) -> io::Result<()> {
        let (mut length, mut digest) = (0, Sha256::new());
        let end = packs::rows(&self.path, 0, |_, row| {
            length += row.len() as u64;
            digest.update(row);
            Ok(())
        })?;
        let mut copy = Prefix { left: length, digest: Sha256::new() };
        Reader::copied(&self.blocks)?.original(&mut copy)?;
        let same = copy.left == 0 && copy.digest.finalize() == digest.finalize();
        if same && end == packs::end(&self.path)? {
            return Ok(());
        }
        let why = format!(
            "{}: {} does not hold all of it, because it is damaged or half written",
            self.path.display(),
            self.blocks.display()
        );
        Err(io::Error::new(io::ErrorKind::InvalidData, why))
    }

    /// Removes them.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.path)
    }
}

/// The digest of so many first bytes.
struct Prefix {
    left: u64,
    digest: Sha256,
}

impl io::Write for Prefix {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = (bytes.len() as u64).min(self.left);
        self.digest.update(&bytes[..taken as usize]);
        self.left -= taken;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
