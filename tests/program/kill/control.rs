//! Negative controls: programs that write in a forbidden way must be detected.

use crate::kill::operations::Operation;
use crate::kill::play::play;
use crate::support::hook::Hook;
use crate::support::trace::Run;

// The shell does it all, because its children are not killed.

#[test]
fn control_finds_a_write_in_place() {
    let script = r#"printf '{"a": ' > file.json; printf '2}\n' >> file.json"#;
    assert_ne!(play(&operation(script)), [""; 0]);
}

#[test]
fn control_finds_a_file_that_is_cut_first() {
    let script = r": > notes.md; printf -- '- two\n' > notes.md";
    assert_ne!(play(&operation(script)), [""; 0]);
}

fn operation(script: &str) -> Operation {
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
