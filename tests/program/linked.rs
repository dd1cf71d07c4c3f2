//! How the static program is linked: the code that hooks run is contiguous (`.cargo/hook.ld`), and
//! `./bench --quick` limits its memory. These tests link a one-line program, because the real one
//! takes minutes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The musl target of this machine, which needs no libraries.
fn musl() -> String {
    format!("{}-unknown-linux-musl", std::env::consts::ARCH)
}

/// The compiler that cargo runs.
fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// Why linking for [`musl`] is impossible here, if it is.
fn missing() -> Option<String> {
    let asked = rustc().args(["--print", "target-libdir", "--target", &musl()]).output();
    let folder = asked.map(|asked| PathBuf::from(String::from_utf8_lossy(&asked.stdout).trim()));
    let there = folder.is_ok_and(|folder| folder.is_dir());
    (!there).then(|| format!("rustc has no target {0}: rustup target add {0}", musl()))
}

fn compiled(source: &Path, to: &Path, words: &[&str]) -> Output {
    let mut compiler = rustc();
    compiler.args(["--edition", "2024", "--crate-name", "guard"]).args(words);
    compiler.arg("-o").arg(to).arg(source).output().expect("rustc")
}

#[test]
fn hook_code_is_one_section_of_the_static_program() {
    if let Some(why) = missing() {
        eprintln!("not run: {why}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("main.rs"), folder.path().join("program"));
    let text = "mod hook { #[inline(never)] pub fn run(n: usize) -> usize { std::hint::black_box(n) } }\n\
        fn main() { std::process::exit(hook::run(std::env::args().count() + 40) as i32) }\n";
    fs::write(&source, text).expect("source");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo/hook.ld");
    let script = format!("link-arg=-Wl,-T,{}", script.display());
    let (section, target) = (b".text.hook\0", musl());
    for (words, is_there) in [(&["-C", script.as_str()][..], true), (&[], false)] {
        let words = [&["--target", target.as_str()], words].concat();
        let done = compiled(&source, &program, &words);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let ran = Command::new(&program).status().expect("the program");
        assert_eq!(ran.code(), Some(41), "{words:?}");
        let bytes = fs::read(&program).expect("the program");
        let found = memchr::memmem::find(&bytes, section).is_some();
        assert_eq!(found, is_there, "{words:?}");
    }
}

#[test]
fn only_the_static_program_gets_the_linker_script() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("link");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo/link.rs");
    let done = compiled(&source, &program, &[]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for (os, env, is_handed) in
        [("linux", "musl", true), ("linux", "gnu", false), ("macos", "", false)]
    {
        let mut script = Command::new(&program);
        script.env("CARGO_CFG_TARGET_OS", os).env("CARGO_CFG_TARGET_ENV", env);
        let ran = script.env("CARGO_MANIFEST_DIR", "/src").output().expect("the build script");
        let told = String::from_utf8_lossy(&ran.stdout);
        let flag = "cargo::rustc-link-arg-bins=-Wl,-T,/src/.cargo/hook.ld";
        assert_eq!(told.lines().any(|line| line == flag), is_handed, "{os} {env}: {told}");
        assert!(ran.status.success());
    }
}
