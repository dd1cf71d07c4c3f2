//! One case per rule, and the fixtures.

use super::*;
use crate::compaction::{DEFAULT_TEMPLATE, append, close, count_words, gauge_words, template};

const MESSY: &str = include_str!("../../../../fixtures/compaction/messy-3000-words.md");
const GOOD: &str = include_str!("../../../../fixtures/compaction/small-good.md");
const TOO_BIG: &str = include_str!("../../../../fixtures/compaction/too-big-forward-state.md");

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).expect("in range")
}

#[derive(Default)]
struct With<'a> {
    theta: Option<usize>,
    summary: Option<&'a str>,
    inherited: &'a [&'a str],
    git: Option<&'a [Commit]>,
}

impl With<'_> {
    fn seal(&self, source: &str) -> Result<Sealed, Box<Refused>> {
        let shape = Shape::default();
        let document = parse(source, &shape);
        let came_over = |text: &str| self.inherited.iter().any(|part| text.contains(part));
        let inherited = document
            .entries()
            .filter(|entry| came_over(&entry.text))
            .map(|entry| entry.id)
            .collect();
        let limits = Limits { theta_words: self.theta.unwrap_or(2000), ..Limits::default() };
        let (summary, git, now) = (self.summary, self.git, at(1_800_000_000));
        seal(&Input {
            last_version: 0,
            replaces: &[],
            past: None,
            source,
            shape: &shape,
            job: "a job",
            limits,
            now,
            summary,
            inherited: &inherited,
            git,
        })
    }

    fn sealed(&self, source: &str) -> Sealed {
        self.seal(source).expect("small enough")
    }
}

fn sealed(source: &str) -> Sealed {
    With::default().sealed(source)
}

/// The entries of one section of a text.
fn entries(text: &str, section: &str) -> Vec<String> {
    let shape = Shape::default();
    let section = shape.find(section).expect("a section");
    parse(text, &shape).section(section).map(|entry| entry.text.clone()).collect()
}

fn removed(sealed: &Sealed, step: Step) -> Vec<&str> {
    sealed
        .removed
        .iter()
        .filter(|removed| removed.step == step)
        .map(|removed| removed.text.as_str())
        .collect()
}

#[test]
fn the_messy_file_comes_down_to_the_target() {
    let shape = Shape::default();
    let words = gauge_words(MESSY, &shape);
    assert!((2900..=3200).contains(&words), "{words}");
    let sealed = sealed(MESSY);
    assert_eq!((sealed.report.verdict, sealed.report.version), (Verdict::Sealed, 5));
    assert!(gauge_words(&sealed.text, &shape) < 1700, "{}", sealed.report);
    for step in [Step::Dedup, Step::Fold, Step::Summarize, Step::Shrink] {
        assert!(!removed(&sealed, step).is_empty(), "{step} took nothing out: {}", sealed.report);
    }
    assert!(sealed.text.contains("owner: payments\n"), "a key of somebody else's");
    assert!(
        sealed.text.contains("## Open Threads\n<!-- What is not finished"),
        "a prompt that was missing"
    );
    assert!(sealed.text.contains("<!-- scratch: ask about the sandbox key again -->\n"));
    let summary: usize =
        entries(&sealed.text, "summary").iter().map(|text| count_words(text)).sum();
    assert!(
        (150..=250).contains(&summary),
        "half of the slice is spared, though open work is over the target: {summary}"
    );
    assert!(
        entries(&sealed.text, "insight").iter().any(|text| text.starts_with("! Before any change"))
    );
    assert!(
        entries(&sealed.text, "risks").iter().any(|text| text.starts_with("none: no assumption"))
    );
    assert_eq!(sealed.text.matches("\n## ").count(), 6);
}

#[test]
fn a_good_file_loses_nothing() {
    let sealed = sealed(GOOD);
    assert_eq!((sealed.removed.len(), sealed.report.version), (0, 1));
    assert_eq!(sealed.removed_markdown, "");
    let thread = "The merge held the lock while it compressed; it compresses before now.";
    assert_eq!(
        entries(&sealed.text, "summary"),
        ["none: this is the first session.", &format!("[x] {thread}")]
    );
    assert_eq!(sealed.report.words_before, sealed.report.words_after);
}

#[test]
fn a_forward_state_too_big_is_the_agents_to_cut() {
    let refused = With::default().seal(TOO_BIG).expect_err("too big");
    assert_eq!((refused.reason, refused.report.verdict), (Reason::TooBig, Verdict::Refused));
    assert_eq!(refused.cut, refused.words - 1699);
    assert_eq!(refused.heaviest.len(), 5);
    assert_eq!(refused.heaviest[0].section, "Forward State");
    assert!(refused.heaviest.is_sorted_by_key(|heavy| std::cmp::Reverse(heavy.words)));
    let text = refused.to_string();
    assert!(
        text.contains(&format!("at least {} words", refused.cut))
            && text.contains(&refused.heaviest[0].id.to_string())
    );
    // Closing entries of as many words as the refusal asks for lets the seal pass.
    let shape = Shape::default();
    let (mut source, mut freed) = (TOO_BIG.to_owned(), 0);
    for heavy in refused.heaviest.iter().take_while(|heavy| {
        let more = freed < refused.cut;
        freed += heavy.words;
        more
    }) {
        source = close(&source, &shape, &heavy.id.to_string()).expect("named by the refusal");
    }
    assert_eq!(sealed(&source).report.verdict, Verdict::Sealed);
}

#[test]
fn a_new_file_seals_and_an_append_breaks_the_seal() {
    let shape = Shape::default();
    let new = template(DEFAULT_TEMPLATE, &shape, "x", at(0));
    let first = sealed(&new);
    assert_eq!((first.report.version, first.report.words_after), (1, 0));
    let again = sealed(&first.text);
    assert_eq!(
        (again.report.verdict, again.text.as_str()),
        (Verdict::AlreadySealed, first.text.as_str())
    );
    let appended = append(&first.text, &shape, "threads", "look again").expect("appended");
    assert_eq!(Stamp::check(&parse(&appended, &shape)), StampState::Broken);
    assert_eq!(sealed(&appended).report.version, 2);
}

#[test]
fn equal_entries_are_one_and_the_open_one_stays() {
    let text = "## Open Threads\n- [x] Fix the parser.\n- Fix  the parser\n## Process Insight\n- Fix the parser.\n";
    let sealed = sealed(text);
    assert_eq!(entries(&sealed.text, "threads"), ["Fix  the parser"]);
    assert_eq!(removed(&sealed, Step::Dedup), ["[x] Fix the parser.", "Fix the parser."]);
    let open = sealed.report.steps[1].removed[0].into.expect("one stands for it");
    assert!(
        sealed
            .report
            .to_string()
            .contains(&format!("removed from Open Threads ({open} replaces it): Fix the parser."))
    );
}

#[test]
fn the_same_answer_counts_in_each_section() {
    let text = "## Assumptions & Risks\n- none: nothing new\n- none: nothing new.\n## Process Insight\n- none: nothing new\n";
    let sealed = sealed(text);
    assert_eq!(
        (entries(&sealed.text, "risks").len(), entries(&sealed.text, "insight").len()),
        (1, 1)
    );
}

#[test]
fn the_fuller_of_two_stays_but_no_open_thread_goes_for_being_alike() {
    let text = "## Process Insight\n- run one test file first\n- run one test file first and then the suite\n\
                ## Open Threads\n- case a of the suite fails on the small runner after ten seconds\n\
                - case b of the suite fails on the small runner after ten seconds\n- case a of the suite fails\n";
    let sealed = sealed(text);
    assert_eq!(removed(&sealed, Step::Fold), ["run one test file first"]);
    assert_eq!(entries(&sealed.text, "threads").len(), 3, "each is closed by itself");
}

#[test]
fn stray_text_goes_home() {
    let text = "risk: before all\n## Random\n- a note\n- lesson: of this\n- ! keep me\n- [x] done with\n## Git\n- abc x\n\
                # forward state\n- why: open work stays\n- thread: open work may move where it is kept\n";
    let sealed = sealed(text);
    assert_eq!(entries(&sealed.text, "risks"), ["risk: before all"]);
    assert_eq!(entries(&sealed.text, "insight"), ["lesson: of this"]);
    let threads = ["! keep me", "Random\n- a note", "thread: open work may move where it is kept"];
    assert_eq!(entries(&sealed.text, "threads"), threads);
    assert_eq!(entries(&sealed.text, "forward"), ["why: open work stays"]);
    assert_eq!(entries(&sealed.text, "summary"), ["[x] done with"]);
    assert_eq!(entries(&sealed.text, "git"), ["abc x"]);
    assert_eq!(sealed.removed.len(), 0);
}

#[test]
fn open_stands_before_closed_and_pinned_first() {
    let text = "## Open Threads\n- a\n- ! b\n- [x] ! c\n- d\n";
    assert_eq!(entries(&sealed(text).text, "threads"), ["! b", "a", "d", "[x] ! c"]);
}

#[test]
fn what_is_closed_or_came_over_folds_into_the_summary() {
    let text = "## Forward State\n- [x] step one\n- step two came over\n## Open Threads\n- open came over\n## Process Insight\n\
                - old came over\n- new\n- ! pinned came over\n- none: came over\n## Prior Summary\n- older\n";
    let sealed = With {
        inherited: &["came over"],
        summary: Some("# Prior Summary\nThe newest.\n"),
        ..With::default()
    }
    .sealed(text);
    assert_eq!(
        entries(&sealed.text, "summary"),
        ["older", "old came over", "The newest.", "[x] step one"]
    );
    assert_eq!(entries(&sealed.text, "insight"), ["! pinned came over", "new"]);
    assert_eq!(removed(&sealed, Step::Summarize), ["none: came over"], "it answered for then");
    assert_eq!(entries(&sealed.text, "forward"), ["step two came over"]);
    assert_eq!(entries(&sealed.text, "threads"), ["open came over"]);
    let again = With { summary: Some("The newest."), ..With::default() }.sealed(&sealed.text);
    assert_eq!(again.report.verdict, Verdict::AlreadySealed);
}

#[test]
fn the_summary_keeps_to_its_slice() {
    // 25 % of 40 words.
    let text =
        "## Prior Summary\n- [x] one two three\n- four five six seven\n- ! eight\n- [x] nine ten\n";
    let with = With { theta: Some(40), summary: Some("eleven twelve thirteen"), ..With::default() };
    let summary = ["! eight", "four five six seven", "eleven twelve thirteen", "[x] nine ten"];
    let sealed = with.sealed(text);
    assert_eq!(entries(&sealed.text, "summary"), summary);
    assert_eq!(removed(&sealed, Step::Summarize), ["[x] one two three"]);
    let long = "word ".repeat(12);
    let sealed = With { theta: Some(40), summary: Some(&long), ..With::default() }.sealed(text);
    assert_eq!(
        entries(&sealed.text, "summary"),
        ["! eight", long.trim()],
        "the newest stays whatever its size"
    );
}

#[test]
fn a_file_shrinks_in_order_and_the_newest_go_last() {
    // The target is 8 of 20 words, the blocking size 17.
    let text = "## Forward State\n- a b\n## Assumptions & Risks\n- c d\n- e f\n## Process Insight\n- g h\n- i j\n- ! k l\n## Prior Summary\n- m n\n";
    let sealed = With { theta: Some(20), ..With::default() }.sealed(text);
    assert_eq!(removed(&sealed, Step::Shrink), ["g h", "c d", "e f"]);
    assert_eq!(sealed.report.words_after, 8);
    let more = text.replace("a b", "a b o p q r s t");
    let sealed = With { theta: Some(20), ..With::default() }.sealed(&more);
    assert_eq!(removed(&sealed, Step::Shrink), ["g h", "c d"]);
    assert_eq!(sealed.report.words_after, 16, "the target is out of reach");
    let more = text.replace("a b", "a b o p q r s t u v");
    let sealed = With { theta: Some(20), ..With::default() }.sealed(&more);
    assert_eq!(removed(&sealed, Step::Shrink), ["g h", "c d", "i j"], "the block band is not");
}

#[test]
fn commits_are_the_guards_and_keep_to_their_slice() {
    let commit = |hash: &str, subject: &str, body: &str| Commit {
        hash: hash.to_owned(),
        subject: subject.to_owned(),
        body: body.to_owned(),
    };
    let commits = [
        commit("aaa1111", "risk: newest", "with a body\n\n```\nleft open"),
        commit("bbb2222", "middle", "a body too long for what is left of the slice"),
        commit("ccc3333", "oldest", ""),
    ];
    // 15 % of 100 words.
    let with = With { theta: Some(100), git: Some(&commits), ..With::default() };
    let sealed = with.sealed("## Git Commit Messages\n- `ddd4444` gone\n- `ccc3333` oldest\n");
    let whole = "`aaa1111` risk: newest\n\nwith a body\n\n```\nleft open";
    assert_eq!(entries(&sealed.text, "git"), [whole, "`bbb2222` middle", "`ccc3333` oldest"]);
    assert_eq!(removed(&sealed, Step::Shrink), ["`ddd4444` gone"]);
    assert!(count_words(&render_commits(&commits, 15)) <= 15);
    assert_eq!(with.sealed(&sealed.text).report.verdict, Verdict::AlreadySealed);
    assert_eq!(
        With { git: Some(&commits[1..]), ..with }.sealed(&sealed.text).report.verdict,
        Verdict::Sealed
    );
    assert_eq!(sealed.report.words_after, 0, "the gauge does not count them");
}

#[test]
fn what_was_removed_can_be_read_back() {
    let text = "## Process Insight\n- the same words\n- the same words\n\n  with `more` below\n\
                - the same words\n- with more below the same words\n";
    let sealed = sealed(text);
    assert_eq!(
        sealed.removed_markdown,
        "# a job: removed by the seal of version 1\n\n## dedup: Process Insight\n\n- the same words\n\n\
         ## fold: Process Insight\n\n- the same words\n"
    );
    let json = serde_json::to_value(&sealed.report).expect("json");
    assert_eq!((&json["verdict"], &json["steps"][7]["step"]), (&"sealed".into(), &"verify".into()));
}

#[test]
fn a_shape_of_the_users_own_is_kept() {
    let shape: Shape = serde_json::from_str(
        r#"{"sections":[{"name":"Log"},{"name":"Todo","role":"threads","aliases":["To do"]}],"routes":{"log":"Log"}}"#,
    )
    .expect("settings");
    let (none, limits, now) = (BTreeSet::new(), Limits::default(), at(0));
    let source = "# j\nlog: stray\n\n### to do\n- [x] a\n";
    let input = Input {
        last_version: 0,
        replaces: &[],
        past: None,
        source,
        shape: &shape,
        job: "j",
        limits,
        now,
        summary: Some("new"),
        inherited: &none,
        git: Some(&[]),
    };
    let sealed = seal(&input).expect("small");
    assert!(
        sealed.text.ends_with("# j\n\n## Log\n\n- log: stray\n\n## Todo\n\n- new\n- [x] a\n"),
        "{}",
        sealed.text
    );
    let shape = Shape { sections: Vec::new(), ..shape.clone() };
    assert_eq!(
        seal(&Input { last_version: 0, shape: &shape, ..input }).expect_err("no section").reason,
        Reason::NoSections
    );
}

/// The Markdown parser continues a fenced block after a lone `\r` inside it.
#[test]
fn a_lone_carriage_return_tears_no_entry_apart() {
    let source = "# job\n\n## Forward State\n\n- run this first\n\n  ```sh\n  cargo\rtest\n  ## Open Threads\n  ```\n";
    let (sealed, shape) = (With::default().seal(source).expect("sealed"), Shape::default());
    let document = parse(&sealed.text, &shape);
    let entries: Vec<&str> = document.entries().map(|entry| entry.text.as_str()).collect();
    assert_eq!(entries, ["run this first\n\n```sh\ncargo test\n## Open Threads\n```"]);
    let mac = source.replace("cargo\r", "cargo ").replace('\n', "\r");
    let sealed = With::default().seal(&mac).expect("sealed");
    let document = parse(&sealed.text, &shape);
    assert_eq!(document.entries().count(), 1, "lines that end so everywhere are lines");
}

#[test]
fn a_question_lists_what_would_be_dropped_and_room_for_what_replaces_it() {
    let lesson =
        |n: usize| format!("- l{n}a l{n}b l{n}c l{n}d l{n}e l{n}f l{n}g l{n}h l{n}i l{n}j\n");
    let lessons: String = (0..6).map(lesson).collect();
    let source =
        format!("## Forward State\n- go on\n## Prior Summary\n{lessons}- [x] done with it\n");
    let (shape, none) = (Shape::default(), BTreeSet::new());
    let input = |summary, replaces| Input {
        // 50 of 60 words of open entries fit; the target is 80.
        limits: Limits { theta_words: 200, ..Limits::default() },
        source: &source,
        shape: &shape,
        job: "j",
        now: at(0),
        summary,
        replaces,
        inherited: &none,
        past: None,
        last_version: 0,
        git: None,
    };
    let first = input(None, &[]);
    let dropped = seal(&first).expect("small");
    let question = Question::for_seal(&first, &dropped, 0);
    assert_eq!((question.version, &question.next_step), (0, &None));
    let condense = question.condense.as_ref().expect("something goes");
    let listed: Vec<&str> = condense.entries.iter().map(|entry| &entry.text[..3]).collect();
    assert_eq!((listed, condense.words), (vec!["l0a", "l1a", "l2a"], 20));
    let ids = question.ids_to_condense();
    let answered = seal(&input(Some("the first three"), &ids)).expect("small");
    let kept = entries(&answered.text, "summary");
    assert_eq!(kept.len(), 5, "three lessons, the condensed entry, the closed one: {kept:?}");
    let out: Vec<&str> = removed(&answered, Step::Summarize);
    assert!(out.len() == 3 && out[0].starts_with("l0a"), "{out:?}");
    let again = Question::for_seal(&input(Some("the first three"), &ids), &answered, 0);
    assert!(again.is_empty(), "nothing else is dropped for it: {again:?}");
}
