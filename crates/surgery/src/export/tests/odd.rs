//! Odd sessions: broken rows, calls without an answer, names that lead elsewhere.

use super::*;

#[test]
fn a_row_that_is_broken_deep_inside_is_left_out_as_other_broken_ones() {
    let mut client = Client::new(OLD);
    client.prompt("go");
    client.row("attachment", r#""attachment":{"type":"date","date":"a \q escape"}"#);
    client.agent("msg_1", r#"{"type":"text","text":"done"}"#);
    let source = Source::new(OLD, &client.text);
    let (text, report) = export(&[&source], &plan(&[&source], whole(0, &[1]))).unwrap();
    assert!(text.contains("done") && !text.contains("escape"));
    assert_eq!(report.broken, [(Place { session: 0, seq: 1 }, 1)]);
}

#[test]
fn what_nothing_answers_is_left_out_and_said() {
    let mut client = Client::new(OLD);
    client.prompt("go");
    client.agent("msg_1", &thinking(1));
    let call = client.call("msg_1", "toolu_1");
    client.call("msg_1", "toolu_open");
    client.result(&call, "toolu_1");
    client.result(&call, "toolu_nobody");
    client.agent("msg_2", &thinking(2));
    client.call("msg_2", "toolu_last");
    let source = Source::new(OLD, &client.text);
    let (text, report) = export(&[&source], &plan(&[&source], whole(0, &[1]))).unwrap();
    for gone in ["toolu_open", "toolu_nobody", "toolu_last", "thought 2", "msg_2"] {
        assert!(!text.contains(gone), "{gone}");
    }
    assert!(text.contains("thought 1") && text.contains("gave toolu_1"));
    assert_eq!(report.notes.len(), 3, "{:?}", report.notes);
}

#[test]
fn rows_of_a_message_stand_together_though_a_result_came_between() {
    let mut client = Client::new(OLD);
    client.prompt("go");
    let first = client.call("msg_1", "toolu_1");
    client.result(&first, "toolu_1");
    let second = client.call("msg_1", "toolu_2");
    client.result(&second, "toolu_2");
    client.agent("msg_2", r#"{"type":"text","text":"done"}"#);
    let source = Source::new(OLD, &client.text);
    let (text, _) = export(&[&source], &plan(&[&source], whole(0, &[1]))).unwrap();
    let said: Vec<_> =
        told(&text).into_iter().map(|(_, message)| message["content"].clone()).collect();
    let kinds: Vec<_> = said.iter().map(|c| c[0]["type"].as_str().unwrap_or("words")).collect();
    assert_eq!(kinds, ["words", "tool_use", "tool_use", "tool_result", "tool_result", "text"]);
}

#[test]
fn broken_lines_a_second_copy_and_times_that_run_back_do_no_harm() {
    let mut client = Client::new(OLD);
    client.prompt("one");
    client.text.push_str("{\"type\":\"user\",\"uuid\n");
    client.agent("msg_1", r#"{"type":"text","text":"said"}"#);
    let copy = client.text.lines().last().unwrap().to_owned();
    client.text.push_str(&copy);
    client.text.push('\n');
    let early =
        copy.replace(&world::stamp(2), "2001-01-01T00:00:00.000Z").replace("000002\"", "0000ff\"");
    client.text.push_str(&early);
    client.text.push('\n');
    let source = Source::new(OLD, &client.text);
    let (text, report) = export(&[&source], &plan(&[&source], whole(0, &[1]))).unwrap();
    assert_eq!(told(&text).len(), 3);
    assert!(report.notes.is_empty() && report.broken.len() == 1, "{report:?}");
    assert!(!text.contains("2001"));
}

#[test]
fn companions_are_named_and_never_lie_elsewhere() {
    let mut client = Client::new(OLD);
    client.prompt("go");
    let call = client.call("msg_1", "toolu_1");
    client.result(&call, "toolu_1");
    client.text = client.text.replace(
        r#""toolUseResult":{"#,
        r#""toolUseResult":{"agentId":"a57d","path":"/x/tool-results/abc.txt","no":"/tool-results/../../x","#,
    );
    let source = Source::new(OLD, &client.text);
    let (_, report) = export(&[&source], &plan(&[&source], whole(0, &[1]))).unwrap();
    let paths: Vec<_> = report.companions.iter().map(|c| c.path.as_str()).collect();
    assert_eq!(
        paths,
        ["subagents/agent-a57d.jsonl", "subagents/agent-a57d.meta.json", "tool-results/abc.txt"]
    );
}

#[test]
fn an_unsound_session_is_refused() {
    let mut client = Client::new(OLD);
    client.prompt("go");
    client.text = client.text.replace(r#""role":"user""#, r#""role":"system""#);
    let source = Source::new(OLD, &client.text);
    let made = plan(&[&source], whole(0, &[1]));
    let Err(Failed::Unsound(found)) = export(&[&source], &made) else { panic!("written") };
    assert_eq!(found[0].rule, "role");
    let mut other = plan(&[&source, &source], Vec::new());
    other.sessions[1].dialect = "pi".to_owned();
    assert!(matches!(export(&[&source], &other), Err(Failed::Dialect(..))));
}
