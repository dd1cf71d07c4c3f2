//! Names the build by its source, so that what one build kept of the settings is not taken for
//! another's (`hook/merged.rs`).
#![expect(clippy::disallowed_methods, reason = "cargo asks and is told so")]

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

/// This crate, and those that it is built on.
const SOURCES: [&str; 3] = ["src", "../sessions/src", "../base/src"];

fn main() -> io::Result<()> {
    let mut files = BTreeSet::new();
    for folder in SOURCES {
        println!("cargo::rerun-if-changed={folder}");
        collect(Path::new(folder), &mut files)?;
    }
    let mut id = DefaultHasher::new();
    for file in files {
        id.write(file.as_os_str().as_encoded_bytes());
        id.write(&fs::read(&file)?);
    }
    println!("cargo::rustc-env=BUILD_ID={:016x}", id.finish());
    Ok(())
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.insert(path);
        }
    }
    Ok(())
}
