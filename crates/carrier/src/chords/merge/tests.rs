//! Adds and removes our block, and checks that the user's bytes stay.

use proptest::prelude::*;

use super::super::written;
use super::*;

fn merged(text: Option<&str>) -> String {
    match merge(text).unwrap() {
        Merged::Text(text) => text,
        Merged::Unchanged => panic!("unchanged: {text:?}"),
    }
}

#[track_caller]
fn goes_in_and_out(text: &str, wanted: &str) {
    let new = merged(Some(text));
    assert_eq!(new, wanted);
    assert_eq!(merge(Some(&new)), Ok(Merged::Unchanged));
    assert_eq!(remove(&new), Ok(Removed::Text(text.to_owned())));
    assert_eq!(remove(text), Ok(Removed::Unchanged));
}

#[test]
fn without_a_file_one_is_made_and_taken_away_again() {
    let text = merged(None);
    assert_eq!(
        text,
        r#"{
  "bindings": [{
    "context": "Chat",
    "bindings": {
      "ctrl+] ctrl+]": "command:clear",
      "ctrl+] ctrl+f": "command:brain-guard:resume"
    }
  }]
}
"#
    );
    assert_eq!(merge(Some(&text)), Ok(Merged::Unchanged));
    assert_eq!(remove(&text), Ok(Removed::File));
}

#[test]
fn the_block_takes_the_files_style() {
    goes_in_and_out(
        "{\n\t\"$schema\": \"x\",\n\t\"bindings\": [\n\t\t{\n\t\t\t\"context\": \"Chat\",\n\t\t\t\"bindings\": {\"ctrl+k\": \"chat:stash\"}\n\t\t}\n\t]\n}\n",
        "{\n\t\"$schema\": \"x\",\n\t\"bindings\": [\n\t\t{\n\t\t\t\"context\": \"Chat\",\n\t\t\t\"bindings\": {\"ctrl+k\": \"chat:stash\"}\n\t\t},\n\t\t{\n\t\t\t\"context\": \"Chat\",\n\t\t\t\"bindings\": {\n\t\t\t\t\"ctrl+] ctrl+]\": \"command:clear\",\n\t\t\t\t\"ctrl+] ctrl+f\": \"command:brain-guard:resume\"\n\t\t\t}\n\t\t}\n\t]\n}\n",
    );
    goes_in_and_out(
        r#"{"bindings":[{"context":"Chat","bindings":{"ctrl+k":"chat:stash"}}]}"#,
        r#"{"bindings":[{"context":"Chat","bindings":{"ctrl+k":"chat:stash"}},{"context":"Chat","bindings":{"ctrl+] ctrl+]":"command:clear","ctrl+] ctrl+f":"command:brain-guard:resume"}}]}"#,
    );
    goes_in_and_out(
        "{\r\n  \"bindings\": [\r\n    {\"context\": \"Chat\", \"bindings\": {}}\r\n  ]\r\n}",
        "{\r\n  \"bindings\": [\r\n    {\"context\": \"Chat\", \"bindings\": {}},\r\n    {\"context\": \"Chat\", \"bindings\": {\"ctrl+] ctrl+]\": \"command:clear\", \"ctrl+] ctrl+f\": \"command:brain-guard:resume\"}}\r\n  ]\r\n}",
    );
    goes_in_and_out(
        r#"{"bindings": [ ]}"#,
        r#"{"bindings": [{"context": "Chat", "bindings": {"ctrl+] ctrl+]": "command:clear", "ctrl+] ctrl+f": "command:brain-guard:resume"}} ]}"#,
    );
    let block = "{\n      \"context\": \"Chat\",\n      \"bindings\": {\n        \"ctrl+] ctrl+]\": \"command:clear\",\n        \"ctrl+] ctrl+f\": \"command:brain-guard:resume\"\n      }\n    }";
    goes_in_and_out(
        "{\n  \"bindings\": [\n  ]\n}\n",
        &format!("{{\n  \"bindings\": [\n    {block}\n  ]\n}}\n"),
    );
}

#[test]
fn a_chord_of_theirs_is_never_taken() {
    let with = |entries: &str| {
        format!(r#"{{"bindings":[{{"context":"Global","bindings":{{{entries}}}}}]}}"#)
    };
    for (theirs, clear, resume) in [
        (r#""ctrl+]":"app:toggleTodos""#, "ctrl+x ctrl+]", "ctrl+x ctrl+f"),
        (r#""Control+]  ctrl+]":"app:toggleTodos""#, "ctrl+x ctrl+]", "ctrl+] ctrl+f"),
        (r#""ctrl+] ctrl+] ctrl+k":"app:redraw""#, "ctrl+x ctrl+]", "ctrl+] ctrl+f"),
        (r#""ctrl+] ctrl+f":null"#, "ctrl+] ctrl+]", "ctrl+x ctrl+f"),
        (r#""ctrl+]":null"#, "ctrl+] ctrl+]", "ctrl+] ctrl+f"),
    ] {
        let found = find(&merged(Some(&with(theirs))));
        assert_eq!(found.clear.map(|c| written(&c)).as_deref(), Some(clear), "{theirs}");
        assert_eq!(found.resume.map(|c| written(&c)).as_deref(), Some(resume), "{theirs}");
    }
    let all = with(r#""ctrl+]":"app:redraw","ctrl+x":"app:redraw""#);
    assert_eq!(merge(Some(&all)), Ok(Merged::Unchanged));
}

#[test]
fn their_own_chord_is_enough() {
    let theirs =
        r#"{"bindings":[{"context":"Chat","bindings":{"ctrl+x ctrl+l":"command:clear"}}]}"#;
    let new = merged(Some(theirs));
    assert_eq!(new.matches("command:clear").count(), 1);
    assert!(new.contains(RESUME));
    assert_eq!(remove(&new), Ok(Removed::Text(theirs.to_owned())));
}

#[test]
fn what_they_wrote_around_ours_stays() {
    let behind = merged(None).replace(
        "}]",
        "},\n    {\"context\": \"Chat\", \"bindings\": {\"ctrl+k\": \"chat:stash\"}}\n  ]",
    );
    assert_eq!(
            remove(&behind),
            Ok(Removed::Text(
                "{\n  \"bindings\": [{\"context\": \"Chat\", \"bindings\": {\"ctrl+k\": \"chat:stash\"}}\n  ]\n}\n".into()
            ))
        );
    let inside = merged(None)
        .replace("\"command:clear\",", "\"command:clear\",\n        \"ctrl+k\": \"chat:stash\",");
    let Ok(Removed::Text(left)) = remove(&inside) else { panic!("{inside}") };
    assert_eq!(left.matches("ctrl+]").count(), 0, "{left}");
    assert_eq!(parse(&left).unwrap().len(), 1);
    // The user's binding of the same chord, in a block that is not ours.
    let own = r#"{"bindings":[{"context":"Chat","bindings":{"ctrl+] ctrl+]":"command:clear"}}]}"#;
    assert_eq!(remove(own), Ok(Removed::Unchanged));
}

#[test]
fn a_file_that_the_client_cannot_read_is_named_by_line() {
    let line = |text: &str| merge(Some(text)).unwrap_err().line;
    assert_eq!(line("{\n  // mine\n  \"bindings\": []\n}"), 2);
    assert_eq!(line("{\"bindings\": [\n{\"context\": \"Chat\"}\n]}"), 2);
    assert_eq!(
        line("{\"bindings\": [\n{\"context\": \"Chat\", \"bindings\": {\n\"ctrl+k\": 5}}\n]}"),
        3
    );
    assert_eq!(line(""), 1);
    assert_eq!(remove("nope").unwrap_err().line, 1);
    let why = merge(Some("{}")).unwrap_err().to_string();
    assert_eq!(why, "line 1: missing field `bindings`");
}

proptest! {
    #[test]
    fn in_and_out_is_nothing(
        blocks in prop::collection::vec(("(Chat|Global|Nope)", "(ctrl\\+[a-z\\]]|ctrl\\+x [a-z]|f9)"), 0..4),
        pretty in 0..3,
        space in "[ \n\t]{0,3}",
    ) {
        let block = |(context, chord): &(String, String)| {
            serde_json::json!({"context": context, "bindings": {chord: "chat:stash"}})
        };
        let file = serde_json::json!({"bindings": blocks.iter().map(block).collect::<Vec<_>>()});
        let text = if pretty == 0 { file.to_string() } else { serde_json::to_string_pretty(&file).unwrap() };
        let text = text.replacen('[', &format!("[{space}"), 1);
        if let Merged::Text(new) = merge(Some(&text)).unwrap() {
            prop_assert!(find(&new).clear.is_some() && find(&new).resume.is_some());
            prop_assert_eq!(remove(&new), Ok(Removed::Text(text)));
        }
    }
}
