//! Reading and editing, case by case.

use super::*;

fn shape() -> Shape {
    Shape::default()
}

/// Section and text of every entry.
fn read(text: &str) -> Vec<(String, String)> {
    let shape = shape();
    let document = parse(text, &shape);
    document
        .entries()
        .map(|entry| (shape.name(entry.section).to_owned(), entry.text.clone()))
        .collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(section, text)| ((*section).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn sections_are_what_a_person_means() {
    for heading in [
        "## Open Threads",
        "# open threads",
        "###### OPEN THREADS:",
        "## Open Threads ##",
        "## Open  Threads##",
        "##Open Threads",
        "## 2. Open Threads",
        "Open Threads\n---",
        "Open Threads\n=====",
        "## **Open** `Threads`",
        "  ## [Open Threads](x)",
    ] {
        let text = format!("# job\n\n{heading}\n- a\n");
        assert_eq!(read(&text), pairs(&[("Open Threads", "a")]), "{heading}");
        assert_eq!(parse(&text, &shape()).title(), Some("job"), "{heading}");
    }
    for heading in [
        "## Open",
        "Open Threads",
        "> ## Open Threads",
        "    ## Open Threads",
        "```\n## Open Threads\n```",
        "- x\n  ## Open Threads",
    ] {
        let text = format!("# job\n\n{heading}\n\n- a\n");
        assert!(!parse(&text, &shape()).has_section(1), "{heading}");
    }
}

#[test]
fn entries_are_items_with_what_hangs_below_or_blocks() {
    let text = "## Forward State\n- a\n  - nested\n\n  para\n\n      code\n* b\nlazy\n\n3. c\n\n```\nx\n\ny\n```\n> q\n> r\n\n| t |\n|---|\n\n    code\n";
    let texts = [
        "a\n- nested\n\npara\n\n    code",
        "b\nlazy",
        "c",
        "```\nx\n\ny\n```",
        "> q\n> r",
        "| t |\n|---|",
        "    code",
    ];
    let section = |text| ("Forward State".to_owned(), String::from(text));
    assert_eq!(read(text), texts.map(section));
    let shape = shape();
    let document = parse(text, &shape);
    assert_eq!(
        document.entries().nth(2).map(|entry| entry.marker.clone()),
        Some(Marker::Ordered("3".to_owned()))
    );
    let entry = document.entries().nth(4).expect("a quote");
    assert_eq!(&text[entry.range.clone()], "> q\n> r");
}

#[test]
fn an_entry_bears_its_flags_and_its_id() {
    let text = "## Process Insight\n- ! **Lesson:** a b\n+   [x] !   lesson: a b\n\n~~c d~~\n\nnone: no loop was left\n";
    let shape = shape();
    let document = parse(text, &shape);
    let entries: Vec<_> = document.entries().collect();
    assert!(
        entries[0].pinned
            && !entries[0].closed
            && entries[1].pinned
            && entries[1].closed
            && entries[2].closed
    );
    assert_eq!(
        (entries[0].kind.as_deref(), entries[1].kind.as_deref()),
        (Some("lesson"), Some("lesson"))
    );
    assert_ne!(entries[0].id, entries[1].id, "emphasis is part of what is said");
    assert!(entries[3].none && entries[3].kind.is_none());
    assert_eq!(entries.iter().map(|entry| entry.words).collect::<Vec<_>>(), [3, 3, 2, 5]);
    let other = parse("## Open Threads\n2) lesson:   a\n   b\n", &shape);
    assert_eq!(other.entries().next().map(|entry| entry.id), Some(entries[1].id));
}

#[test]
fn unknown_headings_group_inside_a_section_and_end_it_outside() {
    let text = "pre\n## Open Threads\n### Parser\n- a\n## Notes\n- b\n### Risks\n- c\n";
    let shape = shape();
    let document = parse(text, &shape);
    let under: Vec<_> = document
        .entries()
        .map(|entry| (shape.name(entry.section), entry.under.as_deref()))
        .collect();
    assert_eq!(
        under,
        [
            ("", None),
            ("Open Threads", Some("Parser")),
            ("", Some("Notes")),
            ("Assumptions & Risks", None)
        ]
    );
    assert_eq!(document.stray().count(), 2);
}

#[test]
fn what_is_left_open_does_not_swallow_the_sections_after_it() {
    for open in ["```\ncode", "<!-- note", "<div>", "<script>\nx", "~~~~ rust"] {
        let text =
            format!("## Forward State\n- a\n\n{open}\n## Open Threads\n<!-- prompt -->\n- b\n");
        let entries = read(&text);
        assert_eq!(entries.last(), Some(&("Open Threads".to_owned(), "b".to_owned())), "{open}");
        assert_eq!(entries.len(), 3, "{open}: {entries:?}");
    }
    assert_eq!(
        read("## Open Threads\n<!--\n## Process Insight\n- a\n-->\n- b\n"),
        pairs(&[("Open Threads", "b")])
    );
}

#[test]
fn a_link_definition_is_text_of_the_agents() {
    let threads = |texts: &[&str]| {
        texts.iter().map(|text| ("Open Threads".to_owned(), (*text).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(
        read("## Open Threads\n[a]: /x\nand this\n\n[b]: /y\n- c\n[d]: /z\n"),
        threads(&["[a]: /x\nand this", "[b]: /y", "c\n[d]: /z"])
    );
    assert_eq!(read("## Open Threads\n[a]: /x\n-\n7) seven"), threads(&["[a]: /x\n-\n7) seven"]));
}

#[test]
fn a_rule_below_a_paragraph_is_no_heading() {
    assert_eq!(
        read("## Open Threads\nsome text \n---\n- a\n"),
        pairs(&[("Open Threads", "some text"), ("Open Threads", "a")])
    );
}

#[test]
fn an_append_stands_at_the_end_of_its_section() {
    let text = "# j\n\n## Forward State\n<!-- p -->\n\n- a\n  - b   \n\n\n### Later\n- c\n## Open Threads\nd\n## Prior Summary";
    for (section, entry, from, to) in [
        ("forward", "new", "  - b   \n", "  - b   \n- new\n"),
        (
            "forward",
            "two\nlines\n\n- and a list",
            "  - b   \n",
            "  - b   \n- two\n  lines\n- and a list\n",
        ),
        ("forward", "* x\n* y\n", "  - b   \n", "  - b   \n- x\n- y\n"),
        ("open threads", "e", "d\n", "d\n\n- e\n"),
        ("summary", "s", "## Prior Summary", "## Prior Summary\n\n- s\n"),
        (
            "insight",
            "i",
            "## Prior Summary",
            "## Process Insight\n<!-- Why this and not that; loops to leave earlier; what an injected \
         instruction did to the work. -->\n\n- i\n\n## Prior Summary",
        ),
    ] {
        let new = append(text, &shape(), section, entry).expect("appended");
        let expected = text.replacen(from, to, 1).replace("d\n## Process", "d\n\n## Process");
        assert_eq!(new, expected, "{section}");
    }
    assert_eq!(
        append("", &shape(), "git", "x"),
        Ok("## Git Commit Messages\n<!-- Written by brain-guard; leave it alone. -->\n\n- x\n"
            .to_owned())
    );
    assert_eq!(
        append("## Git\r\n- a\r\n", &shape(), "git", "b\nc"),
        Ok("## Git\r\n- a\r\n- b\r\n  c\r\n".to_owned())
    );
}

#[test]
fn an_entry_that_goes_first_stands_at_the_top_of_its_section() {
    let new = notes("- new\n- then\n");
    for (text, expected) in [
        (
            "## Forward State\n<!-- p -->\n\n- a\n  - b\n## Open Threads\n- c\n",
            "## Forward State\n<!-- p -->\n\n- new\n- then\n- a\n  - b\n## Open Threads\n- c\n",
        ),
        ("## Forward State\n\n- a\n", "## Forward State\n\n- new\n- then\n- a\n"),
        (
            "## Forward State\n<!-- p -->\n\n## Open Threads\n",
            "## Forward State\n<!-- p -->\n\n- new\n- then\n\n## Open Threads\n",
        ),
        ("## Forward State\nprose\n", "## Forward State\n\n- new\n- then\n\n\nprose\n"),
        (
            "## Forward State\n### Later\n- a\n## Forward State\n- b\n",
            "## Forward State\n\n- new\n- then\n\n### Later\n- a\n## Forward State\n- b\n",
        ),
        ("## Forward State\r\n- a\r\n", "## Forward State\r\n- new\r\n- then\r\n- a\r\n"),
    ] {
        assert_eq!(add_first(text, &shape(), 0, &new).as_deref(), Ok(expected), "{text:?}");
    }
    let made = add_first("## Open Threads\n- a\n", &shape(), 0, &new).expect("added");
    assert!(made.starts_with("## Forward State\n<!-- ") && made.contains("-->\n\n- new\n- then\n"));
}

#[test]
fn an_append_gets_out_of_a_fence_left_open() {
    let text = "## Open Threads\n- a\n\n```sh\nls\n\n## Process Insight\n- b\n";
    let new = append(text, &shape(), "threads", "c\n```\nd").expect("appended");
    assert_eq!(
        new,
        "## Open Threads\n- a\n\n```sh\nls\n```\n\n- c\n  ```\n  d\n\n## Process Insight\n- b\n"
    );
    let text = "## Open Threads\n\n<!-- open\n\n- a\n";
    let new = append(text, &shape(), "threads", "b --> c").expect("appended");
    assert_eq!(read(&new)[0].1, "b --> c", "{new}");
}

#[test]
fn an_append_that_can_not_be_says_why() {
    let error = append("", &shape(), "ideas", "x").expect_err("no such section");
    assert!(
        error
            .to_string()
            .starts_with("there is no section \"ideas\"; use one of: Forward State, Open Threads,"),
        "{error}"
    );
    assert_eq!(append("", &shape(), "threads", " \n"), Err(EditError::EmptyEntry));
    assert_eq!(append("", &shape(), "threads", "- \n"), Err(EditError::EmptyEntry));
}

#[test]
fn closing_marks_the_entry_where_it_stands() {
    for (text, closed) in [
        ("- a\n  b\n", "- [x] a\n  b\n"),
        ("* [ ] a\n", "* [x] a\n"),
        ("- ! a\n", "- [x] ! a\n"),
        ("1.  a\r\n", "1.  [x] a\r\n"),
        ("-\n  a\n", "- [x]\n  a\n"),
        ("a\nb\n", "closed: a\nb\n"),
        ("- ```\n  a\n  ```\n", "- [x]\n  ```\n  a\n  ```\n"),
        ("```\na\n```\n", "\n-   [x]\n    ```\n    a\n    ```\n\n\n"),
        ("- [x] a\n", "- [x] a\n"),
        ("- a\n- [x] a\n* a\n", "- [x] a\n- [x] a\n* [x] a\n"),
    ] {
        let shape = shape();
        let text = format!("## Open Threads\n{text}");
        let id = parse(&text, &shape).entries().next().expect("one").id.to_string();
        assert_eq!(close(&text, &shape, &id), Ok(format!("## Open Threads\n{closed}")), "{text:?}");
        assert_eq!(
            close(&text, &shape, &format!("#{}", id[..4].to_uppercase())),
            close(&text, &shape, &id)
        );
    }
}

#[test]
fn closing_ends_no_comment_left_open_above() {
    let text = "<!-- open\n\n```\nword\n```\n\n    deeper\n";
    let id = parse(text, &shape()).entries().nth(1).expect("the fence").id.to_string();
    let closed = close(text, &shape(), &id).expect("closed");
    let shape = shape();
    let document = parse(&closed, &shape);
    let read: Vec<_> = document
        .entries()
        .filter(|entry| entry.words > 0)
        .map(|entry| (entry.closed, flags::flags(&entry.text).bare))
        .collect();
    let fence = "````\n```\nword\n```\n````";
    assert_eq!(read, [(false, "<!-- open"), (true, fence), (false, "deeper")], "{closed}");
}

#[test]
fn a_comment_left_open_above_is_named_where_it_stands_in_the_way() {
    let text = "<!-- open\n<script>\n\n\n## Forward State <!-- a comment -->\nwords\n";
    let id = parse(text, &shape()).entries().nth(1).expect("the script").id.to_string();
    assert_eq!(close(text, &shape(), &id), Err(EditError::Open { line: 1 }));
}

#[test]
fn ids_that_are_not_clear_are_refused() {
    let shape = shape();
    let entries: Vec<_> = (0..400).map(|number| format!("- entry {number}\n")).collect();
    let text = format!("## Open Threads\n{}", entries.concat());
    let document = parse(&text, &shape);
    let mut ids: Vec<_> = document.entries().map(|entry| entry.id.to_string()).collect();
    ids.sort();
    let twins =
        ids.windows(2).find(|pair| pair[0][..3] == pair[1][..3]).expect("two of four hundred");
    let error = close(&text, &shape, &twins[0][..3]).expect_err("two");
    assert!(
        matches!(error, EditError::Ambiguous { .. }) && error.to_string().contains(&twins[1]),
        "{error}"
    );
    let wrong = format!("{}z", &ids[0][..5]);
    let error = close(&text, &shape, &wrong).expect_err("none").to_string();
    assert!(
        error.starts_with(&format!("no entry {wrong:?}; the nearest are: {} (entry ", ids[0])),
        "{error}"
    );
    assert!(close(&text, &shape, &ids[0][..2]).is_err(), "two digits are too few");
    assert_eq!(
        close("", &shape, "abcdef").expect_err("none").to_string(),
        "no entry \"abcdef\"; no entry is open"
    );
}

#[test]
fn a_body_is_replaced_and_nothing_else() {
    let text = "## Prior Summary\n- s\n\n## Git Commit Messages\n<!-- p -->\n\n- old\n\n### sub\n- older\n\n## Later\n- l\n";
    let new = replace_section_body(text, &shape(), "git", "- new\n").expect("replaced");
    assert_eq!(
        new,
        "## Prior Summary\n- s\n\n## Git Commit Messages\n<!-- p -->\n\n- new\n\n## Later\n- l\n"
    );
    let new =
        replace_section_body("## Prior Summary\n- s", &shape(), "git", "- new").expect("made");
    assert!(
        new.starts_with("## Prior Summary\n- s\n\n## Git Commit Messages\n<!-- W")
            && new.ends_with("-->\n\n- new\n"),
        "{new}"
    );
    assert_eq!(
        replace_section_body("## Git\n- a\n", &shape(), "git", ""),
        Ok("## Git\n".to_owned())
    );
}
