use super::*;
use sessions::dialect::{Claude, Pi};
use testing::at;

const ROWS: [&str; 7] = [
    r#"{"type":"user","uuid":"u1","timestamp":"2026-03-19T10:23:00.000Z","message":{"role":"user","content":"Look:\n```\nunclosed"}}"#,
    r#"{"type":"attachment","uuid":"a0","attachment":{"type":"date"}}"#,
    r#"{"type":"assistant","uuid":"a1","timestamp":"2026-03-19T10:23:01.000Z","message":{"id":"m","role":"assistant","content":[{"type":"thinking","thinking":"Hm, `x`","signature":"s=="}]}}"#,
    r#"{"type":"assistant","uuid":"a2","timestamp":"2026-03-19T10:23:01.000Z","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls","description":"List"}}]}}"#,
    r#"{"type":"user","uuid":"r1","timestamp":"2026-03-19T10:23:01.034Z","toolUseResult":{"stdout":"x"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"total 48\n````\nfence\n"}]}}"#,
    r#"{"type":"attachment","uuid":"q","attachment":{"type":"queued_command","prompt":"Also this"}}"#,
    r#"{"type":"assistant","uuid":"a3","timestamp":"2026-03-19T10:23:02.000Z","message":{"id":"n","role":"assistant","content":[{"type":"text","text":"Done."}]}}"#,
];

fn shown(fidelity: Fidelity) -> String {
    let session =
        Session { id: "3f0a9d1e-77b0".into(), agent: "claude".into(), ..Session::default() };
    let round = Round {
        seq: 47,
        started: Some(at("2026-03-19T10:23Z")),
        ended: Some(at("2026-03-19T10:24Z")),
        user: true,
        assistant: true,
        tokens: 12,
        rows: 7,
        engagement: Some("console-work".into()),
        ..Round::default()
    };
    let rows: Vec<&[u8]> = ROWS.iter().map(|row| row.as_bytes()).collect();
    text(&session, &round, &rows, &Claude, fidelity)
}

#[test]
fn a_round_in_full() {
    let expected = "# Round 3f0a9d1e:047

- session: 3f0a9d1e-77b0 (claude)
- time: 2026-03-19T10:23Z to 2026-03-19T10:24Z
- roles: user→assistant
- engagement: console-work
- size: 12 tokens (estimated), 7 rows

## User

Look:
```
unclosed
```

## Assistant

### Thinking

```text
Hm, `x`
```

### Tool call: Bash·List

```json
{
  \"command\": \"ls\",
  \"description\": \"List\"
}
```

### Tool result: Bash·List

`````text
total 48
````
fence
`````

## User, while the agent was at work

Also this

## Assistant

Done.

(1 row of the client's own not shown)
";
    assert_eq!(shown(Fidelity::default()), expected);
}

#[test]
fn a_round_in_short_says_how_to_get_the_rest() {
    let much = |much| Fidelity {
        thinking: much,
        tool_use: much,
        tool_result: much,
        ..Fidelity::default()
    };
    let short = shown(much(Level::Summary));
    for line in [
        "[thinking · 7 chars — inject(3f0a9d1e:047, thinking)]",
        "[tool_use: Bash·List — brain-guard show 3f0a9d1e:047 --tool-use full]",
        "[tool_result: 5 tokens, 34 ms, total 48 — brain-guard show 3f0a9d1e:047 --tool-result full]",
        "Look:",
        "Done.",
    ] {
        assert!(short.lines().any(|l| l == line), "{line}\n{short}");
    }
    let omitted = shown(much(Level::Omit));
    assert!(!omitted.contains("Hm") && !omitted.contains("Bash") && !omitted.contains("total"));
    assert!(
        omitted.contains("unclosed") && omitted.contains("Also this") && omitted.contains("Done.")
    );
    // One kind alone in full, as for `inject(R, thinking)`.
    let thinking = shown(Fidelity { thinking: Level::Full, ..much(Level::Omit) });
    assert!(thinking.contains("Hm, `x`") && !thinking.contains("Bash"));
}

#[test]
fn fences_are_closed_as_they_were_opened() {
    assert_eq!(closed("a ``` b"), "a ``` b");
    assert_eq!(closed("~~~~ rust\n~~~\n"), "~~~~ rust\n~~~\n\n~~~~");
    assert_eq!(closed("```\nx\n```"), "```\nx\n```");
    assert_eq!(closed("    ```\nindented"), "    ```\nindented");
    assert_eq!(fence("no"), "```");
}

#[test]
fn a_round_of_pi_reads_the_same_way() {
    let session = Session { id: "pi".into(), agent: "pi".into(), ..Session::default() };
    let rows = [
        r#"{"type":"message","id":"u1","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"Ask"}]}}"#,
        r#"{"type":"message","id":"a1","parentId":"u1","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","thinkingSignature":"s"},{"type":"toolCall","id":"t1","name":"exec","arguments":{"command":"ls"}}]}}"#,
        r#"{"type":"message","id":"r1","parentId":"a1","message":{"role":"toolResult","toolCallId":"t1","toolName":"exec","content":[{"type":"text","text":"no such file"},{"type":"image","data":"x","mimeType":"image/png"}],"isError":true}}"#,
    ];
    let rows: Vec<&[u8]> = rows.iter().map(|row| row.as_bytes()).collect();
    let page = text(&session, &Round::default(), &rows, &Pi, Fidelity::default());
    let body = page.split_once("## User").unwrap().1;
    let expected = "

Ask

## Assistant

### Thinking

```text
Hm
```

### Tool call: exec·ls

```json
{
  \"command\": \"ls\"
}
```

### Tool result (error): exec·ls

```text
no such file
```

[1 image beside the text]
";
    assert_eq!(body, expected);
}
