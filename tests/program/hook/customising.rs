//! The worked examples of `docs/customising.md` behave as the page says.

use std::fs;
use std::path::Path;

use guard::settings::{Profile, Settings};
use serde_json::{Value, json};

use crate::support::hook::{Hook, LIMIT, percent_in};

/// The page's examples with their headings.
fn examples() -> Vec<(String, Value)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/customising.md");
    let text = fs::read_to_string(path).expect("the page");
    let mut found = Vec::new();
    for section in text.split("\n## ").skip(1) {
        let heading = section.lines().next().expect("heading");
        for block in section.split("```json\n").skip(1) {
            let block = block.split("```").next().expect("block");
            let value = serde_json::from_str(block).unwrap_or_else(|e| panic!("{heading}: {e}"));
            found.push((heading.to_owned(), value));
        }
    }
    found
}

fn example(heading: &str) -> Value {
    let all = examples();
    let found = all.into_iter().find(|(name, _)| name.starts_with(heading));
    found.unwrap_or_else(|| panic!("no example {heading}")).1
}

fn with_example(heading: &str) -> Hook {
    let hook = Hook::new();
    hook.settings(&example(heading));
    hook.begin();
    hook
}

fn edit(hook: &Hook) -> String {
    hook.pre("Edit", &json!({"file_path": "src/x.rs", "old_string": "a", "new_string": "b"}))
        .verdict()
}

/// Which of a read, a shell command and an edit are denied.
fn blocked(hook: &Hook) -> Vec<&'static str> {
    let calls = [
        ("read", hook.read().verdict()),
        ("shell", hook.bash("ls").verdict()),
        ("write", edit(hook)),
    ];
    calls.into_iter().filter(|(_, verdict)| verdict == "deny").map(|(band, _)| band).collect()
}

#[test]
fn the_settings_in_the_readme_are_accepted_without_a_fault() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = fs::read_to_string(path).expect("the page");
    let block = text.split("\n    {\n").nth(1).expect("settings").split("\n    }\n").next();
    let value: Value =
        serde_json::from_str(&format!("{{{}}}", block.expect("its end"))).expect("JSON");
    let hook = Hook::new();
    hook.settings(&value);
    let check = hook.raw(&["settings", "check"], b"");
    assert_eq!(check.code, Some(0), "{check:?}");
    for (key, value) in value.as_object().expect("an object") {
        assert!(check.stdout.contains(key.as_str()), "{key} {value}: {check:?}");
    }
}

/// The documentation of the tiers gives the defaults.
#[test]
fn the_pages_give_the_default_tiers() {
    let percents = |profile, limit| -> Vec<String> {
        let ramp = Settings { profile, ..Settings::default() }.ramp(limit);
        ramp.tiers().iter().map(|tier| tier.context.to_string()).collect()
    };
    let (long, short) = (percents(Profile::Auto, LIMIT), percents(Profile::Auto, 167_000));
    let [all, small, relaxed] =
        [&long, &short, &percents(Profile::Relaxed, LIMIT)].map(|tiers| tiers.join(" / "));
    let listed = |tiers: &[String]| format!("{}, {} and {} %", tiers[0], tiers[1], tiers[2]);
    for (page, says) in [
        ("README.md", format!("({} % of a long context, {} % of a small one)", long[0], short[0])),
        ("README.md", format!("**Block reads** ({} % / {} %)", long[1], short[1])),
        ("README.md", format!("**Narrow** ({} % / {} %)", long[2], short[2])),
        ("docs/settings.md", format!("tiers at {all} % from 500,000 tokens on, {small} % below")),
        ("docs/settings.md", format!("`relaxed`: {relaxed} %")),
        ("docs/getting-started.md", format!("the tiers are at {}", listed(&long))),
        ("docs/getting-started.md", format!("on smaller ones at {}", listed(&short))),
        ("docs/customising.md", format!("({all} % from 500,000 tokens on, {small} % below)")),
        ("docs/ramps.svg", format!("context: {all} %")),
        ("templates/settings.schema.json", format!("\"{all} where the limit is")),
        ("templates/settings.schema.json", format!("\"{relaxed} where the limit is")),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let text = fs::read_to_string(path).expect("the page");
        assert!(text.contains(&says), "{page} does not say: {says}");
    }
}

#[test]
fn every_example_is_accepted() {
    let examples = examples();
    assert_eq!(examples.len(), 5, "{:?}", examples.iter().map(|e| &e.0).collect::<Vec<_>>());
    for (heading, settings) in examples {
        let hook = Hook::new();
        hook.settings(&settings);
        let answer = hook.raw(&["settings", "check", "--json"], b"");
        assert_eq!(answer.code, Some(0), "{heading}: {answer:?}");
        let set = answer.json()["set"].clone();
        assert!(!set.as_array().expect("list").is_empty(), "{heading}: {set}");
        fs::write(hook.project.join("one.json"), settings.to_string()).expect("file");
        let alone = hook.raw(&["settings", "check", "one.json"], b"");
        assert_eq!(alone.code, Some(0), "{heading}: {alone:?}");
    }
}

#[test]
fn a_fourth_tier_blocks_the_shell_before_edits() {
    let hook = with_example("A fourth tier");
    for (percent, expected) in [
        (24.9, &[][..]),
        (25.1, &["read"]),
        (27.1, &["read", "shell"]),
        (30.1, &["read", "shell", "write"]),
    ] {
        hook.fill(percent);
        assert_eq!(blocked(&hook), expected, "{percent}");
    }
    assert!(hook.bash("brain-guard status").verdict() == "allow");
}

#[test]
fn a_citation_section_takes_notes_up_to_its_slice() {
    let hook = with_example("A section of your own");
    hook.fill(percent_in("block-reads"));
    let reason = hook.read().reason();
    assert!(reason.contains("citation (Citation State)"), "{reason}");
    let wrote =
        hook.agent("brain-guard append --kind citation '! Smith 2019, p. 4: read, not quoted'");
    assert!(wrote.stdout.starts_with("added to Citation State: "), "{wrote:?}");
    let source = |n: usize| (0..10).map(|k| format!("word{n}x{k}")).collect::<Vec<_>>().join(" ");
    let list = (0..50).map(source).collect::<Vec<_>>().join("\n- ");
    let wrote = hook.agent(&format!("brain-guard append --kind citation <<'EOF'\n- {list}\nEOF"));
    assert_eq!(wrote.code, Some(0), "{wrote:?}");
    hook.agent("brain-guard append --kind thread 'the bibliography is unsorted'");
    let sealed = hook.agent("brain-guard seal --no-clear");
    assert_eq!(sealed.code, Some(0), "{sealed:?}");
    let text = fs::read_to_string(hook.file()).expect("file");
    let section = text.split("## Citation State\n").nth(1).expect("section");
    let section = section.split("\n## ").next().expect("its end");
    // 15 % of 2,000 words.
    let kept = section.matches("x9").count();
    assert!((25..=29).contains(&kept), "{kept}: {section}");
    assert!(section.contains("Smith 2019"), "pinned: {section}");
    assert!(text.contains("the bibliography is unsorted"));
}

#[test]
fn german_sections_work() {
    let hook = with_example("Sections in German");
    hook.fill(percent_in("narrow"));
    let reason = hook.read().reason();
    for part in ["risk (Annahmen und Risiken)", "why (Erkenntnisse zum Vorgehen)"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    hook.agent("brain-guard append --kind risk 'der Zwischenspeicher wird nie geleert'");
    let sealed = hook.agent("brain-guard seal --no-clear --summary 'die alte API blättert nicht'");
    assert_eq!(sealed.code, Some(0), "{sealed:?}");
    let text = fs::read_to_string(hook.file()).expect("file");
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(at("## Annahmen und Risiken") < at("- der Zwischenspeicher wird nie geleert"));
    assert!(at("## Bisheriges") < at("die alte API blättert nicht"));
    assert!(!text.contains("Forward State"), "{text}");
}

#[test]
fn hotter_cycles_block_earlier() {
    let hook = with_example("Hotter cycles");
    for (percent, expected) in
        [(21.9, &[][..]), (22.1, &["read"]), (27.1, &["read", "shell", "write"])]
    {
        hook.fill(percent);
        assert_eq!(blocked(&hook), expected, "{percent}");
    }
    assert_eq!(hook.raw(&["status", "--json"], b"").json()["file"]["limit"], 1200);
}

#[test]
fn the_reflection_example_adds_steps_at_phase_exit() {
    let hook = with_example("More reflection");
    let entered = hook.agent("brain-guard phase enter review");
    assert!(entered.stdout.contains("Read the tests before the code."), "{entered:?}");
    let slice = |insights: &[&str]| {
        let insights = insights.join("\n- ");
        hook.agent(&format!(
            "brain-guard phase exit <<'EOF'\n## Forward State\n- next: the lexer\n## Open Threads\n\
             - none: nothing\n## Assumptions & Risks\n- the feed is sorted\n## Process Insight\n\
             - {insights}\n- steering: the text kept me from a rewrite\nEOF"
        ))
    };
    let refused = slice(&["tests first showed the gap"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let text = refused.stdout + &refused.stderr;
    assert!(text.contains("Process Insight") && text.contains('3'), "{text}");
    let left =
        slice(&["tests first showed the gap", "two readers disagreed", "names mislead here"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert_eq!(hook.agent("brain-guard phase enter other").code, Some(0));
}
