//! Finding values in rows, and rows with other values and fields.

use super::*;

fn found(line: &str, key: &str) -> Option<String> {
    locate(line.as_bytes(), key)
        .map(|at| String::from_utf8(at.slice(line.as_bytes()).to_vec()).unwrap())
}

#[test]
fn values_are_found_by_their_keys() {
    let row = " {\"id\":\"a\", \"message\" : { \"content\":[{\"type\":\"text\"},{\"te\\u0078t\": \"x\\\"}\" } ,3], \"0\":null } }\r\n";
    let at = |key| found(row, key);
    assert_eq!(at("id").unwrap(), "\"a\"");
    assert_eq!(at("message.content.1.text").unwrap(), "\"x\\\"}\"");
    assert_eq!(at("message.content.1").unwrap(), "{\"te\\u0078t\": \"x\\\"}\" }");
    assert_eq!(at("message.content.2").unwrap(), "3");
    assert_eq!(at("message.0").unwrap(), "null");
    for none in [
        "",
        ".",
        "id.",
        "id.0",
        "message.content.3",
        "message.content.01",
        "message.content.+1",
        "message.content.-1",
        "message.content.",
        "message.content.text",
        "x",
    ] {
        assert_eq!(at(none), None, "{none}");
    }
}

#[test]
fn what_is_ambiguous_or_no_object_has_no_values() {
    for row in [
        r#"{"a":{"b":1,"b":2}}"#,
        r#"{"a":{"b":1,"\u0062":2}}"#,
        r#"{"a":{"b":1},"a":{}}"#,
        r#"{"a":{"b":1}}}"#,
        r#"{"a":{"b":1}} {}"#,
        r#"{"a":{"b":1}"#,
        r#"[{"a":{"b":1}}]"#,
        r#"{"a.b":1}"#,
        "",
        "\n",
    ] {
        assert_eq!(found(row, "a.b"), None, "{row}");
    }
}

#[test]
fn names_that_stand_twice_are_told_by_their_keys() {
    for (row, keys) in [
        (r#"{"a":{"b":1,"c":[{"b":1}]},"b":{"c":1},"c":[{},{}]}"#, &[][..]),
        (r#"{"a":{"b":1,"b":2}}"#, &["a.b"]),
        (r#"{"a":[0,{"b":1,"\u0062":2,"c":3}],"a":{}}"#, &["a.1.b", "a"]),
        (r#"{"x":1,"y":2,"x":3,"y":4,"x":5}"#, &["x", "y"]),
        (r#"{"a":{"b":1,"b":2}"#, &["a.b"]),
        ("no object", &[]),
        ("", &[]),
    ] {
        assert_eq!(twice(row.as_bytes()), keys, "{row}");
        for key in keys {
            assert_eq!(found(row, key), None, "{key} in {row}");
        }
    }
    let deep = [r#"{"a":"#.repeat(900), "1".into(), "}".repeat(900)].concat();
    assert!(twice(deep.as_bytes()).is_empty());
}

#[test]
fn fields_are_set_added_and_taken_out() {
    let set = |line: &str, json: Option<&str>| {
        with_field(line.as_bytes(), "x", json.map(str::as_bytes))
            .map(|row| String::from_utf8(row).unwrap())
    };
    for (line, with, without) in [
        ("{}", r#"{"x":1}"#, "{}"),
        ("{ }\r\n", "{\"x\":1 }\r\n", "{ }\r\n"),
        (r#" {"a":[] }"#, r#" {"a":[],"x":1 }"#, r#" {"a":[] }"#),
        (r#"{"x" : "old" , "a":2}"#, r#"{"x" : 1 , "a":2}"#, r#"{"a":2}"#),
        (r#"{"a":2 , "x":{"x":3} }"#, r#"{"a":2 , "x":1 }"#, r#"{"a":2 }"#),
        (r#"{"x":2,"x":3}"#, r#"{"x":1,"x":1}"#, "{}"),
        (
            r#"{ "x":2,"x":3, "a":4 ,"\u0078":5,"b":6,"x":7 }"#,
            r#"{ "x":1,"x":1, "a":4 ,"\u0078":1,"b":6,"x":1 }"#,
            r#"{ "a":4,"b":6 }"#,
        ),
    ] {
        assert_eq!(set(line, Some("1")).as_deref(), Some(with));
        assert_eq!(set(line, None).as_deref(), Some(without), "{line}");
        assert_eq!(set(with, Some("1")).as_deref(), Some(with));
    }
    for no_object in ["", "[]", "3", "{", r#"{"a":1} x"#, r#"{"a"}"#, "not json\n"] {
        assert_eq!(set(no_object, Some("1")), None);
        assert_eq!(set(no_object, None), None);
    }
}

#[test]
fn a_sound_row_is_one_object_of_json() {
    assert!(sound(b"{\"a\":[1,2]}\r\n") && sound(b" {}"));
    for broken in [&b"{\"a\":[1,}"[..], b"{\"a\":nul}", b"[]", b"{} {}", b"{\"a\":\"\xff\"}", b""] {
        assert!(!sound(broken));
    }
}
