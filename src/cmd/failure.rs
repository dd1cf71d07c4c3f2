//! Why a verb did not do what it was asked to.

use std::fmt;

use super::Exit;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The command line says nothing that can be done.
    Usage,
    /// A session, job, round or file that is not there.
    NotFound,
    /// It may not be done now, or not by this caller.
    Refused,
}

/// What is wrong, and what to do about it. Anything else that fails is an error of the system.
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

    /// The command line can't be followed.
    pub fn usage(what: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, what)
    }

    /// Something that was named is not there.
    pub fn not_found(what: impl fmt::Display) -> Self {
        Self::new(Kind::NotFound, what)
    }

    /// It may not be done.
    pub fn refused(what: impl fmt::Display) -> Self {
        Self::new(Kind::Refused, what)
    }

    /// With what to do about it.
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
