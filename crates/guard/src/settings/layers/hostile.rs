//! Settings of a malicious checkout: they try to waste time or to flood the screen.
#![allow(clippy::disallowed_methods, reason = "the test takes the time")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::*;

fn file(text: &str) -> File {
    File { path: "/p/.brain-guard/settings.json".into(), text: Ok(text.into()) }
}

/// `{"PREFIX0": VALUE, "PREFIX1": VALUE, …}`, up to 256 KB.
fn keys(count: usize, prefix: &str, value: &str) -> String {
    let mut text = String::from("{");
    for n in 0..count {
        let comma = if n == 0 { "" } else { ",\n" };
        if text.len() + prefix.len() + value.len() > 255 * 1024 {
            break;
        }
        write!(text, "{comma}\"{prefix}{n}\":{value}").unwrap();
    }
    text + "}"
}

fn bombs() -> Vec<(&'static str, String)> {
    let nested = |inner: &str| format!("{}{inner}{}", "{\"a\":".repeat(120), "}".repeat(120));
    let sections = keys(9_000, "s", "1").replace("\":1", "\"}").replace("\"s", "{\"name\":\"s");
    let sections = format!("[{}]", &sections[1..sections.len() - 1]);
    let tier = r#"{"context":1,"file":1,"blocks":[]}"#;
    let chain = (0..400).map(|n| {
        let (context, file) = (19.0 - f64::from(n) * 0.04, 69.0 - f64::from(n) * 0.1);
        format!("\"t{n}\":{{\"context\":{context},\"file\":{file}}}")
    });
    let chain = chain.collect::<Vec<_>>().join(",");
    vec![
        ("5,000 unknown keys", keys(5_000, "key", "1")),
        ("as many unknown keys as fit", keys(99_999, "", "1")),
        (
            "unknown keys of a group",
            format!("{{\"tiers\":{{\"coach\":{}}}}}", keys(5_000, "k", "1")),
        ),
        ("deep", nested("1")),
        ("deep and wide", nested(&keys(99_999, "", "1"))),
        ("deep below a value", format!("{{\"shadow\":{}}}", nested(&keys(99_999, "", "1")))),
        ("one huge key", format!("{{\"{}\":1}}", "k".repeat(250_000))),
        ("one huge name", format!("{{\"bands\":{{\"{}\":7}}}}", "k".repeat(250_000))),
        ("one huge value", format!("{{\"prompts\":\"{}\"}}", "v".repeat(250_000))),
        ("a huge list", format!("{{\"prompts\":[{}1]}}", "1,".repeat(125_000))),
        ("a list for a group", format!("{{\"coach\":[{}1]}}", "1,".repeat(125_000))),
        ("many sections", format!("{{\"file\":{{\"shape\":{{\"sections\":{sections}}}}}}}")),
        (
            "many sections, routes to nowhere and unknown keys",
            format!(
                "{{\"file\":{{\"shape\":{{\"sections\":{},\"routes\":{}}}}},\"x\":{}}}",
                &sections
                    .chars()
                    .take(50_000)
                    .collect::<String>()
                    .rsplit_once(',')
                    .map(|(all, _)| format!("{all}]"))
                    .unwrap(),
                keys(2_000, "r", "\"1. no such section\""),
                keys(2_000, "r", "1"),
            ),
        ),
        ("1,000 good keys", format!("{{\"bands\":{}}}", keys(1_000, "tool", "\"read\""))),
        (
            "good keys and bad ones",
            format!(
                "{{\"bands\":{},\"tiers\":{}}}",
                keys(4_000, "tool", "\"read\""),
                keys(2_000, "t", tier)
            ),
        ),
        ("bad values", format!("{{\"bands\":{}}}", keys(99_999, "tool", "7"))),
        (
            "tiers without a place",
            format!("{{\"tiers\":{}}}", keys(9_000, "t", "{\"blocks\":[\"read\"]}")),
        ),
        ("tiers that need one another", format!("{{\"tiers\":{{{chain}}}}}")),
        (
            "phases",
            format!("{{\"phases\":{{\"names\":{}}}}}", keys(4_000, "p", "{\"coach\":\"slowly\"}")),
        ),
        ("control characters", keys(20, "\\u001b[31m\\u202e\\n", "1")),
    ]
}

#[test]
fn no_settings_of_a_project_cost_time_or_fill_the_screen() {
    for (name, text) in bombs() {
        assert!(text.len() < 256 * 1024, "{name}: {}", text.len());
        let from = Instant::now();
        let (settings, told) = merge_briefly(None, Some(&file(&text)), &Variables::default());
        let took = from.elapsed();
        let from = Instant::now();
        let traced = trace(None, Some(&file(&text)), Variables::default());
        println!(
            "{name:<50} {took:>10.1?} {:>10.1?} {} faults",
            from.elapsed(),
            traced.diagnostics.len()
        );
        assert!(took < Duration::from_millis(700), "{name}: {took:?}");
        assert!(told.len() <= MAX_REPORTED + 1, "{name}: {}", told.len());
        assert_eq!(settings, traced.settings, "{name}");
        let (few, all) = (told.len().min(MAX_REPORTED), &traced.diagnostics);
        assert_eq!(told[..few], all[..few], "{name}");
        for fault in &told {
            assert!(fault.message.chars().count() < 700, "{name}: {}", fault.message);
            assert!(!fault.message.contains(|c: char| c.is_control() || c == '\u{202e}'), "{name}");
        }
    }
}

#[test]
fn ten_faults_are_told_and_the_rest_is_counted() {
    let (_, told) =
        merge_briefly(None, Some(&file(&keys(5_000, "key", "1"))), &Variables::default());
    assert_eq!(told.len(), 11);
    assert!(told[9].message.contains(":1006: \"key1005\""), "{}", told[9].message);
    let last = "and 4,990 more; `brain-guard settings check` lists them";
    assert_eq!(told[10].message, last);
    let (_, all) = merge(None, Some(&file(&keys(5_000, "key", "1"))), Variables::default());
    assert_eq!(all.len(), 5_000);
}

#[test]
fn an_unknown_group_is_one_fault_and_what_else_the_file_says_holds() {
    let text = format!("{{\"file\":{{\"words\":900}},\n\"x\":{}}}", keys(3_000, "k", "1"));
    let (settings, told) = merge_briefly(None, Some(&file(&text)), &Variables::default());
    assert_eq!((settings.file.words, told.len()), (900, 1));
    assert!(told[0].message.contains("settings.json:2: \"x\": unknown field `x`"));
}

#[test]
fn a_file_that_asks_for_too_much_ends_with_one_fault() {
    let text = format!("{{\"bands\":{}}}", keys(9_000, "tool", "\"read\""));
    let (settings, told) = merge_briefly(None, Some(&file(&text)), &Variables::default());
    assert!(settings.bands.len() > 100, "{}", settings.bands.len());
    let [only] = &told[..] else { panic!("{told:?}") };
    assert!(only.message.contains("were not checked"), "{}", only.message);
}

#[test]
fn a_file_that_can_not_be_read_is_one_fault() {
    let wrong = File {
        path: "/p/s.json".into(),
        text: Err(io::Error::other("a file of 9 bytes; at most 8")),
    };
    let user = File { path: "/u/s.json".into(), text: Ok(r#"{"shadow": true}"#.into()) };
    let (settings, told) = merge_briefly(Some(&user), Some(&wrong), &Variables::default());
    assert!(settings.shadow);
    let [only] = &told[..] else { panic!("{told:?}") };
    let said = "/p/s.json: could not be read (a file of 9 bytes; at most 8); the file is ignored";
    assert_eq!(only.message, said);
}

/// The user's own file is trusted, so no limit applies.
#[test]
fn a_users_file_has_room_for_everything() {
    let text = format!("{{\"bands\":{},\"colour\":1}}", keys(1_500, "tool", "\"read\""));
    let (settings, told) = merge(Some(&file(&text)), None, Variables::default());
    assert_eq!((settings.bands.len(), told.len()), (1_500, 1));
}
