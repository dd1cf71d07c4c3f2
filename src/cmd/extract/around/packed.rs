//! Files in which names can't be looked for, as what is in them was packed or sealed.

/// How files begin that gzip, zstd, xz and bzip2 made: the shortest of them might pass for text.
const MAGIC: [&[u8]; 4] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh"];

/// How text begins that holds something else, of PGP and age.
const ARMOUR: &[u8] = b"-----BEGIN ";

/// Whether a file that begins so is no plain text, whatever made it: sessions are UTF-8 without
/// zeros.
pub fn is(begins: &[u8]) -> bool {
    // What is cut off within a character is whole in the file.
    let text = std::str::from_utf8(begins).map_or_else(|e| e.error_len().is_none(), |_| true);
    let magic = MAGIC.iter().any(|magic| begins.starts_with(magic));
    magic || begins.starts_with(ARMOUR) || !text || begins.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_no_plain_text_is_packed() {
        for packed in [
            &b"\x1f\x8b\x08"[..],
            b"BZh91AY",
            b"PK\x03\x04\x14\0\0\0\x08\0",
            b"7z\xbc\xaf\x27\x1c",
            b"\x04\x22\x4d\x18\x64\x40\xa7",
            b"age-encryption.org/v1\n-> X25519 a\n--- b\n\x9c\xf0",
            b"\x85\x01\x0c\x03",
            b"-----BEGIN PGP MESSAGE-----\n",
            b"x.jsonl\0\0\0\x000644",
            b"\xff\xfe{\0",
        ] {
            assert!(is(packed), "{packed:?}");
        }
        for text in ["", "{\"type\":\"session\"}\n", "no session", "{\"é\":\"🦀\"}"] {
            assert!(!is(text.as_bytes()), "{text}");
        }
        assert!(!is(&"{\"é".as_bytes()[..3]), "the rest of it comes");
    }
}
