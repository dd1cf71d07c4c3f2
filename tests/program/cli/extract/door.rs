//! `extract decide` and `extract keep`, and sessions that pi edits by rows of its own.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use super::world::{ID, Talk, World, long, plain};

/// The session with pi's edits for what was decided.
fn edited(world: &World, decision: &Value) -> String {
    let entries = decision["entries"].as_array().expect("entries");
    let text = world.text();
    let mut ids = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut parent = ids.next_back().expect("a row")["id"].clone();
    let rows = entries.iter().enumerate().map(|(n, lean)| {
        let id = Value::from(format!("ee{n:06}"));
        let row = json!({
            "type": "context_edit", "id": id, "parentId": std::mem::replace(&mut parent, id.clone()),
            "timestamp": "2026-02-20T11:00:00.000Z", "targetId": lean["entry_id"],
            "replacement": { "content": lean["content"] },
        });
        format!("{row}\n")
    });
    text.clone() + &rows.collect::<String>()
}

#[test]
fn a_plugin_masks_what_was_decided_and_the_session_reads_so() {
    let world = World::of(&plain().text());
    world.hook.settings(&json!({ "extract": { "min_saving": 0 } }));
    let before = world.text();
    let decision = world.json(&["decide", ID]);
    let lean = &decision["entries"][0];
    let text = lean["content"][0]["text"].as_str().expect("text");
    assert!(text.starts_with("[[extracted-aa000003]] 4.0 KB of exec #68aab70f: «found"), "{text}");
    assert_eq!((&decision["acts"], &decision["values"]), (&true.into(), &1.into()), "{decision}");
    assert_eq!((world.text(), world.kept().len()), (before.clone(), 0), "it only decides");
    assert_eq!(world.json(&["keep", ID]), decision);
    assert_eq!(world.text(), before, "pi writes its sessions itself");
    assert_ne!(world.kept().len(), 0);
    world.write(&edited(&world, &decision));
    let text = world.text();
    assert!(world.done(&["context", ID]).contains("aa000003 of exec"));
    assert_eq!(world.json(&["decide", ID])["values"], 0);
    let told = world.done(&["plan", ID]);
    // The copy that pi shows is sent to nobody.
    assert!(told.contains("1 extracted already") && told.contains("0 B of that is in"), "{told}");
    let back = world.done(&["restore", ID, "aa000003", "--key", "text"]);
    assert_eq!(back.trim_end(), long("found", 4_000).trim_end());
    let refused = world.refused(&["restore", ID, "all", "--in-place"]);
    assert!(refused.contains("pi masks what the model gets"), "{refused}");
    assert_eq!(world.text(), text);
}

#[test]
fn each_branch_has_its_own_placeholders() {
    let world = World::of(&plain().text());
    world.hook.settings(&json!({ "extract": { "min_saving": 0 } }));
    let decision = world.json(&["keep", ID]);
    // After the edit, the user goes back to before it, and on from there.
    let other = json!({
        "type": "message", "id": "ff000001", "parentId": "aa000008",
        "timestamp": "2026-02-20T12:00:00.000Z", "message": { "role": "user", "content": "else" },
    });
    world.write(&format!("{}{other}\n", edited(&world, &decision)));
    assert_eq!(world.json(&["decide", ID])["values"], 1, "on this branch it is not masked");
    assert!(world.done(&["context", ID]).contains("nothing of it is extracted"));
    // The other branch still needs the content.
    let packs = || {
        world
            .kept()
            .into_iter()
            .filter(|(file, _)| file.extension().is_some_and(|end| end == "pack"))
            .count()
    };
    assert_eq!(packs(), 1);
    let done = world.hook.raw(&["extract", "gc", "--forget", "--yes"], b"");
    assert_eq!((done.code, packs()), (Some(0), 1), "{done:?}");
    // A row of the other branch only does not go either.
    let rows = world.text().replacen(
        "\"parentId\":\"aa000008\",\"timestamp\":\"2026-02-20T12",
        "\"parentId\":\"aa000001\",\"timestamp\":\"2026-02-20T12",
        1,
    );
    world.write(&rows);
    assert_eq!(world.json(&["decide", ID])["values"], 0);
}

#[test]
fn nothing_goes_where_the_model_would_refuse_its_thinking() {
    let thinking = json!([
        { "type": "thinking", "thinking": "Hm", "thinkingSignature": "c2lnbmVk" },
        { "type": "text", "text": "so" },
    ]);
    let of = |model: &str| {
        let talk = plain().assistant(thinking.clone()).user("on").answer("and");
        let text =
            talk.text().replace("\"provider\":\"anthropic\"", &format!("\"model\":\"{model}\""));
        let world = World::of(&text);
        world.hook.settings(&json!({ "extract": { "min_saving": 0 } }));
        [&["keep", ID][..], &["keep", ID, "--drops-thinking"]].map(|verb| world.json(verb))
    };
    assert_eq!(of("claude-opus-4-8")[0]["acts"], true);
    let [refused, dropped] = of("claude-opus-5-5");
    assert_eq!((&refused["acts"], &dropped["acts"]), (&false.into(), &true.into()));
    assert!(refused["refused"].as_str().expect("why").contains("thinking"), "{refused}");
}

#[test]
fn in_pis_shell_this_is_its_session() {
    let mut world = World::of(&plain().text());
    let file = world.file().to_str().expect("utf-8").to_owned();
    for name in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"] {
        world.hook.set(name, "");
    }
    world.hook.set("PI_SESSION_FILE", &file);
    assert_eq!(world.json(&["decide", "this"])["session"], ID);
    assert_eq!(world.json(&["decide"])["session"], ID);
}

/// 36 parallel calls, 20 MB in one value, every kind of character, and rows that are left alone.
fn heavy() -> Talk {
    let calls: Vec<Value> = (0..36)
        .map(|n| json!({ "type": "toolCall", "id": format!("p{n}"), "name": "exec", "arguments": {} }))
        .collect();
    let mut talk = Talk::new().user("look").assistant(calls.into());
    for n in 0..36 {
        let text = format!("{n}: \"\\\u{0}\u{7f}\u{2028}🦀\n").repeat(200);
        talk = talk.message(json!({
            "role": "toolResult", "toolCallId": format!("p{n}"), "toolName": "exec",
            "content": [{ "type": "text", "text": text }], "isError": false,
        }));
    }
    let talk = talk.exec(&long("huge", 20_000_000)).exec(&long("twice", 3_000)).answer("seen");
    talk.user("and now?").answer("this").user("so?").answer("that")
}

/// What the model got of each entry.
fn contents(world: &World) -> BTreeMap<String, Value> {
    let rows = world.text();
    let rows = rows.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let id =
        |row: &Value| Some((row["id"].as_str()?.to_owned(), row["message"]["content"].clone()));
    rows.filter_map(|row| id(&row)).collect()
}

/// That each entry comes back as it was, if a plugin carries this out.
fn all_come_back(world: &World, decision: &Value, contents: &BTreeMap<String, Value>) {
    let before = world.text();
    world.write(&edited(world, decision));
    for lean in decision["entries"].as_array().expect("entries") {
        let id = lean["entry_id"].as_str().expect("an id");
        let told = world.json(&["restore", ID, id]);
        let text = &told["texts"]["message.content.0.text"];
        assert!(*text == contents[id][0]["text"], "{id}");
    }
    world.write(&before);
}

#[test]
fn nothing_that_is_masked_is_lost() {
    let text = heavy().text();
    let twice = text.lines().find(|line| line.contains("twice")).expect("a row").to_owned();
    let odd = text.replace(&twice, &format!("{twice}\n{{ not JSON\n{twice}"));
    let world = World::of(&odd);
    let contents = contents(&world);
    let decision = world.json(&["keep", ID]);
    let ids: Vec<&Value> = decision["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|lean| &lean["entry_id"])
        .collect();
    assert_eq!(ids.len(), 37, "not the row that is twice: {ids:?}");
    all_come_back(&world, &decision, &contents);
    world.write(&edited(&world, &decision));
    let all = world.run(&["restore", ID, "all"]);
    assert!(all.stdout.len() > 20_000_000, "{}", all.stderr);
}

#[test]
fn a_store_that_is_full_masks_nothing() {
    let world = World::of(&heavy().text());
    let before = world.text();
    let program = crate::support::hook::PROGRAM;
    // The largest file it may write, in blocks of 512 or 1024 bytes.
    let script = format!("trap '' XFSZ; ulimit -f 100; exec {program} extract keep {ID}");
    let mut command = world.hook.command(&[]);
    let variables: Vec<_> =
        command.get_envs().map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned))).collect();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).env_clear();
    for (name, value) in variables {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    command = shell;
    let output = command.current_dir(&world.hook.home).output().expect("sh");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "nothing that a plugin would carry out");
    assert_eq!(world.text(), before);
    let decision = world.json(&["keep", ID]);
    all_come_back(&world, &decision, &contents(&world));
}

#[test]
fn a_kill_at_any_time_loses_nothing() {
    let world = World::of(&heavy().text());
    let (before, contents) = (world.text(), contents(&world));
    let began = Instant::now();
    world.json(&["keep", ID]);
    let (whole, mut done) = (began.elapsed(), 0);
    for part in 0..24 {
        let _ = fs::remove_dir_all(world.hook.home.join(".local/share/brain-guard/extracted"));
        let mut keep = world.hook.command(&["extract", "keep", ID]);
        let mut keep = keep.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        keep = keep.current_dir(&world.hook.home);
        let mut keep = keep.spawn().expect("it starts");
        // The last one comes to its end.
        if part < 23 {
            std::thread::sleep(whole * part / 12);
            let _ = keep.kill();
        }
        let output = keep.wait_with_output().expect("its output");
        assert!(world.text() == before, "the session");
        // What a plugin carries out, it can take back.
        if let Ok(decision) = serde_json::from_slice::<Value>(&output.stdout) {
            done += 1;
            all_come_back(&world, &decision, &contents);
        }
    }
    let decision = world.json(&["keep", ID]);
    all_come_back(&world, &decision, &contents);
    assert!((1..24).contains(&done), "{done} of 24 came to their end");
}
