use super::*;
use testing::at;

fn phase(name: &str, from: &str, to: &str) -> Phase {
    Phase { name: name.into(), from: at(from), to: (!to.is_empty()).then(|| at(to)) }
}

#[test]
fn an_id_is_read_from_wherever_it_may_stand() {
    for (text, id) in [
        ("---\ntitle: x\nid: console-work\n---\n# Anything\n", "console-work"),
        ("---\nengagement: \"console-work\"  # the console\n---\n", "console-work"),
        ("---\nengagement_id: 'Console.Work_2'\n---\n", "Console.Work_2"),
        ("\u{feff}# Engagement: console-work\n", "console-work"),
        ("# Engagement — Console work, part 2!\n", "console-work-part-2"),
        ("Some words\n\n# **Console** `work`\n", "console-work"),
        ("# The console\n\n- **ID:** console-work\n- started: 2026\n", "console-work"),
        ("# The console\n\nEngagement ID: `console-work`\n", "console-work"),
    ] {
        assert_eq!(parse(text).map(|e| e.id), Ok(id.to_owned()), "{text}");
    }
}

#[test]
fn phases_are_read_from_tables_and_lists() {
    let table = "# Engagement: x\n\n## Phase history\n\n| phase | from | to |\n|---|---|---|\n\
        | design | 2026-03-19T10:00Z | 2026-03-20T09:00Z |\n\
        | **build** | 2026-03-20 11:00 +01:00 | |\n\
        | review | 2026-03-22T08:00Z | ongoing |\n| ship | | |\n";
    let list = "# x\n\n## Phases\n\nIn order:\n\n- design: 2026-03-19 10:00 → 2026-03-20 09:00\n\
        - `build` (since 2026-03-20T10:00Z)\n1. 2026-03-22T08:00Z – now: review\n- [ ] ship\n";
    let expected = [
        phase("design", "2026-03-19T10:00Z", "2026-03-20T09:00Z"),
        phase("build", "2026-03-20T10:00Z", "2026-03-22T08:00Z"),
        phase("review", "2026-03-22T08:00Z", ""),
    ];
    assert_eq!(parse(table).unwrap().phases, expected);
    let listed = parse(list).unwrap();
    assert_eq!(listed.phases, expected);
    assert_eq!(listed.unzoned, [7]);
    let columns = "# x\n## Phase log\n| entered | left | phase | who |\n|:--|--:|---|---|\n\
        | 2026-03-19T10:00Z | 2026-03-20T09:00Z | design | ann |\n";
    assert_eq!(parse(columns).unwrap().phases, expected[..1]);
}

#[test]
fn days_count_whole_and_end_when_the_next_phase_begins() {
    let text = "# x\n## Phases\n- b: 2026-03-20 - 2026-03-21\n- a: 2026-03-19 - 2026-03-20\n\
        - c: from 2026-03-21T12:00Z to 2026-03-21\n";
    let expected = [
        phase("a", "2026-03-19", "2026-03-20"),
        phase("b", "2026-03-20", "2026-03-21T12:00Z"),
        phase("c", "2026-03-21T12:00Z", "2026-03-22"),
    ];
    assert_eq!(parse(text).unwrap().phases, expected);
}

#[test]
fn what_stands_elsewhere_is_no_phase() {
    let text = "# x\n\n| a | 2026-99-99 |\n|---|---|\n\n## Phases\n\n```\n- a: 2026-99-99\n```\n\n\
        A word on 2026-03-19.\n\n## Notes\n- b: 2026-03-19\n";
    assert_eq!(parse(text).unwrap().phases, []);
}

#[test]
fn errors_name_the_line() {
    for (text, error) in [
        ("", "line 1: no id: write `id: console-work`"),
        ("no heading\n", "line 1: no id"),
        (
            "---\ntitle: x\nid: console work\n---\n",
            "line 3: \"console work\" is not an engagement's id",
        ),
        ("\n# !!!\n", "line 2: the heading \"!!!\" gives no id"),
        (
            "# x\n## Phases\n- a: 2026-03-19\n- b: 2026-02-30\n",
            "line 4: \"2026-02-30\" is not a time",
        ),
        (
            "# x\n## Phases\n- a: 2026-03-19T10:00Z – 2026-03-18\n",
            "line 3: the phase \"a\" ends before",
        ),
        ("# x\n## Phases\n- 2026-03-19\n", "line 3: the phase has no name"),
        (
            "# x\n## Phases\n- a: 2026-03-19\n- b: 2026-03-19\n",
            "line 3: the phase \"a\" begins when",
        ),
    ] {
        let found = parse(text).unwrap_err().to_string();
        assert!(found.starts_with(error), "{text}: {found}");
    }
}
