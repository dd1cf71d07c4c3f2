//! Shell commands of the agent: what the hook takes for our own verbs reads back as the same.
#![no_main]

use base::shown::shell_quote;
use guard::policy::command::{OwnCall, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: &str| {
    let Ok(own) = parse(script, "/opt/my bg/brain-guard") else { return };
    let mut again = String::new();
    if let Some(folder) = &own.folder {
        again = format!("cd {}", shell_quote(folder));
    }
    for OwnCall { words, input, after_success } in &own.calls {
        let words: Vec<String> = words.iter().map(|word| shell_quote(word)).collect();
        let join = if *after_success { " && " } else { "\n" };
        again = format!("{again}{join}brain-guard {}", words.join(" "));
        if let Some(text) = input {
            // The text of a heredoc ends with its last line.
            assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
        }
    }
    let mut bare = own;
    bare.calls.iter_mut().for_each(|call| call.input = None);
    assert_eq!(parse(&again, "/opt/my bg/brain-guard"), Ok(bare), "{again:?}");
});
