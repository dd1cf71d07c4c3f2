//! The tools of `mcp` over pipes, with a handwritten client: the protocol, the tools' answers, and
//! that no input ends the server.

mod module;
mod purge;
mod server;

use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};

use self::server::{DEADLINE, Server, said};
use crate::support::hook::Hook;

const SESSION: &str = "5e550000-0000-4000-8000-000000000001";

#[test]
fn the_server_lists_its_tools_with_arguments() {
    let hook = Hook::of(SESSION);
    let mut server = Server::silent(&hook);
    let hello = server.hello();
    let result = &hello["result"];
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert!(result["capabilities"]["tools"].is_object(), "{hello}");
    server.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let list = server.ask("tools/list", &json!({}));
    let tools = list["result"]["tools"].as_array().expect("tools").clone();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["purge_control", "inject", "search", "sessions", "rounds"]);
    for tool in &tools {
        let schema = &tool["inputSchema"];
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false))
        );
        for needed in schema["required"].as_array().expect("a list") {
            assert!(schema["properties"][needed.as_str().expect("a name")].is_object(), "{tool}");
        }
    }
    let reads = |n: usize| tools[n]["annotations"]["readOnlyHint"] == true;
    assert_eq!([0, 1, 2, 3, 4].map(reads), [false, true, true, true, true]);
    // This text is in the context of every session that is offered the tools.
    assert!(list["result"].to_string().len() < 3_600, "{}", list["result"].to_string().len());
    assert!(server.ask("ping", &json!({}))["result"].is_object());
    let answer = server.close();
    assert!(answer.silent(), "{answer:?}");
}

/// The schemas are in the model's context, where our Rust names mean nothing.
#[test]
fn no_rust_type_is_named_in_the_tools() {
    let hook = Hook::of(SESSION);
    let list = Server::ready(&hook).ask("tools/list", &json!({}));
    for tool in list["result"]["tools"].as_array().expect("tools") {
        let text = format!("{} {}", tool["description"], tool["inputSchema"]);
        assert!(!text.contains("::"), "{text}");
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            let upper = |c: char| c.is_ascii_uppercase();
            let is_type = word.starts_with(upper)
                && word.contains(|c: char| c.is_ascii_lowercase())
                && word[1..].contains(upper);
            assert!(!is_type, "{word}: {text}");
        }
    }
}

#[test]
fn the_server_ends_with_stdin() {
    let hook = Hook::of(SESSION);
    let answer = Server::silent(&hook).close();
    assert!(answer.silent(), "before a word: {answer:?}");
    let mut half = Server::silent(&hook);
    half.stdin.as_mut().expect("open").write_all(b"{\"jsonrpc\":").expect("written");
    let answer = half.close();
    assert!(answer.silent(), "within a word: {answer:?}");
    // Earlier requests are still answered.
    let mut server = Server::ready(&hook);
    let id = server.begin("tools/list", &json!({}));
    let stdout = server.close().stdout;
    let answer: Value = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}: {stdout}"));
    assert_eq!(answer["id"], id, "{stdout}");
}

#[test]
fn invalid_messages_do_not_end_the_server() {
    let hook = Hook::of(SESSION);
    let mut server = Server::silent(&hook);
    for line in [
        &b""[..],
        b"hello",
        b"{",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}",
    ] {
        server.raw(line);
    }
    server.raw(&vec![b'x'; 17 * 1024 * 1024]);
    // Errors about unreadable input have no id.
    let id = server.begin(
        "initialize",
        &json!({ "protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } }),
    );
    let hello = loop {
        let answer = server.next(DEADLINE);
        if answer["id"] == id {
            break answer;
        }
        assert!(answer["id"].is_null() && answer["error"].is_object(), "{answer}");
    };
    assert!(hello["result"]["protocolVersion"].is_string(), "{hello}");
    let refused = |answer: Value| answer["error"]["code"].as_i64().expect("a code");
    assert_eq!(refused(server.ask("no/such", &json!({}))), -32601);
    let unknown = server.ask("tools/call", &json!({ "name": "purge", "arguments": {} }));
    let why = unknown["error"]["message"].as_str().expect("a message").to_owned();
    assert!(why.contains("purge_control, inject, search, sessions, rounds"), "{why}");
    assert_eq!(refused(unknown), -32602);
    assert!(server.ask("tools/call", &json!({ "arguments": {} }))["error"].is_object());
    assert!(
        server.ask("tools/call", &json!({ "name": "inject", "arguments": [] }))["error"]
            .is_object()
    );
    assert_eq!(
        server.ask("tools/list", &json!({}))["result"]["tools"].as_array().map(Vec::len),
        Some(5)
    );
    assert!(server.close().code == Some(0));
}

#[test]
fn invalid_arguments_are_refused_with_the_way_out() {
    let hook = Hook::of(SESSION);
    let mut server = Server::ready(&hook);
    for (tool, arguments, word) in [
        ("purge_control", json!({}), "missing field `action`"),
        (
            "purge_control",
            json!({ "action": "purge" }),
            "`get_context`, `restore`, `set_extractable`",
        ),
        (
            "purge_control",
            json!({ "action": "get_context", "sesion": "x" }),
            "unknown field `sesion`",
        ),
        ("purge_control", json!({ "action": "restore" }), "entry_id is missing"),
        ("purge_control", json!({ "action": "restore", "entry_id": "all" }), "one at a time"),
        ("purge_control", json!({ "action": "restore", "entry_id": 7 }), "invalid type"),
        ("purge_control", json!({ "action": "set_extractable", "entry_id": "a" }), "it takes true"),
        (
            "purge_control",
            json!({ "action": "set_extractable", "entry_id": "a", "value": "x" }),
            "it takes true",
        ),
        ("purge_control", json!({ "action": "get_context", "session": "no-such" }), "no-such"),
        ("inject", json!({}), "missing field `ref`"),
        ("inject", json!({ "ref": "x" }), "is not a round"),
        ("inject", json!({ "ref": "no-such:1" }), "no-such"),
        ("inject", json!({ "ref": "1", "thinking": "some" }), "unknown variant `some`"),
        ("search", json!({ "query": "" }), "no word"),
        ("search", json!({ "query": "x", "limit": 0 }), "1 to 100"),
        ("search", json!({ "query": "x", "since": "soon" }), "soon"),
        ("sessions", json!({ "limit": 201 }), "limit is 201; it takes 1 to 200"),
        ("sessions", json!({ "project": "x" }), "unknown field `project`"),
        ("rounds", json!({ "last": 0 }), "last is 0; it takes 1 to 200"),
        ("rounds", json!({ "session": "no-such" }), "no-such"),
    ] {
        let why = server.refused(tool, &arguments);
        assert!(why.contains(word), "{tool} {arguments}: {why}");
        assert!(why.starts_with(tool), "{why}");
    }
    assert_eq!(server.close().code, Some(0));
}

#[test]
fn outside_a_session_the_tools_need_a_session_argument() {
    let hook = crate::cli::verbs::outside(SESSION);
    let mut server = Server::ready(&hook);
    let why = server.refused("purge_control", &json!({ "action": "get_context" }));
    assert!(why.contains("give `session`"), "{why}");
    let why = server.refused("inject", &json!({ "ref": 3 }));
    assert!(why.contains("it runs in none"), "{why}");
}

/// A Claude Code session with two rounds, imported.
fn imported(hook: &Hook) {
    let mut text = String::new();
    let mut parent = Value::Null;
    for (n, (user, agent)) in
        [("design the console", "Green on black."), ("write the block store", "It is append-only.")]
            .into_iter()
            .enumerate()
    {
        let assistant = json!({
            "id": format!("msg_{n}"), "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": [{ "type": "text", "text": agent }], "stop_reason": "end_turn",
            "usage": { "input_tokens": 100 * (n + 1), "output_tokens": 20 },
        });
        for (kind, message) in
            [("user", json!({ "role": "user", "content": user })), ("assistant", assistant)]
        {
            let id = format!("{}-{kind}{n}", &SESSION[..8]);
            let row = json!({
                "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": hook.project,
                "sessionId": SESSION, "version": "2.1.329", "type": kind, "message": message, "uuid": id,
                "timestamp": format!("2026-03-19T10:{n:02}:00.000Z"),
            });
            parent = json!(id);
            text.extend([row.to_string().as_str(), "\n"]);
        }
    }
    fs::write(&hook.transcript, text).expect("transcript");
    let answer = hook.raw(&["import", hook.transcript.to_str().expect("utf-8")], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

#[test]
fn rounds_are_found_and_printed() {
    let hook = Hook::of(SESSION);
    imported(&hook);
    let mut server = Server::ready(&hook);
    let found = server.done("search", &json!({ "query": "console" })).concat();
    assert!(found.starts_with("5e550000:001 ") && found.contains("[console]"), "{found}");
    let none = server.done("search", &json!({ "query": "nobody-said-this" })).concat();
    assert!(none.contains("no round holds"), "{none}");
    let narrowed = json!({ "query": "the", "session": "this", "limit": 1, "since": null });
    assert_eq!(server.done("search", &narrowed).concat().lines().count(), 2);

    let page = server.done("inject", &json!({ "ref": "5e550000:2" })).concat();
    assert!(
        page.contains("write the block store") && page.contains("It is append-only."),
        "{page}"
    );
    assert_eq!(page, server.done("inject", &json!({ "ref": 2 })).concat(), "of this session");
    let printed = hook.raw(&["show", "2"], b"").stdout;
    assert_eq!(page.trim_end(), printed.trim_end(), "as the verb prints it");
    let why = server.refused("inject", &json!({ "ref": "5e550000:9" }));
    assert!(why.contains("it has rounds 1-2"), "{why}");
    assert!(server.close().silent());
}

#[test]
fn sessions_and_rounds_are_listed_as_the_verbs_list_them() {
    let hook = Hook::of(SESSION);
    imported(&hook);
    let mut server = Server::ready(&hook);
    let sessions = server.done("sessions", &json!({})).concat();
    assert!(sessions.lines().nth(1).is_some_and(|l| l.starts_with("5e550000  ")), "{sessions}");
    assert_eq!(sessions.trim_end(), hook.raw(&["sessions"], b"").stdout.trim_end());
    let rounds = server.done("rounds", &json!({})).concat();
    assert!(
        rounds.starts_with("001  2026-03-19T10:00Z  ") && rounds.contains("\n002  "),
        "{rounds}"
    );
    assert_eq!(rounds.trim_end(), hook.raw(&["rounds"], b"").stdout.trim_end());
    let last = server.done("rounds", &json!({ "session": "5e55", "last": 1 })).concat();
    assert!(last.starts_with("002  ") && last.contains("the last 1 of 2 rounds"), "{last}");
    assert!(server.close().silent());
}

#[test]
fn two_requests_at_once_are_both_answered() {
    let hook = Hook::of(SESSION);
    imported(&hook);
    let mut server = Server::ready(&hook);
    let asked: Vec<(u64, u32)> = (0..20)
        .map(|n| {
            let round = n % 2 + 1;
            let call = json!({ "name": "inject", "arguments": { "ref": round } });
            (server.begin("tools/call", &call), round)
        })
        .collect();
    for (id, round) in asked.into_iter().rev() {
        let (texts, is_error) = said(&server.end(id));
        let expected = format!("# Round 5e550000:00{round}");
        assert!(!is_error && texts[0].starts_with(&expected), "{texts:?}");
    }
    assert!(server.close().silent());
}

/// The client moves to another session in the same process, and its server follows.
#[test]
fn the_session_is_the_one_the_client_is_in_now() {
    let hook = Hook::begun();
    imported(&hook);
    let mut server = Server::ready(&hook);
    assert!(server.done("inject", &json!({ "ref": 1 })).concat().contains("design the console"));
    let next = hook.beside("7c41b2aa-0000-4000-8000-000000000002", std::process::id());
    next.start("clear");
    let why = server.refused("inject", &json!({ "ref": 1 }));
    assert!(why.contains("7c41b2aa"), "{why}");
}
