//! What each layer may say, and what becomes of what it may not.

use super::*;
use crate::settings::{Mode, Profile};

fn file(text: &str) -> File {
    File { path: "/u/settings.json".into(), text: text.into() }
}

fn messages(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|d| d.message.as_str()).collect()
}

#[test]
fn later_layers_win_key_by_key() {
    let user = file(r#"{"tiers":{"coach":{"context":22}},"file":{"words":3000}}"#);
    let project = file(r#"{"file":{"words":1500}}"#);
    let env = Env::of([
        ("CLAUDE_PLUGIN_OPTION_PROFILE", "relaxed"),
        ("BRAIN_GUARD_SET_BOUNDARY__MAX_PER_HOUR", "3"),
    ]);
    let (settings, diagnostics) = merge(Some(&user), Some(&project), &env);
    assert_eq!(messages(&diagnostics), Vec::<&str>::new());
    assert_eq!(settings.profile, Profile::Relaxed);
    assert_eq!(settings.file.words, 1500);
    assert_eq!(settings.boundary.max_per_hour, 3);
    assert!((settings.ramp(967_000).tiers()[0].context - 22.0).abs() < 1e-9);
}

#[test]
fn bad_keys_are_named_by_file_line_and_key_and_the_rest_stands() {
    let user = file(
        "{\n \"mode\": \"shadow\",\n \"colour\": 1,\n \"file\": {\n  \"words\": \"many\"\n }\n}",
    );
    let (settings, diagnostics) = merge(Some(&user), None, &Env::of([]));
    assert_eq!(settings.mode, Mode::Shadow);
    assert_eq!(settings.file.words, 2000);
    let said = messages(&diagnostics).join("\n");
    assert!(said.contains("/u/settings.json:3: \"colour\": unknown field"), "{said}");
    assert!(said.contains("/u/settings.json:5: \"file.words\": invalid type"), "{said}");
}

#[test]
fn half_a_file_is_one_message() {
    let (settings, diagnostics) = merge(Some(&file("{\"mode\": \"of")), None, &Env::of([]));
    assert_eq!(settings, Settings::default());
    let said = messages(&diagnostics).join("\n");
    assert!(said.starts_with("/u/settings.json:1:12: not JSON"), "{said}");
}

#[test]
fn a_project_cannot_write_its_way_around_that() {
    for text in [
        r#"{"boundary":["command","hook",["/p/run.sh"]]}"#,
        r#"{"boundary":{"carrier":{"command":null}}}"#,
        r#"{"mode":{"off":null}}"#,
        r#"{"headless":{"off":null}}"#,
        r#"{"context":[20000]}"#,
        r#"{"profile":{"relaxed":null}}"#,
        r#"{"bands":{"Bash":{"control":null}}}"#,
        r#"{"tiers":{"narrow":[99,199,[]]}}"#,
    ] {
        let (settings, diagnostics) = merge(None, Some(&file(text)), &Env::of([]));
        assert_eq!(settings, Settings::default(), "{text}");
        assert_eq!(diagnostics.len(), 1, "{text}: {:?}", messages(&diagnostics));
    }
    let user = file(r#"{"tiers":{"mine":{"context":1,"file":9,"blocks":["shell"]}}}"#);
    for text in [r#"{"tiers":{"mine":{"context":null}}}"#, r#"{"tiers":{"mine":{"blocks":[]}}}"#] {
        let (settings, _) = merge(Some(&user), Some(&file(text)), &Env::of([]));
        assert_eq!(settings, merge(Some(&user), None, &Env::of([])).0, "{text}");
    }
    let (_, diagnostics) =
        merge(None, Some(&file(r#"{"boundary":{}, "tiers":{"narrow":{}}}"#)), &Env::of([]));
    assert_eq!(messages(&diagnostics), Vec::<&str>::new());
}

#[test]
fn a_project_may_lower_a_figure_but_not_raise_it() {
    let project = file(
        r#"{"file":{"words":1500},"coach":{"shell_chars":90000,"reread_lines":50},
            "bands":{"Read":"write","Bash":"read"},"boundary":{"give_up_seconds":1}}"#,
    );
    let (settings, diagnostics) = merge(None, Some(&project), &Env::of([]));
    assert_eq!(diagnostics.len(), 3, "{:?}", messages(&diagnostics));
    assert_eq!((settings.file.words, settings.coach.reread_lines), (1500, 50));
    assert_eq!((settings.coach.shell_chars, settings.boundary.give_up_seconds), (4000, 600));
    assert_eq!(settings.bands.len(), 1);
}

#[test]
fn a_project_may_only_tighten() {
    let project = file(
        r#"{"mode":"off","tiers":{"coach":{"context":15},"narrow":{"context":99,"blocks":[]}},"headless":"off"}"#,
    );
    let (settings, diagnostics) = merge(None, Some(&project), &Env::of([]));
    assert_eq!(diagnostics.len(), 4, "{:?}", messages(&diagnostics));
    assert_eq!(settings.mode, Mode::On);
    let ramp = settings.ramp(967_000);
    assert!((ramp.tiers()[0].context - 15.0).abs() < 1e-9);
    assert!((ramp.tiers()[2].context - 30.0).abs() < 1e-9);
}
