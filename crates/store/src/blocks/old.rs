//! Pack folders of earlier builds that still exist: verifies and removes them.

use std::fs;
use std::io;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use super::edition::editions;
use super::packs;
use super::reader::Reader;
use super::root::Folder;

/// A pack folder that still exists.
#[derive(Debug)]
pub struct Packs {
    /// The folder.
    pub path: PathBuf,
    /// The block file that receives the copy.
    blocks: PathBuf,
}

/// The pack folders of a session and its editions.
pub fn list_packs(folder: &Folder) -> io::Result<Vec<Packs>> {
    let all = editions(folder)?.into_iter().map(|edition| edition.path).chain([folder.blocks()]);
    let packs = all.map(|blocks| Packs { path: packs::pack_folder(&blocks), blocks });
    Ok(packs.filter(|packs| packs.path.is_dir()).collect())
}

impl Packs {
    /// Total bytes of the packs.
    pub fn size(&self) -> io::Result<u64> {
        packs::size(&self.path)
    }

    /// Checks that the block file has every byte of the packs; first copies what is missing.
    ///
    /// # Errors
    /// `InvalidData` if the copy is incomplete.
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
            "{}: the copy in {} is incomplete, because a pack is damaged or incomplete",
            self.path.display(),
            self.blocks.display()
        );
        Err(io::Error::new(io::ErrorKind::InvalidData, why))
    }

    /// Removes the folder.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.path)
    }
}

/// Hashes only the first `left` bytes written to it.
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
