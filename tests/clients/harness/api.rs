//! The mock API works with headless runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::{Value, json};

use super::{many_calls, two_calls};
use crate::support::mock::{Kind, Reply};
use crate::support::process;
use crate::support::world::{Spy, World};

#[test]
fn a_print_run_goes_through_two_calls() {
    let world = World::build().bare().agent(two_calls).start();
    let run = world.print(&[], "go");
    let output = run.finish();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, "all done");
    let requests = world.mock.main();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].prompt(), "go");
    assert_eq!(requests[1].tool_results()[0].text, "first-output");
    assert_eq!(requests[2].tool_results()[0].text, "second-output");
    assert!(requests[0].system_texts()[0].contains("# Environment"));
    assert!(requests[0].contains("Claude Code") && !requests[0].said("all done"));
}

#[test]
fn a_denial_arrives_in_the_next_request() {
    let spy = Spy::deny("Bash", "not \"now\"\nsecond line");
    let world = World::build().bare().spy(spy).agent(two_calls).start();
    assert!(world.print(&[], "go").finish().status.success());
    let result = world.mock.wait_main(2).tool_results().remove(0);
    assert!(result.is_error);
    assert_eq!(result.text, "PreToolUse:Bash hook error: not \"now\"\nsecond line");
}

#[test]
fn each_of_twenty_calls_in_one_message_gets_its_result() {
    let agent = |n| if n == 1 { many_calls(20) } else { Reply::text("ok") };
    let world =
        World::build().bare().spy(Spy::default()).agent(move |request| agent(request.n)).start();
    assert!(world.print(&[], "go").finish().status.success());
    let results = world.mock.wait_main(2).tool_results();
    assert_eq!(results.len(), 20);
    // The results come in the order in which the calls ended.
    for k in 1..=20 {
        let result = results.iter().find(|result| result.id == format!("toolu_many_{k}"));
        assert_eq!(result.map(|result| result.text.as_str()), Some(format!("out-{k}").as_str()));
    }
    let named =
        |name: &str| world.hooks().iter().filter(|hook| hook["hook_event_name"] == name).count();
    assert_eq!((named("PreToolUse"), named("PostToolUse"), named("PostToolBatch")), (20, 20, 1));
}

#[test]
fn an_overloaded_api_recovers() {
    let agent = |n| if n <= 2 { Reply::error(529) } else { Reply::text("back again") };
    let world = World::build().bare().agent(move |request| agent(request.n)).start();
    assert_eq!(world.print(&[], "go").finish().stdout, "back again");
    assert_eq!(world.mock.main().len(), 3);
}

#[test]
fn usage_reaches_a_hook_through_the_transcript() {
    let agent = |n| match n {
        1 => Reply::bash("echo one").tokens(300_000).output(321),
        _ => Reply::text("ok"),
    };
    let world =
        World::build().bare().spy(Spy::default()).agent(move |request| agent(request.n)).start();
    assert!(world.print(&[], "go").finish().status.success());
    let hook = world.wait_hook("PostToolUse", |_| true);
    assert_eq!(hook["transcript_path"].as_str(), world.transcripts()[0].to_str());
    let text = std::fs::read_to_string(&world.transcripts()[0]).expect("the session file");
    let mut rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let row = rows.find(|row| row["type"] == "assistant").expect("an assistant row");
    let usage = |field: &str| row["message"]["usage"][field].as_u64().expect("a count");
    let parts =
        ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"].map(usage);
    assert_eq!((parts.iter().sum::<u64>(), usage("output_tokens")), (300_000, 321));
}

#[test]
fn a_stream_run_clears_between_two_messages() {
    let agent = |n: usize| Reply::text(format!("answer {n}")).delay(Duration::from_millis(20));
    let world = World::build().bare().agent(move |request| agent(request.n)).start();
    let mut run = world.stream(&[]);
    run.say("first words");
    run.wait_json("first result", |line| line["type"] == "result" && line["result"] == "answer 1");
    run.say("/clear");
    run.wait_json("reset", |line| {
        line["type"] == "conversation_reset" && line["trigger"] == "clear"
    });
    run.say("second words");
    run.wait_json("second result", |line| line["type"] == "result" && line["result"] == "answer 2");
    assert!(world.processes().iter().any(|process| process.pid == run.pid()));
    assert!(run.finish().status.success());
    let requests = world.mock.main();
    assert!(requests[0].session.is_some() && requests[0].session != requests[1].session);
    assert!(!requests[1].said("first words"));
}

#[test]
fn subagent_requests_are_distinguished() {
    let input =
        json!({"description": "sub work", "prompt": "say it", "subagent_type": "general-purpose"});
    let agent =
        move |n| if n == 1 { Reply::tool("Agent", input.clone()) } else { Reply::text("ok") };
    let sub = |n| if n == 1 { Reply::bash("echo in-sub") } else { Reply::text("sub said it") };
    let world = World::build().bare().spy(Spy::default());
    let world = world
        .agent(move |request| agent(request.n))
        .subagent(move |request| sub(request.n))
        .start();
    let tui = world.tui(&[]);
    tui.prompt("go");
    world.mock.wait_request("report of the subagent", |request| request.said("sub said it"));
    let asked: Vec<_> = world.mock.with_log(|log| log.of(Kind::Subagent).cloned().collect());
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].tool_results()[0].text, "in-sub");
    let hook = world.wait_hook("PreToolUse", |hook| hook["tool_name"] == "Bash");
    assert_eq!(hook["agent_id"], json!(asked[0].agent));
    assert!(asked[0].agent.is_some());
}

#[test]
fn an_assertion_in_the_script_fails_the_test() {
    let world = World::build().bare().agent(|_| panic!("this is asserted")).start();
    let run = world.print(&[], "go");
    let failed = catch_unwind(AssertUnwindSafe(|| world.mock.wait_main(2)));
    let cause = failed.expect_err("the wait fails");
    let text = cause.downcast_ref::<String>().expect("a message");
    assert!(text.contains("this is asserted") && text.contains("Main 1"), "{text}");
    run.finish();
}

#[test]
fn dropping_a_world_ends_its_processes() {
    let agent = |n| match n {
        1 => Reply::bash("setsid sleep 300 >/dev/null 2>&1 & echo started"),
        _ => Reply::text("ok"),
    };
    let world = World::build().bare().agent(move |request| agent(request.n)).start();
    assert!(world.print(&[], "go").finish().status.success());
    assert!(
        world.processes().iter().any(|process| process.command == "sleep 300"),
        "{:?}",
        world.processes()
    );
    let home = world.home();
    drop(world);
    assert!(process::with_home(&home).is_empty());
    assert!(!home.exists());
}
