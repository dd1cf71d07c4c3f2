//! The edges of the program, one module each: files replaced whole, locks, paths, clock,
//! environment, processes, and text made safe to show.

pub mod atomic;
pub mod clock;
pub mod disk;
pub mod env;
pub mod lock;
pub mod new_file;
pub mod paths;
pub mod plain;
pub mod process;
pub mod rows;
pub mod shown;
pub mod switch;
pub mod tail;
pub mod when;
