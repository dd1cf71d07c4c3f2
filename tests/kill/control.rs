//! Negative controls: programs that write in a forbidden way must be detected.

use crate::harness::Hook;
use crate::operations::Operation;
use crate::trace::Run;

/// What each does wrong, and its script. The shell does it all, because its children are not
/// killed.
pub const ALL: [(&str, &str); 2] = [
    ("writes in place", r#"printf '{"a": ' > file.json; printf '2}\n' >> file.json"#),
    ("cuts the file first", r": > notes.md; printf -- '- two\n' > notes.md"),
];

pub fn operation(script: &str) -> Operation {
    let hook = Hook::new();
    std::fs::write(hook.project.join("file.json"), "{\"a\": 1}\n").expect("file");
    std::fs::write(hook.project.join("notes.md"), "- one\n").expect("file");
    let run = Run {
        program: "/bin/sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        env: vec![("HOME".to_owned(), hook.home.display().to_string())],
        folder: hook.project.clone(),
        stdin: Vec::new(),
    };
    Operation { hook, run, session: false }
}
