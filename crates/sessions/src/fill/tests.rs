use super::*;

fn gather(rows: &[&str]) -> Option<Fill> {
    let mut gatherer = Gatherer::default();
    for row in rows.iter().rev() {
        if gatherer.feed(row.as_bytes()).is_break() {
            break;
        }
    }
    gatherer.finish()
}

fn assistant(id: &str, input: u64, output: u64) -> String {
    format!(
        r#"{{"isSidechain":false,"message":{{"id":"{id}","model":"claude-opus-5-5","content":[],"usage":{{"input_tokens":{input},"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":{output}}}}},"type":"assistant","timestamp":"2026-11-21T02:16:25.315Z"}}"#
    )
}

fn user(bytes: usize) -> String {
    format!(r#"{{"type":"user","message":{{"role":"user","content":"{}"}}}}"#, "x".repeat(bytes))
}

#[test]
fn the_response_before_the_last_is_kept() {
    let before = |rows: &[&str]| gather(rows).unwrap().before;
    assert_eq!(before(&[&assistant("m1", 48_000, 50)]), None);
    assert_eq!(
        before(&[&assistant("m1", 48_000, 50), &user(9), &assistant("m2", 300_000, 50)]),
        Some(48_050)
    );
}

#[test]
fn rows_that_are_not_written_yet_are_behind_the_mod() {
    let reading = |used, at: &str, source| {
        Some(Reading { used, limit: 967_000, source, at: at.parse().unwrap() })
    };
    let lags = |reading: Option<Reading>| {
        let mut fill = gather(&[&assistant("m1", 48_000, 50)]).unwrap();
        fill.lags(reading.as_ref()).then_some(fill.measured)
    };
    let (before, after) = ("2026-11-21T02:16:25Z", "2026-11-21T02:16:26Z");
    assert_eq!(lags(reading(300_000, after, Source::Mod)), Some(300_000));
    assert_eq!(lags(reading(300_000, before, Source::Mod)), None);
    assert_eq!(lags(reading(300_000, after, Source::Transcript)), None);
    assert_eq!(lags(reading(40_000, after, Source::Mod)), None);
    assert_eq!(lags(None), None);
}

#[test]
fn the_last_response_and_what_came_since() {
    let fill =
        gather(&[&assistant("a", 100, 10), &user(33), &assistant("b", 1_000, 50), &user(68)]);
    let fill = fill.unwrap();
    assert_eq!((fill.measured, fill.estimated), (1_050, 20));
    assert_eq!(fill.model.as_deref(), Some("claude-opus-5-5"));
}

#[test]
fn the_sessions_own_rate() {
    let rows = [assistant("a", 1_000, 0), user(19_998), assistant("b", 11_000, 500), user(1_998)];
    let fill = gather(&rows.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    assert!((fill.bytes_per_token - 2.0).abs() < 0.01, "{}", fill.bytes_per_token);
    assert_eq!((fill.measured, fill.estimated), (11_500, 1_000));
}

#[test]
fn one_response_alone_is_not_paid_for_with_the_whole_file() {
    let mut gatherer = Gatherer::default();
    assert!(gatherer.feed(assistant("a", 1_000, 0).as_bytes()).is_continue());
    let row = user(1_000);
    let fed = (0..10_000).take_while(|_| gatherer.feed(row.as_bytes()).is_continue()).count();
    assert!(fed < 300, "{fed}");
    assert_eq!(gatherer.finish().unwrap().measured, 1_000);
}

#[test]
fn skipped_rows() {
    let synthetic = assistant("s", 9, 9).replace("claude-opus-5-5", "<synthetic>");
    let side =
        assistant("x", 900_000, 1).replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    let fill = gather(&[
        &assistant("a", 700, 0),
        "{\"torn",
        &side,
        &synthetic,
        &assistant("z", 0, 0),
        r#"{"type":"api-request","usage":{"input_tokens":999999}}"#,
        "",
        "[]",
        "null",
    ]);
    assert_eq!(fill.unwrap().measured, 700);
    assert_eq!(gather(&[r#"{"type":"user","message":{"content":"x"}}"#]), None);
}

#[test]
fn a_compaction_counts_what_it_left() {
    let boundary = r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"preTokens":150060,"postTokens":2875},"timestamp":"2026-11-21T02:16:25.315Z"}"#;
    let fill = gather(&[&assistant("a", 150_000, 60), boundary, &user(10_000)]).unwrap();
    assert_eq!((fill.measured, fill.estimated), (2_875, 0));
    let fill =
        gather(&[&assistant("a", 150_000, 60), boundary, &user(9), &assistant("b", 4_000, 1)]);
    assert_eq!(fill.unwrap().measured, 4_001);
}

#[test]
fn a_document_is_not_its_bytes_either_but_words_about_one_are() {
    let document = format!(r#"[{{"type":"base64","data":"{}"}}]"#, "A".repeat(450_000));
    assert_eq!(weight(&document), 4_000 + 5_600);
    let words = r#"[{"content":"{\"type\":\"base64\"}"}]"#.repeat(200);
    assert_eq!(weight(&words), words.len() as u64);
}

#[test]
fn a_field_of_another_shape_costs_the_field_not_the_row() {
    let boundary = r#"{"type":"system","subtype":"compact_boundary","isSidechain":"no","timestamp":7,"compactMetadata":{"postTokens":2875}}"#;
    let fill = gather(&[&assistant("a", 150_000, 60), boundary]).unwrap();
    assert_eq!((fill.measured, fill.at), (2_875, None));
    let unsaid = boundary.replace("2875", "\"2,875\"");
    assert_eq!(gather(&[&assistant("a", 150_000, 60), &unsaid]), None);
}

#[test]
fn an_image_is_not_its_bytes() {
    let row = format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":[{{"type":"image","source":{{"data":"{}"}}}}]}}]}}}}"#,
        "A".repeat(450_000)
    );
    let fill = gather(&[&assistant("a", 1_000, 0), &row]).unwrap();
    assert!(fill.estimated < 3_500, "{}", fill.estimated);
}

#[test]
fn a_brief_look_ends_at_the_last_response_unless_something_came_since() {
    let rows = [assistant("a", 1_000, 0), user(19_998), assistant("b", 11_000, 500)];
    let fed = |more: &[String]| {
        let mut gatherer = Gatherer::brief();
        let all = rows.iter().chain(more).rev();
        let fed = all.take_while(|row| gatherer.feed(row.as_bytes()).is_continue()).count();
        (fed, gatherer.finish().unwrap())
    };
    let (count, fill) = fed(&[]);
    assert_eq!((count, fill.measured, fill.estimated), (0, 11_500, 0));
    let (count, fill) = fed(&[user(1_998)]);
    assert_eq!((count, fill.measured, fill.estimated), (3, 11_500, 1_000));
}

/// A row with its id and its parent.
fn placed(uuid: &str, parent: &str, row: &str) -> String {
    row.replacen('{', &format!(r#"{{"uuid":"{uuid}","parentUuid":"{parent}","#), 1)
}

#[test]
fn what_all_results_of_one_response_bring_counts_in_any_order() {
    let part = |uuid, parent| placed(uuid, parent, &assistant("m", 1_000, 50));
    let result = |uuid, parent| placed(uuid, parent, &user(698));
    let (a1, a2, a3) = (part("a1", "u0"), part("a2", "a1"), part("a3", "a2"));
    let (r1, r2, r3) = (result("r1", "a1"), result("r2", "a2"), result("r3", "a3"));
    let u0 = placed("u0", "a0", &user(70_000));
    let a0 = placed("a0", "p0", &assistant("m0", 900, 5));
    for order in [
        [&a1, &a2, &a3, &r1, &r2, &r3],
        [&a1, &a2, &a3, &r3, &r2, &r1],
        [&a1, &a2, &r2, &a3, &r3, &r1],
    ] {
        let rows: Vec<&str> = [&a0, &u0].into_iter().chain(order).map(String::as_str).collect();
        let fill = gather(&rows).unwrap();
        assert_eq!((fill.measured, fill.estimated, fill.rewound), (1_050, 600, false));
    }
    // The chain is broken, but what came since is known.
    let rows = [u0.as_str(), &a1, &r1, &placed("u9", "nowhere", &user(348))];
    let fill = gather(&rows).unwrap();
    assert_eq!((fill.measured, fill.estimated), (1_050, 300));
}

#[test]
fn after_a_rewind_the_mods_reading_may_be_of_what_was_left() {
    let rows = [
        placed("a1", "u1", &assistant("m1", 48_000, 50)),
        placed("u2", "a1", &user(9)),
        placed("a2", "u2", &assistant("m2", 300_000, 50)),
        placed("u3", "a1", &user(5)),
    ];
    let mut fill = gather(&rows.each_ref().map(String::as_str)).unwrap();
    assert_eq!((fill.measured, fill.rewound), (48_050, true));
    let at = "2026-11-21T02:16:27Z".parse().unwrap();
    let reading = Reading { used: 300_100, limit: 967_000, source: Source::Mod, at };
    assert!(!fill.lags(Some(&reading)));
}

#[test]
fn a_large_attachment_is_a_link_of_the_chain() {
    let attachment = format!(r#"{{"type":"attachment","attachment":"{}"}}"#, "x".repeat(90_000));
    let rows = [
        placed("a1", "u1", &assistant("m1", 48_000, 50)),
        placed("u2", "a1", &user(698)),
        placed("t2", "u2", &attachment),
        placed("s2", "t2", r#"{"type":"system"}"#),
    ];
    let mut gatherer = Gatherer::default();
    for row in rows.iter().rev() {
        assert!(gatherer.feed(row.as_bytes()).is_continue());
    }
    assert!(gatherer.last.is_some(), "found on the branch");
    assert_eq!(gatherer.finish().unwrap().estimated, 200);
}
