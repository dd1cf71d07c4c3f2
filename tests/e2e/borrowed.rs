// The parts of the end-to-end tests that programs in other folders of `tests` work with:
// they include this file in their `main.rs`, and the paths are from there.

macro_rules! shared {
    ($($name:ident at $path:literal)+) => {
        $(
            #[path = $path]
            #[allow(dead_code, unused_imports, reason = "the end-to-end tests use the rest")]
            mod $name;
        )+
    };
}
shared! {
    client at "../e2e/client/mod.rs"
    desktop at "../e2e/desktop/mod.rs"
    evidence at "../e2e/evidence.rs"
    mock at "../e2e/mock/mod.rs"
    process at "../e2e/process.rs"
    world at "../e2e/world/mod.rs"
}
