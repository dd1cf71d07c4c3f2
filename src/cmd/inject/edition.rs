//! Rounds of an edition of a session that an index table was made of, when the session's file
//! was written anew since.

use std::io;

use sessions::dialect::{Dialect, Scratch};
use sessions::digest::Digest;
use sessions::round::Round;
use store::blocks::{self, Edition, Folder, Reader, Rows};

/// Which of a session's editions numbers are of.
#[derive(Debug, PartialEq, Eq)]
pub enum Which {
    /// The one that the session has.
    Present,
    /// One that was set aside.
    Aside(Edition),
    /// Nobody knows: there are several, and which it was is not recorded or no longer there.
    Unknown,
}

/// The edition whose identity ([`blocks::identity`]) was recorded.
///
/// # Errors
/// What the system says.
pub fn which(folder: &Folder, recorded: Option<u64>) -> io::Result<Which> {
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

/// A round of an edition that was set aside, which no index knows any more: its rows into
/// `rows`, and what they say of it.
///
/// # Errors
/// `NotFound` where it has no such round; what the system says.
pub fn round(
    edition: &Edition,
    dialect: &dyn Dialect,
    seq: u32,
    rows: &mut Rows,
) -> io::Result<Round> {
    Reader::of(&edition.path)?.round(seq, rows)?;
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
        assert_eq!(which(&folder, None).unwrap(), Which::Present, "nothing there");
        kept(&folder);
        let first = blocks::identity(&folder.blocks());
        assert_eq!(which(&folder, None).unwrap(), Which::Present, "there is one alone");
        let aside = blocks::set_aside(&folder).unwrap();
        kept(&folder);
        assert_eq!(which(&folder, first).unwrap(), Which::Aside(aside));
        assert_eq!(which(&folder, blocks::identity(&folder.blocks())).unwrap(), Which::Present);
        assert_eq!(which(&folder, None).unwrap(), Which::Unknown, "an old record");
    }
}
