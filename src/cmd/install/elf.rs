//! How a binary is linked, read from its own header: what an installation says
//! about its cost is what the file is, not what a build was asked for.

/// How a program is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linkage {
    /// It needs no loader and no libraries.
    Static,
    /// The system's loader loads its libraries at every start.
    Dynamic,
    /// Not a 64-bit ELF file.
    Unknown,
}

// System V ABI, ELF-64: header and program header offsets.
const MAGIC: [u8; 5] = [0x7f, b'E', b'L', b'F', 2];
const BYTE_ORDER: usize = 5;
const BIG_ENDIAN: u8 = 2;
const PROGRAM_HEADERS: usize = 32;
const ENTRY_SIZE: usize = 54;
const ENTRY_COUNT: usize = 56;
const INTERPRETER: u32 = 3;

/// Reads the linkage of the program in `bytes`.
pub fn linkage(bytes: &[u8]) -> Linkage {
    if bytes.get(..MAGIC.len()) != Some(&MAGIC) {
        return Linkage::Unknown;
    }
    match has_interpreter(bytes) {
        Some(true) => Linkage::Dynamic,
        Some(false) => Linkage::Static,
        None => Linkage::Unknown,
    }
}

fn has_interpreter(bytes: &[u8]) -> Option<bool> {
    let start = usize::try_from(number::<8>(bytes, PROGRAM_HEADERS)?).ok()?;
    let (size, count) = (half(bytes, ENTRY_SIZE)?, half(bytes, ENTRY_COUNT)?);
    for entry in 0..usize::from(count) {
        let at = start.checked_add(entry * usize::from(size))?;
        if number::<4>(bytes, at)? == u64::from(INTERPRETER) {
            return Some(true);
        }
    }
    Some(false)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    u16::try_from(number::<2>(bytes, at)?).ok()
}

/// The number of `N` bytes at `at`, in the file's own byte order.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(N)?)?;
    let fold = |sum: u64, byte: &u8| (sum << 8) | u64::from(*byte);
    Some(match bytes.get(BYTE_ORDER) {
        Some(&BIG_ENDIAN) => field.iter().fold(0, fold),
        _ => field.iter().rev().fold(0, fold),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with one program header of the given type.
    fn elf(segment: u32, big: bool) -> Vec<u8> {
        let mut file = vec![0; 64 + 56];
        file[..5].copy_from_slice(&MAGIC);
        file[BYTE_ORDER] = if big { BIG_ENDIAN } else { 1 };
        let mut put = |at: usize, width: usize, value: u64| {
            let all = value.to_be_bytes();
            let mut field = all[8 - width..].to_vec();
            if !big {
                field.reverse();
            }
            file[at..at + width].copy_from_slice(&field);
        };
        put(PROGRAM_HEADERS, 8, 64);
        put(ENTRY_SIZE, 2, 56);
        put(ENTRY_COUNT, 2, 1);
        put(64, 4, segment.into());
        file
    }

    #[test]
    fn an_interpreter_makes_it_dynamic_in_both_byte_orders() {
        for big in [false, true] {
            assert_eq!(linkage(&elf(1, big)), Linkage::Static);
            assert_eq!(linkage(&elf(INTERPRETER, big)), Linkage::Dynamic);
        }
    }

    #[test]
    fn what_is_no_elf_file_or_is_cut_off_is_unknown() {
        let whole = elf(1, false);
        for cut in 0..64 + 4 {
            assert_eq!(linkage(&whole[..cut]), Linkage::Unknown, "cut at {cut}");
        }
        assert_eq!(linkage(b"#!/bin/sh\n"), Linkage::Unknown);
    }
}
