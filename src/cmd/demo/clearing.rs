//! The second half of the demo: the clear, the delivery, and the fresh session.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::Client;
use super::look::{load_token, plain, session, text};
use super::screen::Screen;
use super::squeeze::PROMPT;
use super::stage::{Stop, expect};
use super::tools::Use;
use guard::boundary::Step;
use guard::compaction::for_reader;

/// The longest notice that the demo's own settings allow.
const NOTICE: Duration = Duration::from_secs(3);

/// Time limit for the hook that watches the delivery.
const WATCH: Duration = Duration::from_secs(5);

/// State passed between the stages of the second half.
#[derive(Debug, Default)]
pub struct Carried {
    token: String,
    text: String,
}

type Played = Result<(), Stop>;

/// The turn is over: a notice to the user, then the command to clear.
pub fn notice(client: &mut Client, screen: &mut Screen, carried: &mut Carried) -> Played {
    carried.token = session(client)?.token.unwrap_or_default();
    let ended = json!({"event": "turn-complete", "turn_id": "turn-1", "reason": "answer", "answered": true, "is_aborted": false});
    let mut action = client.ask("step", ended)?;
    let status = action["status"].as_str().unwrap_or_default().to_owned();
    expect(action["action"] == "wait" && !status.is_empty(), "a notice before the clear", || {
        plain(&action)
    })?;
    screen.quote("in band:", &status, 1);
    for _ in 0..3 {
        let Some(ms) = action["ms"].as_u64().filter(|_| action["action"] == "wait") else { break };
        let time = Duration::from_millis(ms);
        expect(time <= NOTICE, "a short notice", || format!("{ms} ms"))?;
        client.wait(time);
        action = client.ask("step", json!({"event": "waited"}))?;
    }
    expect(
        action["action"] == "clear" && is(&action["token"], &carried.token),
        "the word to clear",
        || plain(&action),
    )?;
    let step = load_token(client, &carried.token)?.step;
    expect(step == Step::Clearing, "the boundary to be clearing", || format!("{step:?}"))
}

/// A new session starts in the same client and gets a note about its job.
pub fn clear(client: &mut Client, screen: &mut Screen, carried: &mut Carried) -> Played {
    let old = client.session.clone();
    let ended = client.fire("SessionEnd", "clear", json!({"reason": "clear"}))?;
    expect(ended.silent(), "silence at the session's end", || ended.to_string())?;
    client.clear();
    screen.quote("client:", &format!("/clear; session {} begins", client.session), 1);
    let replies = client.fire("SessionStart", "clear", json!({"source": "clear"}))?;
    let notes = replies.notes();
    let token = load_token(client, &carried.token)?;
    let told =
        notes.len() == 1 && notes[0].contains(&token.job) && notes[0].contains(&token.sealed);
    expect(told, "one note that names the job and the sealed file", || replies.to_string())?;
    screen.quote("to agent:", notes[0], 1);
    let linked = token.parent == old
        && token.child.as_deref() == Some(&client.session)
        && token.step == Step::Cleared;
    expect(linked, "the boundary to lead from the old session to the new one", || {
        format!("{token:?}")
    })
}

/// The whole sealed file starts the new session's first turn.
pub fn deliver(client: &mut Client, screen: &mut Screen, carried: &mut Carried) -> Played {
    let cleared = json!({"event": "cleared", "token": carried.token});
    let action = client.ask("step", cleared)?;
    action["text"].as_str().unwrap_or_default().clone_into(&mut carried.text);
    expect(action["action"] == "submit", "the word to submit the notes", || plain(&action))?;
    let (id, file) =
        (&carried.token, text(Path::new(&load_token(client, &carried.token)?.sealed))?);
    let file = for_reader(&file);
    let framed = format!("<<<<< compaction file {id}\n{file}\n>>>>> end of compaction file {id}");
    expect(
        carried.text.contains(&framed),
        "the sealed notes, as their reader gets them, between the markers",
        || carried.text.clone(),
    )?;
    expect(carried.text.contains(PROMPT), "the user's own words in the delivery", || {
        carried.text.clone()
    })?;
    screen.quote("delivered:", &carried.text, 1);
    screen.quote("", &gist(&carried.text), 8);
    let text = carried.text.clone();
    let replies = client.prompt(&text)?;
    expect(replies.silent(), "nothing added to the delivery", || replies.to_string())?;
    let action = client
        .ask("step", json!({"event": "submitted", "token": carried.token, "turn_id": "turn-2"}))?;
    expect(action["action"] == "none", "nothing more to do", || plain(&action))?;
    let step = load_token(client, &carried.token)?.step;
    expect(step == Step::Delivered, "the boundary to be delivered", || format!("{step:?}"))
}

/// The new session works: nothing is blocked, and the boundary is over.
pub fn free(client: &mut Client, screen: &mut Screen, carried: &mut Carried) -> Played {
    let response = client.respond(screen, 4.0, &[Use::read(&client.world.source("worker.rs"))])?;
    let came =
        || format!("stance {}, {} and {}", response.stance, response.before(), response.batch);
    let free = response.silent() && response.calls[0].ran && response.stance == "free";
    expect(free, "a read to pass in silence, stance free", came)?;
    let step = load_token(client, &carried.token)?.step;
    expect(step == Step::Acknowledged, "the boundary to be acknowledged", || format!("{step:?}"))?;
    let still = session(client)?.token;
    expect(still.is_none(), "no boundary left in the session", || format!("{still:?}"))
}

/// The hook that starts the turn if the module does not: here it does nothing.
pub fn watcher(client: &mut Client, _: &mut Screen, _: &mut Carried) -> Played {
    let running = client.rewake.take();
    expect(running.is_some(), "a hook to watch over the delivery", || "none")?;
    let Some(running) = running else { return Ok(()) };
    let ended = running.wait(client.until(WATCH))?;
    let still = ended.status.success() && ended.stdout.is_empty() && ended.stderr.is_empty();
    expect(still, "the watching hook to start no second turn", || super::client::printed(&ended))?;
    let done = json!({"event": "turn-complete", "turn_id": "turn-2", "reason": "answer", "answered": true, "is_aborted": false});
    let action = client.ask("step", done)?;
    expect(action["action"] == "none", "no further action after the first turn", || plain(&action))
}

/// The guard's own log has the boundary to its end, and no fault.
pub fn log(client: &mut Client, _: &mut Screen, _: &mut Carried) -> Played {
    let path = client.world.places.log();
    let log = text(&path)?;
    let kind =
        |line: &str| serde_json::from_str::<Value>(line).map_or(Value::Null, |v| v["kind"].clone());
    let end = log.lines().any(|line| is(&kind(line), "acknowledged"));
    expect(end, format_args!("the boundary's end in {}", path.display()), || "none")?;
    let fault = log.lines().find(|line| is(&kind(line), "fault"));
    expect(fault.is_none(), "no fault in the log", || fault.unwrap_or_default())
}

/// The lines of a delivery that somebody wrote.
fn gist(text: &str) -> String {
    let told =
        |line: &&str| ["> ", "- ", "<<<<<", ">>>>>"].iter().any(|start| line.starts_with(start));
    text.lines().filter(told).collect::<Vec<_>>().join("\n")
}

fn is(value: &Value, text: &str) -> bool {
    value.as_str() == Some(text)
}
