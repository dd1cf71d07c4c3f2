//! A rewrite of a session file, in a process of its own that tests kill.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use sessions::files::{Jsonl, Refused, SessionFile as _};

/// Replaces `long` by `short` in every row and exits like the program. `how` may give the patience
/// in milliseconds, and the maximum file length.
pub fn edit(path: &Path, how: &[&str]) -> ExitCode {
    let number = |at: usize| how.get(at).and_then(|word| word.parse().ok());
    if let Some(longest) = number(1) {
        let limit = rustix::process::Rlimit { current: Some(longest), maximum: Some(longest) };
        rustix::process::setrlimit(rustix::process::Resource::Fsize, limit).expect("a limit");
    }
    let patience = Duration::from_millis(number(0).unwrap_or(200));
    let session = Jsonl::new(path).with_times(Duration::ZERO, patience);
    let edited = session.rows(&mut |_, _| Ok(())).map_err(Refused::Io).and_then(|stamp| {
        session.edit(stamp, &mut |_, row| {
            let text = String::from_utf8_lossy(row);
            Ok(text.contains("long").then(|| text.replace("long", "short").into_bytes()))
        })
    });
    match edited {
        Ok(edited) => {
            println!("{}", edited.left.unwrap_or_default());
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}
