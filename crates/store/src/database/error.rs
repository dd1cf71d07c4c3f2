//! What can go wrong with a database.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// What can go wrong with a database.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of SQLite.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// Other processes kept the database busy for longer than the timeout.
    #[error("{} is kept busy by another process; try again when that is done", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a database, or its pages are inconsistent.
    #[error(
        "{} is damaged ({why}); run `brain-guard doctor --fix`",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// SQLite's message.
        why: String,
    },
    /// Another version of this program wrote the file.
    #[error(
        "{} has format {found}, and this brain-guard reads only format {known}; use the version of brain-guard that wrote it, or move its folder away and import the sessions again with `brain-guard import`",
        path.display()
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The format of this program.
        known: i64,
    },
    /// A folder could not be created, or a file not read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A name or number that does not exist.
    #[error("{0}")]
    Unknown(String),
}

impl Error {
    pub(crate) fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, why: source.to_string() }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            _ => Self::Sqlite { path, source },
        }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Damaged { .. } => io::ErrorKind::InvalidData,
            Error::Busy { .. } => io::ErrorKind::WouldBlock,
            Error::Io { source, .. } => source.kind(),
            Error::Sqlite { source, .. } => match source.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => io::ErrorKind::StorageFull,
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
                    io::ErrorKind::PermissionDenied
                }
                _ => io::ErrorKind::Other,
            },
            Error::OtherFormat { .. } | Error::Unknown(_) => io::ErrorKind::Other,
        };
        Self::new(kind, error.to_string())
    }
}
