//! Checks extraction with pi: by its package in a pi that works, and on files that pi wrote or that
//! have its format, which pi's session manager opens. Needs no network and no model.

mod cases;
mod client;
mod compare;
mod door;
mod scene;

use client::Pi;

/// A test for each case and version.
macro_rules! cases {
    ($($name:ident)+) => {
        $(mod $name {
            use super::*;

            #[test]
            fn in_0_73() -> Result<(), String> {
                cases::$name(&Pi::of("0.73.1")?)
            }
        })+
    };
}

cases! {
    extracted
    everything
    restored
    marked
    goes_on
    held
    latest
}
