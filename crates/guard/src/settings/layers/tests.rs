//! What each layer may set, and the errors for what it may not.

use super::*;
use crate::settings::{Mode, Profile};
use base::env::Env;

fn file(text: &str) -> File {
    File { path: "/u/settings.json".into(), text: Ok(text.into()) }
}

fn messages(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|d| d.message.as_str()).collect()
}

#[test]
fn later_layers_win_key_by_key() {
    let user = file(r#"{"tiers":{"coach":{"context":22}},"file":{"words":3000}}"#);
    let project = file(r#"{"file":{"words":1500}}"#);
    let env = Env::from_pairs([
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
    let user =
        file("{\n \"shadow\": true,\n \"colour\": 1,\n \"file\": {\n  \"words\": \"many\"\n }\n}");
    let (settings, diagnostics) = merge(Some(&user), None, &Env::from_pairs([]));
    assert!(settings.shadow);
    assert_eq!(settings.file.words, 2000);
    let said = messages(&diagnostics).join("\n");
    assert!(said.contains("/u/settings.json:3: \"colour\": unknown field"), "{said}");
    assert!(said.contains("/u/settings.json:5: \"file.words\": invalid type"), "{said}");
}

#[test]
fn half_a_file_is_one_message() {
    let (settings, diagnostics) = merge(Some(&file("{\"mode\": \"of")), None, &Env::from_pairs([]));
    assert_eq!(settings, Settings::default());
    let said = messages(&diagnostics).join("\n");
    assert!(said.starts_with("/u/settings.json:1:12: not JSON"), "{said}");
}

#[test]
fn a_project_cannot_write_its_way_around_that() {
    for text in [
        r#"{"boundary":["command","hook",["/p/run.sh"]]}"#,
        r#"{"boundary":{"carrier":{"command":null}}}"#,
        r#"{"extract":{"enabled":false}}"#,
        r#"{"mode":{"off":null}}"#,
        r#"{"headless":{"off":null}}"#,
        r#"{"context":[20000]}"#,
        r#"{"profile":{"relaxed":null}}"#,
        r#"{"bands":{"Bash":{"control":null}}}"#,
        r#"{"tiers":{"narrow":[99,199,[]]}}"#,
    ] {
        let (settings, diagnostics) = merge(None, Some(&file(text)), &Env::from_pairs([]));
        assert_eq!(settings, Settings::default(), "{text}");
        assert_eq!(diagnostics.len(), 1, "{text}: {:?}", messages(&diagnostics));
    }
    let user = file(r#"{"tiers":{"mine":{"context":1,"file":9,"blocks":["shell"]}}}"#);
    for text in [r#"{"tiers":{"mine":{"context":null}}}"#, r#"{"tiers":{"mine":{"blocks":[]}}}"#] {
        let (settings, _) = merge(Some(&user), Some(&file(text)), &Env::from_pairs([]));
        assert_eq!(settings, merge(Some(&user), None, &Env::from_pairs([])).0, "{text}");
    }
    let (_, diagnostics) =
        merge(None, Some(&file(r#"{"boundary":{}, "tiers":{"narrow":{}}}"#)), &Env::from_pairs([]));
    assert_eq!(messages(&diagnostics), Vec::<&str>::new());
}

#[test]
fn a_project_may_lower_a_figure_but_not_raise_it() {
    let project = file(
        r#"{"file":{"words":1500},"coach":{"shell_chars":90000,"reread_lines":50},
            "bands":{"Read":"write","Bash":"read"},"boundary":{"give_up_seconds":1}}"#,
    );
    let (settings, diagnostics) = merge(None, Some(&project), &Env::from_pairs([]));
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
    let (settings, diagnostics) = merge(None, Some(&project), &Env::from_pairs([]));
    assert_eq!(diagnostics.len(), 4, "{:?}", messages(&diagnostics));
    assert_eq!(settings.mode, Mode::On);
    let ramp = settings.ramp(967_000);
    assert!((ramp.tiers()[0].context - 15.0).abs() < 1e-9);
    assert!((ramp.tiers()[2].context - 30.0).abs() < 1e-9);
}

/// The merger tries keys by name, so a route comes before its section, and a tier before the
/// neighbor that makes room for it.
#[test]
fn keys_that_need_one_another_hold_together() {
    let project = file(
        r#"{"colour":1,"tiers":{"narrow":{"context":24},"block-reads":{"context":22},
            "no-shell":{"context":23,"file":92,"blocks":["shell"]}},
            "file":{"shape":{"sections":[{"name":"Zitate"}],"routes":{"citation":"Zitate"}}}}"#,
    );
    let (settings, diagnostics) = merge(None, Some(&project), &Env::from_pairs([]));
    assert_eq!(diagnostics.len(), 1, "{:?}", messages(&diagnostics));
    assert_eq!(settings.file.shape.route("citation"), Some(0));
    let ramp = settings.ramp(967_000);
    let names: Vec<_> = ramp.tiers().iter().map(|t| (t.name.as_str(), t.context)).collect();
    let wanted = [("coach", 20.0), ("block-reads", 22.0), ("no-shell", 23.0), ("narrow", 24.0)];
    assert_eq!(names, wanted);
}

#[test]
fn a_bad_entry_of_when_is_named_and_the_others_hold() {
    let user = file(
        "{\"when\": [\n {\"model\": \"*haiku*\", \"words\": 900},\n {\"window_at_most\": \"small\",\n  \
         \"words\": 500},\n {\"words\": 800,\n  \"tiers\": {\"caoch\": {\"context\": 40}}}\n]}",
    );
    let Merged { settings, diagnostics, origins } = trace(Some(&user), None, &Env::from_pairs([]));
    assert_eq!(settings.when.len(), 1);
    assert_eq!(
        settings.for_model(&crate::settings::Model { name: None, window: 1 }).file.words,
        2000
    );
    let said: Vec<_> = diagnostics.iter().map(|d| (d.line, d.key.as_str())).collect();
    assert_eq!(said, [(Some(3), "when.1.window_at_most"), (Some(6), "when.2.tiers.caoch.context")]);
    assert!(diagnostics[1].message.contains("unknown tier caoch (known: coach, "));
    let set: Vec<_> = origins.iter().map(|o| (o.key.join("."), o.place.to_string())).collect();
    assert_eq!(set, [("when.0".to_owned(), "/u/settings.json:2".to_owned())]);
}

#[test]
fn every_key_that_holds_is_traced_to_where_it_was_set_last() {
    let user = file("{\n \"profile\": \"auto\",\n \"file\": {\n  \"words\": 3000}\n}");
    let project = file("{\"file\": {\"words\": 1500, \"git_slice\": 7}, \"mode\": \"off\"}");
    let env = Env::from_pairs([
        ("CLAUDE_PLUGIN_OPTION_PROFILE", "relaxed"),
        ("CLAUDE_PLUGIN_OPTION_HEADLESS", "off"),
        ("BRAIN_GUARD_SET_TIERS__BLOCK_READS__CONTEXT", "26"),
    ]);
    let merged = trace(Some(&user), Some(&project), &env);
    let set: Vec<_> =
        merged.origins.iter().map(|o| (o.key.join("."), o.place.to_string())).collect();
    let wanted = [
        ("headless", "plugin option headless"),
        ("profile", "/u/settings.json:2"),
        ("file.words", "/u/settings.json:1"),
        ("tiers.block-reads.context", "BRAIN_GUARD_SET_TIERS__BLOCK_READS__CONTEXT"),
    ];
    assert_eq!(set, wanted.map(|(key, place)| (key.to_owned(), place.to_owned())));
    assert_eq!(merged.diagnostics.len(), 2, "{:?}", messages(&merged.diagnostics));
    let (settings, diagnostics) = merge(Some(&user), Some(&project), &env);
    assert_eq!((merged.settings, merged.diagnostics), (settings, diagnostics));
}

#[test]
fn a_tier_without_a_place_is_named() {
    let user = file("{\n \"tiers\": {\n  \"block_reads\": {\"context\": 22}\n }\n}");
    let (_, diagnostics) = merge(Some(&user), None, &Env::from_pairs([]));
    let said = messages(&diagnostics).join("\n");
    assert!(
        said.starts_with("/u/settings.json:3: \"tiers.block_reads\": unknown tier block_reads"),
        "{said}"
    );
    let known = file(r#"{"tires": {}, "profile": "relexed"}"#);
    let (_, diagnostics) = merge(Some(&known), None, &Env::from_pairs([]));
    let ways: Vec<_> = diagnostics.iter().map(|d| d.way_out.as_str()).collect();
    let meant = |name| format!("did you mean `{name}`? if not, remove the key");
    assert_eq!(ways, [meant("relaxed"), meant("tiers")]);
}

#[test]
fn a_project_neither_removes_a_tier_nor_puts_one_on_top() {
    for text in [
        r#"{"tiers":{"coach":{"off":true}}}"#,
        r#"{"tiers":{"coach":{"off":null}}}"#,
        r#"{"tiers":{"late":{"context":60}}}"#,
        r#"{"tiers":{"late":{"file":120}}}"#,
        r#"{"when":[{"words":9000}]}"#,
    ] {
        let (settings, diagnostics) = merge(None, Some(&file(text)), &Env::from_pairs([]));
        assert_eq!(settings, Settings::default(), "{text}");
        assert_eq!(diagnostics.len(), 1, "{text}: {:?}", messages(&diagnostics));
    }
}

#[test]
fn a_project_may_ask_for_more_reflection_and_coaches_no_phase() {
    let user = file(r#"{"phases":{"reflection_steps":2,"names":{"ship":{"reflection_steps":3}}}}"#);
    let project = file(
        r#"{"phases":{"reflection_steps":1,"names":{"ship":{"reflection_steps":2,"coach":"slowly"},"design":{"reflection_steps":4}}}}"#,
    );
    let (settings, diagnostics) = merge(Some(&user), Some(&project), &Env::from_pairs([]));
    assert_eq!(diagnostics.len(), 3, "{:?}", messages(&diagnostics));
    let phases = &settings.phases;
    assert_eq!((phases.steps("x"), phases.steps("ship"), phases.steps("design")), (2, 3, 4));
    assert_eq!(phases.coach("ship"), None, "the agent would hear it in the guard's voice");
    for text in [
        r#"{"phases":[0,{}]}"#,
        r#"{"phases":null}"#,
        r#"{"phases":{"names":[]}}"#,
        r#"{"phases":{"names":{"ship":[null,0]}}}"#,
        r#"{"phases":{"reflection_steps":null}}"#,
    ] {
        let (settings, diagnostics) = merge(Some(&user), Some(&file(text)), &Env::from_pairs([]));
        assert_eq!(settings, merge(Some(&user), None, &Env::from_pairs([])).0, "{text}");
        assert_eq!(diagnostics.len(), 1, "{text}");
    }
}

#[test]
fn an_empty_list_is_no_group_of_keys() {
    for key in ["extract", "surgery", "tiers", "file"] {
        let text = format!("{{\"headless\": \"off\", \"{key}\": []}}");
        let (settings, diagnostics) = merge(Some(&file(&text)), None, &Env::from_pairs([]));
        assert_eq!(settings, Settings { headless: settings.headless, ..Settings::default() });
        let [only] = messages(&diagnostics)[..] else { panic!("{key}: {diagnostics:?}") };
        assert!(only.contains(key) && only.contains("a list, where there are keys"), "{only}");
    }
    let text = r#"{"tiers":{"coach":{"blocks":[]}},"extract":{"trigger_types":[]},"when":[]}"#;
    assert_eq!(merge(Some(&file(text)), None, &Env::from_pairs([])).1, []);
}
