//! Links the static program with what a hook runs in one place (`hook.ld`).

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "cargo asks and is told so")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=.cargo/hook.ld");
    let of = |name| env::var(name).unwrap_or_default();
    // zig's linker takes such a script for the whole layout; cargo-zigbuild names itself here.
    let zig = of("RUSTC_LINKER").contains("zig");
    if of("CARGO_CFG_TARGET_OS") == "linux" && of("CARGO_CFG_TARGET_ENV") == "musl" && !zig {
        let folder = of("CARGO_MANIFEST_DIR");
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/.cargo/hook.ld");
    }
}
