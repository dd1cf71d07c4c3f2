//! Tests of what an exit accepts.

use super::*;

fn notes(text: &str) -> Vec<(usize, String)> {
    let notes = read(text, &Shape::default()).expect("a slice");
    notes.into_iter().map(|note| (note.section, note.text)).collect()
}

fn refusal(text: &str) -> String {
    read(text, &Shape::default()).expect_err("no slice").to_string()
}

fn section(name: &str) -> usize {
    Shape::default().find(name).expect("a section")
}

#[test]
fn entries_go_where_their_headings_say() {
    let text = "# The exit\n\n## forward\n<!-- a prompt -->\n- next\n- \n\n### 2. open threads:\n- a\n  - b\n\npara\n\
                \n#### Parser\n- c\n- risk: d\n\n## Insights\n- steering:\n- none:\n- none: no loop\n\n## role summary\n";
    // An unknown heading is refused even without text, because it may be a typo.
    assert!(
        refusal(text).contains("line 23: no section is called \"role summary\""),
        "{}",
        refusal(text)
    );
    let text = text.replace("## role summary\n", "## summary\n- s\n");
    let expected = [
        ("forward", "next"),
        ("threads", "a\n- b"),
        ("threads", "para"),
        ("threads", "risk: d"),
        ("threads", "Parser\n- c"),
        ("insight", "none: no loop"),
        ("summary", "s"),
    ];
    assert_eq!(notes(&text), expected.map(|(name, text)| (section(name), text.to_owned())));
    assert_eq!(notes(&text.replace('\n', "\r\n")), notes(&text));
    assert_eq!(notes(""), []);
}

#[test]
fn what_belongs_nowhere_is_named_by_its_line() {
    for (text, said) in [
        ("\n- a\n\n## Open Threads\n- b\n", "line 2 is not under a section heading (\"a\")"),
        ("## Open Threads\n- b\n\n## Ideas\n- c\n", "line 4: no section is called \"Ideas\""),
        ("# Ideas\n- c\n", "line 2 is not under a section"),
        ("## Git\n- abc123 a subject\n", "line 2: Git Commit Messages is written by brain-guard"),
        ("## Commits\n### more\n- x\n", "line 2: Git Commit Messages"),
        ("---\nrisk: x\n---\n## Risks\n- y\n", "line 1 is not under a section"),
        ("## Open Threads\r\n- a\r\n# Else\r\nx\r\n", "line 3: no section is called \"Else\""),
    ] {
        let refusal = refusal(text);
        assert!(refusal.starts_with(said), "{text:?}: {refusal}");
        assert!(
            refusal.contains("leave it out") || refusal.contains("Open Threads, Assumptions"),
            "{refusal}"
        );
    }
    // The form contains this heading itself.
    assert_eq!(notes("## Git Commit Messages\n"), []);
}

#[test]
fn notes_by_kind() {
    let shape = Shape::default();
    let notes = of_kind(&shape, "steering", Some("design"), "- a\n- ! b\n").expect("notes");
    let texts: Vec<_> = notes.iter().map(|note| (note.section, note.text.as_str())).collect();
    let insight = section("insight");
    assert_eq!(texts, [(insight, "steering: [design] a"), (insight, "! steering: [design] b")]);
    assert!(
        of_kind(&shape, "idea", None, "x")
            .expect_err("no kind")
            .to_string()
            .contains("kinds: next, assumption,")
    );
    let mut shape = shape;
    shape.routes.insert("commit".into(), "git".into());
    assert!(of_kind(&shape, "commit", None, "x").is_err(), "nobody writes commits by hand");
}

#[test]
fn sections_in_another_language_keep_their_roles() {
    let mut shape = Shape::default();
    shape.sections[1].name = "Offene Fäden".into();
    shape.sections[1].aliases.clear();
    for heading in ["OFFENE FÄDEN", "threads"] {
        let notes = read(&format!("## {heading}\n- a\n"), &shape).expect("a slice");
        assert_eq!(notes[0].section, 1, "{heading}");
    }
}
