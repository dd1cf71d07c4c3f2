//! Reads rounds of a replaced edition: one that an index table was made from before the session's
//! file was rewritten.

use std::io;

use sessions::dialect::{Dialect, Scratch};
use sessions::digest::Digest;
use sessions::round::Round;
use store::blocks::{self, Edition, Folder, Reader, Rows};

/// The edition that numbers refer to.
#[derive(Debug, PartialEq, Eq)]
pub enum Which {
    /// The current edition.
    Present,
    /// A replaced edition.
    Aside(Edition),
    /// Unknown: there are several, and the right one was not recorded or is gone.
    Unknown,
}

/// The edition whose identity ([`blocks::identity`]) was recorded.
///
/// # Errors
/// An I/O error.
pub fn find_edition(folder: &Folder, recorded: Option<u64>) -> io::Result<Which> {
    let editions = match blocks::editions(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
        other => other?,
    };
    if editions.is_empty() || (recorded.is_some() && recorded == blocks::identity(&folder.blocks()))
    {
        return Ok(Which::Present);
    }
    let is = |edition: &Edition| recorded.is_some() && blocks::identity(&edition.path) == recorded;
    let found = editions.into_iter().find(is);
    Ok(found.map_or(Which::Unknown, Which::Aside))
}

/// A round of a replaced edition, which no index covers: its rows into `rows`, and what they say
/// about the round.
///
/// # Errors
/// `NotFound` if it has no such round; I/O errors.
pub fn round(
    edition: &Edition,
    dialect: &dyn Dialect,
    seq: u32,
    rows: &mut Rows,
) -> io::Result<Round> {
    Reader::open_file(&edition.path)?.round(seq, rows)?;
    let (mut digest, mut scratch, mut found) = (Digest::default(), Scratch::default(), Vec::new());
    for line in rows.iter() {
        let row = dialect.row(line, &mut scratch);
        dialect.blocks(line, &row, &mut scratch, &mut found);
        digest.row(dialect, &row, line, &found);
    }
    let (round, _) = digest.open().unwrap_or_default();
    Ok(Round { seq, ..round })
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::blocks::{Root, Writer};

    fn kept(folder: &Folder) {
        std::fs::create_dir_all(&folder.path).unwrap();
        let mut writer = Writer::open(&folder.blocks()).unwrap();
        writer.row(1, b"{}\n").unwrap();
        writer.commit().unwrap();
    }

    #[test]
    fn numbers_are_of_the_edition_that_was_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Root::new(dir.path().to_path_buf()).folder("claude", "one");
        assert_eq!(find_edition(&folder, None).unwrap(), Which::Present, "nothing there");
        kept(&folder);
        let first = blocks::identity(&folder.blocks());
        assert_eq!(find_edition(&folder, None).unwrap(), Which::Present, "there is one alone");
        let aside = blocks::set_aside(&folder).unwrap();
        kept(&folder);
        assert_eq!(find_edition(&folder, first).unwrap(), Which::Aside(aside));
        assert_eq!(
            find_edition(&folder, blocks::identity(&folder.blocks())).unwrap(),
            Which::Present
        );
        assert_eq!(find_edition(&folder, None).unwrap(), Which::Unknown, "an old record");
    }
}
