//! What Linux can do with files beyond POSIX. Elsewhere these functions fail or do nothing, and
//! their callers do without.

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::num::NonZeroU64;
    use std::path::Path;

    use rustix::fs::{Advice, FallocateFlags, Mode, OFlags, fadvise, fallocate};

    /// Creates a file without a name.
    pub fn create_nameless(folder: &Path) -> io::Result<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        Ok(rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Asks the disk to start writing a part of a file.
    pub fn start_writing(file: &File, from: u64, length: u64) {
        let _ = fadvise(file, from, NonZeroU64::new(length), Advice::DontNeed);
    }

    /// Reserves space for a part of a file, beyond its end.
    pub fn reserve(file: &File, from: u64, length: u64) -> io::Result<()> {
        Ok(fallocate(file, FallocateFlags::KEEP_SIZE, from, length)?)
    }

    /// Frees the space of a part of a file, which reads as zeros then.
    pub fn punch_hole(file: &File, from: u64, length: u64) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(fallocate(file, flags, from, length)?)
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    /// There are no files without a name.
    pub fn create_nameless(_: &Path) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Does nothing.
    pub fn start_writing(_: &File, _: u64, _: u64) {}

    /// Space cannot be reserved.
    pub fn reserve(_: &File, _: u64, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// There are no holes.
    pub fn punch_hole(_: &File, _: u64, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(not(target_os = "linux"))]
pub use other::*;
