//! The first half of the demo: from an empty session to a sealed file.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::client::{Client, broken};
use super::look::{file, session, text, token};
use super::screen::Screen;
use super::stage::{Stop, expect};
use super::tools::Use;
use super::transcript::MODEL;
use base::shown::shell_quote;
use guard::files::jobs;

/// The user's prompt.
pub const PROMPT: &str = "Make the retry loop back off, and add tests.";

/// What the agent writes down: kind and entry.
const NOTES: [(&str, &str); 4] = [
    ("scope", "next: give `retry.rs` a back-off, then run the tests"),
    ("thread", "`worker.rs` still calls the old function"),
    ("risk", "nobody checked what a long pause does to the queue"),
    ("why", "the tests were slow because of real pauses; a fake clock helped"),
];

type Played = Result<(), Stop>;

/// A session begins. The guard says nothing, but records it.
pub fn start(client: &mut Client, _: &mut Screen) -> Played {
    let replies =
        client.fire("SessionStart", "startup", json!({"source": "startup", "model": MODEL}))?;
    expect(replies.silent(), "silence at the session's start", || replies.to_string())?;
    let path = client.world.places.session(&client.session, "json");
    expect(path.is_file(), format_args!("state of the session in {}", path.display()), || "none")
}

/// Module and program have the same version and agree on the folder for readings.
pub fn module(client: &mut Client, _: &mut Screen) -> Played {
    let answer = client.ask("start", json!({"version": client.plugin.module}))?;
    let snapshots = answer["snapshots"].as_str().filter(|_| answer["ok"] == true).map(Path::new);
    let there = snapshots.is_some_and(Path::is_dir);
    expect(there, "`mod start` to say ok and name a folder for readings", || answer.clone())?;
    if let Some(folder) = snapshots {
        client.announce_module(folder.to_path_buf());
    }
    Ok(())
}

/// Below the first tier the guard measures and says nothing.
pub fn silence(client: &mut Client, screen: &mut Screen) -> Played {
    let replies = client.prompt(PROMPT)?;
    expect(replies.silent(), "silence at the prompt", || replies.to_string())?;
    screen.quote("user:", PROMPT, 1);
    let steps = [
        (5.0, Use::read(&client.world.source("retry.rs"))),
        (12.0, Use::read(&client.world.source("main.rs"))),
        (19.5, Use::shell("cargo test", "test result: ok. 12 passed\n")),
    ];
    for (percent, what) in steps {
        let response = client.respond(screen, percent, &[what])?;
        let came = || format!("{} and {}", response.before(), response.batch);
        expect(
            response.silent() && response.calls[0].ran,
            format_args!("silence at {percent} %"),
            came,
        )?;
        let near = response.percent.is_some_and(|p| (p - percent).abs() < 0.5);
        expect(near, format_args!("the guard to measure {percent} %"), || {
            format!("{:?}", response.percent)
        })?;
        expect(
            response.calls[0].measured,
            "the module's reading of the call to be taken",
            || "it still lies there",
        )?;
    }
    Ok(())
}

/// The first tier: one note, nothing blocked.
pub fn coach(client: &mut Client, screen: &mut Screen) -> Played {
    let response = client.respond(screen, 21.0, &[Use::read(&client.world.source("queue.rs"))])?;
    let call = &response.calls[0];
    expect(call.before.silent() && call.ran, "a read at 21 % to pass", || call.before.to_string())?;
    let file = file(client)?;
    let note = response.batch.notes().first().copied().unwrap_or_default().to_owned();
    let names = note.contains(&file.display().to_string());
    expect(names, format_args!("a note that names {}", file.display()), || {
        response.batch.to_string()
    })?;
    expect(file.is_file(), "the compaction file to be there", || format!("no {}", file.display()))?;
    screen.quote("to agent:", &note, 3);
    let user = response.batch.user().unwrap_or_default();
    expect(!user.is_empty(), "one line for the user", || response.batch.to_string())?;
    screen.quote("to user:", user, 1);
    let again = client.respond(screen, 21.4, &[Use::read(&client.world.source("config.rs"))])?;
    expect(again.silent(), "no second note at 21.4 %", || again.batch.to_string())
}

/// The second tier: new reads are blocked, edits still work.
pub fn reads(client: &mut Client, screen: &mut Screen) -> Played {
    let source = client.world.source("retry.rs");
    let uses = [
        Use::read(&client.world.source("store.rs")),
        Use::edit(&source, "TRIES: u32 = 3", "TRIES: u32 = 5"),
    ];
    let response = client.respond(screen, 26.0, &uses)?;
    let (read, edit) = (&response.calls[0], &response.calls[1]);
    let why = read.before.deny().unwrap_or_default();
    let told = why.contains("26.") && why.contains("brain-guard seal");
    expect(told, "a read denied with the figure and the way out", || read.before.to_string())?;
    screen.quote("to agent:", why, 2);
    let edited = text(&source)?.contains("TRIES: u32 = 5");
    expect(edit.before.silent() && edited, "an edit to pass", || edit.before.to_string())
}

/// At the second tier, known files and shell output are still available in part.
pub fn parts(client: &mut Client, screen: &mut Screen) -> Played {
    let long = "warning: this line is one of many\n".repeat(600);
    let uses = [Use::read(&client.world.source("retry.rs")), Use::shell("cargo build", &long)];
    let response = client.respond(screen, 27.0, &uses)?;
    let (read, shell) = (&response.calls[0], &response.calls[1]);
    let limit = read.before.input().and_then(|i| i["limit"].as_u64());
    let lines = read.result.lines().count() as u64;
    expect(limit == Some(lines), "a known file to be read again in part", || {
        read.before.to_string()
    })?;
    let cut = shell.after.output().is_some() && shell.result.len() < long.len() / 2;
    expect(cut, "the shell's output to be cut", || shell.after.to_string())?;
    let saved = client.world.places.state.join("outputs").join(&client.session);
    let whole = std::fs::read_dir(&saved).into_iter().flatten().flatten().any(|entry| {
        let kept = shell.result.contains(&entry.path().display().to_string());
        kept && text(&entry.path()).is_ok_and(|t| t == long)
    });
    expect(whole, format_args!("the whole output in {}", saved.display()), || {
        shell.result.clone()
    })?;
    let (part, whole) = (shell.result.len(), long.len());
    let note = format!("{lines} lines of a known file; {part} of {whole} characters of output");
    screen.quote("still:", &note, 1);
    Ok(())
}

/// The last tier: only the compaction file can be changed.
pub fn narrow(client: &mut Client, screen: &mut Screen) -> Played {
    let source = client.world.source("retry.rs");
    let new = client.world.source("new.rs");
    let uses = [
        Use::shell("cargo test", "ran"),
        Use::edit(&source, "TRIES: u32 = 5", "TRIES: u32 = 7"),
        Use::write(&new, "// new\n"),
        Use::read(&source),
        Use::agent("look at the queue"),
    ];
    let response = client.respond(screen, 31.0, &uses)?;
    for (what, call) in uses.iter().zip(&response.calls) {
        expect(call.before.deny().is_some(), format_args!("{} denied at 31 %", what.tool), || {
            call.before.to_string()
        })?;
    }
    let untouched = text(&source)?.contains("TRIES: u32 = 5") && !new.exists();
    expect(untouched, "no file of the project to be changed", || "one was")?;
    let why = response.calls[0].before.deny().unwrap_or_default();
    let (head, tail) = why.split_at(why.find("The way out").unwrap_or(why.len()));
    screen.quote("to agent:", head, 3);
    screen.quote("", tail, 2);
    expect(why.contains("brain-guard append"), "the form that is accepted in the reason", || {
        why.to_owned()
    })
}

/// Sealing an empty file works, but clears nothing.
pub fn bare_seal(client: &mut Client, screen: &mut Screen) -> Played {
    let said = own_verb(client, screen, 31.5, "brain-guard seal")?;
    screen.quote("it says:", said.lines().last().unwrap_or_default(), 1);
    let token = session(client)?.token;
    expect(token.is_none() && !client.sealed, "no boundary for an empty file", || {
        format!("{token:?}: {said}")
    })?;
    expect(said.contains("no boundary"), "the seal to say that there is no boundary", || {
        said.clone()
    })
}

/// A turn does not end unsealed while the agent can still write.
pub fn unsealed(client: &mut Client, screen: &mut Screen) -> Played {
    let replies = client.stop("I will stop here.", false)?;
    let why = replies.block().unwrap_or_default();
    expect(why.contains("brain-guard"), "the turn's end refused with the way out", || {
        replies.to_string()
    })?;
    screen.quote("turn ends:", &format!("refused: {why}"), 1);
    Ok(())
}

/// Notes arrive in their sections, through the verb and through an edit.
pub fn notes(client: &mut Client, screen: &mut Screen) -> Played {
    let mut command = String::new();
    for (kind, entry) in NOTES {
        let _ = write!(command, "brain-guard append --kind {kind} <<'EOF'\n- {entry}\nEOF\n");
    }
    let said = own_verb(client, screen, 31.8, &command)?;
    screen.quote("it says:", said.lines().next().unwrap_or_default(), 1);
    let file = file(client)?;
    let edit = Use::edit(&file, "then run the tests", "then run the tests with the fake clock");
    let response = client.respond(screen, 32.0, &[edit])?;
    let call = &response.calls[0];
    expect(call.before.allow() && call.ran, "an edit of the compaction file to pass", || {
        call.before.to_string()
    })?;
    let text = text(&file)?;
    let missing: Vec<&str> = NOTES
        .iter()
        .map(|(_, entry)| entry.strip_suffix("then run the tests").unwrap_or(entry))
        .chain(["with the fake clock"])
        .filter(|entry| !text.contains(entry))
        .collect();
    expect(missing.is_empty(), format_args!("every note in {}", file.display()), || {
        format!("without {missing:?}")
    })
}

/// A seal with notes succeeds and schedules the boundary.
pub fn seal(client: &mut Client, screen: &mut Screen) -> Played {
    let said = own_verb(client, screen, 32.3, "brain-guard seal")?;
    screen.quote("it says:", &said, 1);
    let token = token(client)?;
    let places = &client.world.places;
    let path = jobs::sealed_path(places, &token.job, token.version);
    let kept = Path::new(&token.sealed) == path && text(&path).is_ok_and(|t| !t.is_empty());
    expect(kept, format_args!("the sealed version in {}", path.display()), || {
        token.sealed.clone()
    })?;
    expect(client.sealed, "`mod poll` to say that it is sealed", || "not sealed")
}

/// After the seal, only ending the turn is allowed.
pub fn after_seal(client: &mut Client, screen: &mut Screen) -> Played {
    let response = client.respond(screen, 32.6, &[Use::shell("cargo test", "ran")])?;
    let why = response.calls[0].before.deny().unwrap_or_default();
    expect(why.contains("sealed"), "a call after the seal denied, since it is sealed", || {
        response.before()
    })?;
    screen.quote("to agent:", why, 2);
    let replies = client.stop("Sealed. Ending my turn.", false)?;
    expect(replies.block().is_none(), "the turn to end", || replies.to_string())?;
    screen.quote("turn ends:", "it is sealed, so it may", 1);
    let token = token(client)?;
    expect(token.awaits_carrier(&client.session), "the boundary to wait for the turn's end", || {
        format!("{:?}", token.step)
    })
}

/// Runs a verb of the guard as the agent does: allowed without a question, rewritten, and run.
fn own_verb(
    client: &mut Client,
    screen: &mut Screen,
    percent: f64,
    command: &str,
) -> Result<String, Stop> {
    let response = client.respond(
        screen,
        percent,
        &[Use::shell(command, "the command was not rewritten, so it was not run")],
    )?;
    let call = &response.calls[0];
    let input = call.before.input().and_then(|i| i["command"].as_str()).unwrap_or_default();
    let program = std::fs::canonicalize(client.plugin.program()).map_err(broken("no program"))?;
    let ours =
        input.contains(&shell_quote(&program.to_string_lossy())) && input.contains(&client.session);
    let expected = format_args!(
        "`{}` allowed, with the program's own path",
        command.lines().next().unwrap_or_default()
    );
    expect(call.before.allow() && ours, expected, || call.before.to_string())?;
    expect(call.ran, "the command to succeed", || call.result.clone())?;
    Ok(call.result.trim().to_owned())
}
