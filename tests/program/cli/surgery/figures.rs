//! Tokens before and after: all commands give the same figures.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::world::{ID, World, rows};

fn tokens(made: &Value, name: &str) -> u64 {
    made["tokens"][name].as_u64().unwrap_or_else(|| panic!("{name} in {made}"))
}

/// Whether two figures differ by at most that part of a whole.
fn near(a: u64, b: u64, percent: u64, whole: u64) -> bool {
    a.abs_diff(b) * 100 <= percent * whole
}

#[test]
fn the_last_answer_has_the_usage_that_is_shown() {
    let world = World::new(6);
    let made = world.json(&["surgery", "compress-before", ID, "round:4"]);
    // The last response used 26,560 tokens, of which the rounds hold some 6,000.
    assert_eq!(tokens(&made, "before"), 26_560);
    assert!(near(tokens(&made, "base"), 20_500, 5, 20_500), "{made}");
    assert!((23_500..24_500).contains(&tokens(&made, "after")), "{made}");
    let file = made["path"].as_str().unwrap();
    let last = rows(Path::new(file)).into_iter().rev().find(|row| row["type"] == "assistant");
    assert_eq!(last.unwrap()["message"]["usage"]["input_tokens"], tokens(&made, "after"));
    // The new session knows the system prompt and the tools from the old one.
    let again = world.json(&["surgery", "compress-before", file, "round:3", "--dry-run"]);
    assert_eq!(tokens(&again, "base"), tokens(&made, "base"));
    assert!(near(tokens(&again, "before"), tokens(&made, "after"), 2, tokens(&made, "after")));
    assert!(tokens(&again, "after") > tokens(&again, "base"), "{again}");
}

#[test]
fn advice_has_the_figures_of_the_operation() {
    let world = World::new(12);
    let advice = world.json(&["advise", ID]);
    assert_eq!((&advice["tokens"], &advice["limit"]), (&32_560.into(), &167_000.into()));
    assert_eq!(advice["percent"], 19);
    let old = &advice["advice"][0];
    assert_eq!(old["case"], "old-rounds", "{advice}");
    let command = old["command"].as_str().unwrap();
    let command: Vec<&str> = command.split(' ').skip(1).chain(["--dry-run"]).collect();
    let made = world.json(&command);
    assert_eq!(tokens(&made, "before"), 32_560);
    let frees = old["frees"].as_u64().unwrap();
    assert!(near(frees, tokens(&made, "freed"), 2, 32_560), "{old} {}", made["tokens"]);
    let after = old["after"].as_u64().unwrap();
    assert!(near(after, tokens(&made, "after"), 3, after), "{old} {}", made["tokens"]);
    let text = world.done(&["advise", ID]);
    assert!(text.starts_with("3f0a9d1e: context 33k of 167k tokens (19 %), 12 rounds\n"), "{text}");
    assert!(text.contains(" tokens (4 % of the limit): 33k now, "), "{text}");
}

#[test]
fn extraction_has_the_same_figures_as_its_plan() {
    let world = World::new(8);
    let plan = world.json(&["extract", "plan", ID, "--keep-recent", "4"]);
    let made = world.json(&["extract", "run", ID, "--keep-recent", "4"]);
    let planned = |name: &str| plan[name].as_u64().unwrap();
    assert_eq!(planned("tokens_now"), 28_560, "{plan}");
    let figures = (planned("tokens_now"), planned("tokens_after"), planned("tokens"));
    let shown = (tokens(&made, "before"), tokens(&made, "after"), tokens(&made, "freed"));
    assert_eq!(figures, shown);
    assert!(tokens(&made, "after") > tokens(&made, "base"), "{made}");
    assert!(tokens(&made, "freed") > 2_000, "{made}");
    let text = world.done(&["extract", "plan", ID, "--keep-recent", "4"]);
    assert!(text.contains("\ncontext: 29k tokens now, "), "{text}");
}

/// The rounds after the shrunk ones have more tokens than an estimate samples.
#[test]
fn figures_include_shrunk_rounds_before_the_sample() {
    let world = World::new(60);
    let words = "the quick brown fox jumps over it ";
    let text = world.session(ID, 60, 0).replace(&words.repeat(100), &words.repeat(200));
    fs::write(world.file(ID), text).unwrap();
    let list = world.hook.project.join("list.txt");
    fs::write(&list, "shrink 1-5\n").unwrap();
    let list = list.to_str().unwrap();
    let made =
        world.json(&["surgery", "edit", ID, "--plan", list, "--dry-run"])["sessions"].clone();
    // A round takes a thousand tokens, and nearly all of it is the result.
    assert!((4_000..5_000).contains(&tokens(&made[0], "freed")), "{made}");
}

/// Only the source's usage shows that its window is the long one.
#[test]
fn a_made_session_is_measured_by_the_limit_of_its_source() {
    let world = World::new(12);
    let words = "the quick brown fox jumps over it ";
    let mut text = world.session(ID, 12, 0).replace(&words.repeat(100), &words.repeat(3_000));
    for round in 1..=12 {
        let used = |tokens| format!("\"cache_read_input_tokens\":{tokens},");
        text = text.replace(&used(20_000 + 1_000 * round), &used(20_000 + 26_000 * round));
        text = text.replace(&used(20_500 + 1_000 * round), &used(20_500 + 26_000 * round));
    }
    world.write(ID, &text);
    let limit = world.json(&["advise", ID])["limit"].clone();
    assert_eq!(limit, 967_000);
    let mut session = ID.to_owned();
    for round in ["round:9", "round:4"] {
        let made = world.json(&["surgery", "compress-before", &session, round]);
        assert!(tokens(&made, "after") < 167_000, "{made}");
        session = made["id"].as_str().expect("an id").to_owned();
        assert_eq!(world.json(&["advise", &session])["limit"], limit);
    }
}

/// The rows say that the cache lives for an hour.
#[test]
fn the_cache_lives_as_long_as_the_last_response_says() {
    let world = World::new(6);
    let written = r#""usage":{"cache_creation":{"ephemeral_1h_input_tokens":900,"ephemeral_5m_input_tokens":0},"#;
    let text = world.session(ID, 6, 0).replace("\"usage\":{", written);
    fs::write(world.file(ID), text).unwrap();
    let made = world.json(&["surgery", "compress-before", ID, "round:4", "--dry-run"]);
    assert_eq!(made["tokens"]["cache_lifetime"], "1h", "{made}");
    let made = world.json(&["extract", "run", ID, "--keep-recent", "2", "--dry-run"]);
    assert_eq!(made["tokens"]["cache_lifetime"], "1h", "{made}");
}
