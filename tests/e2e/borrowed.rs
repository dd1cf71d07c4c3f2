// Test programs in other folders of `tests` share these modules of the end-to-end tests. They
// include this file in their `main.rs`, so the paths start there.

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
