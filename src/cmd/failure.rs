//! Why a verb failed.

use std::fmt;

use super::Exit;

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Wrong usage of the command line.
    Usage,
    /// A session, job, round or file does not exist.
    NotFound,
    /// Not allowed now, or not for this caller.
    Refused,
}

/// What is wrong, and what to do about it. All other errors come from the system.
#[derive(Debug)]
pub struct Failure {
    /// Decides the exit code.
    pub kind: Kind,
    what: String,
    hint: Option<String>,
}

impl Failure {
    fn new(kind: Kind, what: impl fmt::Display) -> Self {
        Self { kind, what: what.to_string(), hint: None }
    }

    /// Wrong usage of the command line.
    pub fn usage(what: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, what)
    }

    /// Something that the caller named does not exist.
    pub fn not_found(what: impl fmt::Display) -> Self {
        Self::new(Kind::NotFound, what)
    }

    /// Not allowed now, or not for this caller.
    pub fn refused(what: impl fmt::Display) -> Self {
        Self::new(Kind::Refused, what)
    }

    /// Adds what to do about it.
    pub fn hint(self, hint: impl fmt::Display) -> Self {
        Self { hint: Some(hint.to_string()), ..self }
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        match self.kind {
            Kind::Usage => Exit::Usage,
            Kind::NotFound | Kind::Refused => Exit::Refused,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for Failure {}
