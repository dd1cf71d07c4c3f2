//! What a job verb means for its session: it switches the job at once, and the boundary that it asks
//! for carries the right text.

use std::fs;
use std::path::PathBuf;

use guard::files::jobs;
use notes::compaction::for_reader;
use serde_json::{Value, json};

use crate::support::hook::{Hook, percent_in};

/// Writes a job's file with this entry under Forward State.
fn job(hook: &Hook, job: &str, entry: &str) -> PathBuf {
    let places = hook.places();
    let dir = places.ensure_job(job).expect("folder");
    let text =
        format!("---\njob: {job}\nversion: 0\n---\n# {job}\n\n## Forward State\n- {entry}\n");
    fs::write(dir.join("compaction.md"), text).expect("file");
    dir
}

fn record(hook: &Hook, job: &str) -> Value {
    let text = fs::read_to_string(hook.places().job(job).join("job.json")).expect("record");
    serde_json::from_str(&text).expect("JSON")
}

fn token(hook: &Hook) -> Value {
    let path = hook.places().token(hook.state()["token"].as_str().expect("a token"));
    serde_json::from_str(&fs::read_to_string(path).expect("token")).expect("JSON")
}

/// Clears the client: the same process, now in the session with this number.
fn cleared(hook: &mut Hook, number: u32) -> String {
    move_to(hook, number);
    let note = hook.start("clear").note();
    assert!(note.chars().count() < 10_000, "{}", note.len());
    note
}

fn move_to(hook: &mut Hook, number: u32) {
    hook.session = format!("5e550000-0000-4000-8000-{number:012}");
    hook.transcript = hook.transcript.with_file_name(format!("{}.jsonl", hook.session));
    let id = hook.session.clone();
    hook.set("CLAUDE_CODE_SESSION_ID", &id);
}

/// A clear would lose what it does after it came back.
#[test]
fn a_session_that_comes_back_wrote_none_of_its_successors_notes() {
    let mut hook = Hook::climbed(percent_in("narrow"));
    let (first, transcript) = (hook.session.clone(), hook.transcript.clone());
    hook.agent("brain-guard append --kind next 'the lexer' && brain-guard seal");
    assert!(cleared(&mut hook, 2).contains("the lexer"));
    hook.agent("brain-guard append --kind thread 'the parser' && brain-guard seal --no-clear");
    hook.set("CLAUDE_CODE_SESSION_ID", &first);
    (hook.session, hook.transcript) = (first, transcript);
    hook.start("resume");
    let sealed = hook.agent("brain-guard seal --clear");
    assert!(sealed.stdout.contains("no new notes were written in this session"), "{sealed:?}");
    let sealed = hook.agent("brain-guard append --kind next 'mine' && brain-guard seal --clear");
    assert!(sealed.stdout.contains("end your turn now"), "{sealed:?}");
}

#[test]
fn a_focused_jobs_file_is_delivered_as_it_is_at_the_clear() {
    let mut hook = Hook::begun();
    hook.prompt("back to the parser");
    let dir = job(&hook, "parser", "write the lexer next");
    hook.agent("brain-guard job focus parser");
    assert_eq!(hook.state()["job"], "parser");
    let pending = token(&hook);
    assert_eq!((&pending["delivery"], &pending["job"]), (&"reload".into(), &"parser".into()));
    let refused = hook.bash("ls").reason();
    assert!(refused.contains("the job parser gets a fresh session"), "{refused}");
    assert!(refused.contains("end your turn now"), "{refused}");
    hook.agent("brain-guard append --kind thread 'the lexer drops a token'");
    assert_eq!(token(&hook)["step"], "pending", "an append is no new seal");
    assert!(!dir.join("sealed").exists(), "and seals nothing");
    assert_eq!(hook.stop().code, Some(0));
    let first = hook.session.clone();
    let note = cleared(&mut hook, 2);
    let file = fs::read_to_string(dir.join("compaction.md")).expect("the file");
    let file = for_reader(&file);
    assert!(file.contains("the lexer drops a token") && note.contains(&file), "{note}");
    assert!(note.contains("switched to the job parser"), "{note}");
    assert!(note.contains("> back to the parser"), "the prompt that asked for it: {note}");
    assert!(note.contains("has just switched to the job parser"), "{note}");
    assert_eq!(hook.state()["job"], "parser");
    let link = &record(&hook, "parser")["lineage"][0];
    assert_eq!((&link["from"], &link["to"]), (&first.into(), &hook.session.clone().into()));
    assert_eq!(link["version"], Value::Null, "no sealed version crossed");
    assert!(hook.stop().silent());
    assert_eq!(hook.state()["token"], Value::Null, "acknowledged");
}

#[test]
fn a_new_job_starts_with_the_template_and_the_prompt() {
    let mut hook = Hook::begun();
    job(&hook, "parser", "write the lexer next");
    hook.agent("brain-guard job focus parser --no-clear");
    assert_eq!(hook.state()["token"], Value::Null, "no clear was asked for");
    hook.prompt("now the docs");
    let said = hook.agent("brain-guard job focus docs").stdout;
    assert!(said.contains("end your turn now; a fresh session starts"), "{said}");
    assert_eq!(token(&hook)["delivery"], "template");
    let note = cleared(&mut hook, 2);
    assert!(
        note.contains("The compaction file is new") && note.contains("> now the docs"),
        "{note}"
    );
    assert!(note.contains("# docs") && !note.contains("job: docs"), "no front matter: {note}");
}

#[test]
fn a_renamed_default_job_keeps_everything() {
    let hook = Hook::climbed(percent_in("narrow"));
    hook.agent("brain-guard append --kind next 'the parser fails on CRLF'");
    hook.agent("brain-guard seal");
    let old = hook.state()["job"].as_str().expect("job").to_owned();
    let places = hook.places();
    hook.prompt("call it the parser");
    let said = hook.agent("brain-guard job focus parser").stdout;
    assert!(said.contains("notes are the job parser's now"), "{said}");
    assert_eq!(hook.state()["job"], "parser");
    let token = token(&hook);
    assert_eq!((&token["job"], &token["step"]), (&"parser".into(), &"pending".into()));
    let sealed = jobs::sealed_path(&places, "parser", 1);
    assert_eq!(token["sealed"], sealed.display().to_string());
    assert!(sealed.exists() && places.job(&old).is_symlink());
    let prompts = fs::read_to_string(places.job("parser").join("prompts.jsonl")).expect("prompts");
    assert_eq!(prompts.matches("call it the parser").count(), 1, "{prompts}");
    assert_eq!(hook.stop().code, Some(0), "the seal holds under the new name");
    assert_eq!(self::token(&hook)["step"], "pending");
}

#[test]
fn a_pause_ends_a_pending_boundary() {
    let hook = Hook::climbed(percent_in("coach"));
    hook.agent("brain-guard append --kind next 'the parser fails on CRLF'");
    hook.agent("brain-guard seal");
    let (job, before) = (hook.state()["job"].clone(), token(&hook));
    assert_eq!(before["step"], "pending");
    let said = hook.agent("brain-guard job pause").stdout;
    assert!(said.contains("has no job now"), "{said}");
    assert_eq!(token(&hook)["why"], "the session switched to another job");
    assert_eq!(hook.bash("ls").verdict(), "pass");
    assert_eq!(hook.state()["lifted"], Value::Null, "nothing had to be lifted for it");
    let next = hook.state()["job"].as_str().expect("job").to_owned();
    assert_ne!(next, job);
    assert!(!hook.file().exists(), "nothing of it is made");
    assert_eq!(hook.opened().len(), 1);
}

#[test]
fn a_completed_job_hands_over_only_its_summary() {
    let mut hook = Hook::begun();
    hook.prompt("build the parser");
    hook.agent("brain-guard append --kind directive 'never log the token'");
    let job = hook.state()["job"].as_str().expect("job").to_owned();
    let said = hook.agent(
        "brain-guard seal --summary 'the parser works; CRLF was the hard part' && brain-guard job complete",
    );
    assert!(
        said.stdout.contains("end your turn now; a fresh session starts with only"),
        "{said:?}"
    );
    assert_eq!(token(&hook)["delivery"], "transition");
    let refused = hook.bash("ls").reason();
    assert!(refused.contains(&format!("the job {job} is complete")), "{refused}");
    let note = cleared(&mut hook, 2);
    assert!(note.contains("the parser works; CRLF was the hard part"), "{note}");
    assert!(note.contains("brain-guard job focus NAME"), "{note}");
    for gone in ["never log the token", "build the parser", "Forward State", "## "] {
        assert!(!note.contains(gone), "{gone}: {note}");
    }
    let next = hook.state()["job"].as_str().expect("job").to_owned();
    assert_ne!(next, job);
    assert!(!hook.file().exists(), "no template");
    assert_eq!(record(&hook, &job)["lineage"][0]["version"], 1);
}

#[test]
fn the_last_verb_of_a_command_wins() {
    let hook = Hook::begun();
    for name in ["one", "two"] {
        job(&hook, name, "an entry");
    }
    hook.agent("brain-guard job focus one && brain-guard job focus two");
    assert_eq!(token(&hook)["job"], "two");
    assert_eq!(hook.opened().len(), 2);
    hook.agent("brain-guard job pause");
    assert_eq!(token(&hook)["step"], "withdrawn");
}

#[test]
fn without_a_clear_the_agent_is_told_why() {
    let mut hook = Hook::begun();
    hook.set("BRAIN_GUARD_MOD", "");
    job(&hook, "parser", "write the lexer next");
    let said = hook.agent("brain-guard job focus parser").stdout;
    assert!(said.contains("no fresh session: no carrier can clear this session now"), "{said}");
    assert_eq!(hook.state()["job"], "parser", "the session works on it all the same");
    assert_eq!(hook.journal("no-boundary").len(), 1);
}

#[test]
fn the_state_records_whether_a_person_began_the_turn() {
    let hook = Hook::begun();
    let asked = || hook.state()["asked"].clone();
    hook.prompt("do the thing");
    assert_eq!(asked(), true);
    hook.stop();
    hook.prompt("<task-notification>\n<task-id>x");
    assert_eq!(asked(), false);
    hook.stop();
    hook.prompt("/brain-guard:job focus parser");
    assert_eq!(asked(), true, "typed by a person");
    hook.prompt("<task-notification>\n<task-id>y");
    assert_eq!(asked(), true, "what comes into a person's turn leaves it theirs");
    let kept = hook.file().with_file_name("prompts.jsonl");
    let kept = fs::read_to_string(kept).expect("prompts");
    assert!(kept.contains("do the thing") && !kept.contains("focus parser"), "{kept}");
}

/// The session's job, with an open phase that was entered with coaching.
fn in_a_phase(hook: &Hook) -> PathBuf {
    let name = hook.state()["job"].as_str().expect("job").to_owned();
    let dir = job(hook, &name, "write the lexer next");
    let record = json!({"created": "2026-01-01T00:00:00Z", "phase": {"name": "review", "coach": "look for what nobody tested"}});
    fs::write(dir.join("job.json"), record.to_string()).expect("record");
    dir
}

#[test]
fn a_session_that_resumes_in_a_phase_gets_its_coaching_again() {
    let mut hook = Hook::begun();
    in_a_phase(&hook);
    let told = |note: &str| {
        (note.matches("phase review").count(), note.matches("look for what nobody tested").count())
    };
    assert_eq!(told(&hook.start("compact").note()), (1, 1), "after the client's compaction");
    assert_eq!(told(&hook.start("resume").note()), (1, 0), "a session that goes on heard it");
    hook.agent("brain-guard append --kind thread 'the lexer drops a token'");
    hook.agent("brain-guard seal --clear");
    assert_eq!(told(&cleared(&mut hook, 2)), (1, 1), "after our clear");
    hook.stop();
    let note = cleared(&mut hook, 3);
    assert!(note.contains("your user cleared the conversation"), "{note}");
    assert_eq!(told(&note), (1, 1), "and after the user's");
    let job = hook.state()["job"].as_str().expect("job").to_owned();
    let links: Vec<Value> = record(&hook, &job)["lineage"]
        .as_array()
        .expect("links")
        .iter()
        .map(|l| l["version"].clone())
        .collect();
    assert_eq!(links, [json!(1), Value::Null]);
}

#[test]
fn a_phase_remembers_that_it_was_coached() {
    let hook = Hook::begun();
    let dir = in_a_phase(&hook);
    hook.fill(percent_in("coach"));
    assert!(!hook.batch().note().is_empty());
    let record = fs::read_to_string(dir.join("job.json")).expect("record");
    assert!(record.contains("\"coached\": true"), "{record}");
}

#[test]
fn typed_extraction_takes_options_only() {
    let hook = Hook::begun();
    for (args, fault) in [
        ("Yes", "unexpected argument 'Yes'"),
        ("--json", "unexpected argument '--json'"),
        ("--keep-recent x", "invalid value 'x' for '--keep-recent <N>'"),
    ] {
        let expansion =
            json!({"command_name": "brain-guard:extract", "command_args": args, "prompt": "x"});
        let answer = hook.send(&hook.payload("UserPromptExpansion", &expansion)).json();
        let reason = answer["reason"].as_str().unwrap_or_else(|| panic!("{args}: {answer}"));
        assert!(reason.contains(fault) && reason.contains("options of brain-guard extract run"));
        assert_eq!(reason.lines().count(), 1, "{reason}");
    }
}

#[test]
fn listing_jobs_begins_no_turn() {
    let hook = Hook::begun();
    job(&hook, "parser", "write the lexer next");
    let typed = |args: &str| {
        let prompt = format!("/brain-guard:job {args}");
        let submitted = hook.prompt(prompt.trim());
        assert!(submitted.silent(), "{submitted:?}");
        let expansion =
            json!({"command_name": "brain-guard:job", "command_args": args, "prompt": prompt});
        hook.send(&hook.payload("UserPromptExpansion", &expansion)).json()
    };
    for (args, shown) in [
        ("", "parser"),
        ("list", "held by nobody"),
        ("show parser", "state"),
        ("show nope", "there is no such job; there are: parser"),
    ] {
        let answer = typed(args);
        assert_eq!(answer["decision"], "block", "{args}: {answer}");
        assert!(answer["reason"].as_str().is_some_and(|r| r.contains(shown)), "{args}: {answer}");
        assert_eq!(hook.state()["turn"], Value::Null, "{args} begins no turn");
    }
    assert_eq!(typed("focus parser"), Value::Null, "goes to the agent");
    assert_ne!(hook.state()["turn"], Value::Null);
}

/// The client does not stop loops of clears; a new job name does not allow one either.
#[test]
fn a_second_new_job_right_after_the_first_waits_for_its_clear() {
    let mut hook = Hook::begun();
    hook.agent("brain-guard job focus one");
    cleared(&mut hook, 2);
    hook.stop();
    hook.agent("brain-guard job focus two");
    assert!(token(&hook)["not_before"].is_string(), "{}", token(&hook));
    assert_eq!(hook.state()["job"], "two");
}

/// Each piece is cut by its own process, beside bearings that may be long.
#[test]
fn a_long_file_arrives_whole_with_a_long_coaching() {
    let mut hook = Hook::begun();
    hook.prompt(&"x".repeat(3_000));
    let entries: Vec<String> = (0..280).map(|n| format!("entry {n} of a long file, é")).collect();
    let dir = job(&hook, "parser", &entries.join("\n- "));
    let coach = "look again. ".repeat(400);
    let record = json!({"phase": {"name": "review", "coach": coach}});
    fs::write(dir.join("job.json"), record.to_string()).expect("record");
    hook.agent("brain-guard job focus parser");
    let id = token(&hook)["id"].as_str().expect("id").to_owned();
    hook.agent("brain-guard append --kind thread 'one more'");
    let mut notes = vec![cleared(&mut hook, 2)];
    let start = hook.payload("SessionStart", &json!({"source": "clear"})).to_string();
    for number in ["2", "3"] {
        notes.push(hook.raw(&["hook", "--piece", number], start.as_bytes()).note());
    }
    assert!(notes.iter().all(|note| note.chars().count() < 10_000), "{notes:?}");
    assert!(notes[0].contains("look again. look again.") && notes[0].contains("Continue with"));
    let rows: Vec<String> = notes.iter().map(|note| json!({ "text": note }).to_string()).collect();
    let file = fs::read_to_string(dir.join("compaction.md")).expect("file");
    let file = for_reader(&file);
    assert!(file.contains("one more") && file.chars().count() > 7_500);
    let arrival = guard::boundary::arrival::judge(rows.join("\n").as_bytes(), &id, &file);
    assert_eq!(arrival, guard::boundary::arrival::Arrival::Whole);
}

/// A prompt delays the clear; the session still works on the other job.
#[test]
fn a_prompt_before_the_clear_gets_the_focused_files_path() {
    let hook = Hook::begun();
    hook.prompt("back to the parser");
    let file = job(&hook, "parser", "write the lexer next").join("compaction.md");
    hook.agent("brain-guard job focus parser");
    assert_eq!(hook.stop().code, Some(0));
    let note = hook.prompt("wait, one question").note();
    assert!(note.contains("its user spoke first"), "{note}");
    assert!(note.contains(&file.display().to_string()), "{note}");
    assert_eq!(hook.prompt("and another one").note(), "", "said once");
}
