//! Sessions in the format of earlier builds.

use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use store::blocks::Reader;

/// Replaces a session's blocks by packs, given its folder in the store.
pub fn from(folder: &Path) {
    let blocks = folder.join("blocks.db");
    let mut pack = Vec::new();
    let mut number = 0;
    let reader = Reader::open_file(&blocks).expect("blocks");
    let read = reader.rows(0, |round, row| {
        // A row is one or several blocks.
        for block in row.chunks(1_000) {
            let id = format!("{:x}", Sha256::digest(block));
            let header = serde_json::json!({
                "id": id, "session": "s", "round_seq": round, "row": number, "role": "",
                "type": "row", "bytes": block.len(), "content": [0, block.len()],
            });
            pack.extend_from_slice(format!("{header}\n").as_bytes());
            pack.extend_from_slice(block);
        }
        number += 1;
        Ok(())
    });
    read.expect("rows");
    fs::create_dir(folder.join("blocks")).expect("made");
    fs::write(folder.join("blocks/000000.pack"), pack).expect("written");
    fs::remove_file(blocks).expect("removed");
}
