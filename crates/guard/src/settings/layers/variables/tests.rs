use super::*;
use crate::settings::layers::{Diagnostic, File, merge, trace};
use crate::settings::{Headless, Mode, Profile, Settings};

const LOCAL: &str = "/p/.claude/settings.local.json";

/// The settings from these variables, the project's and the user's client settings, and the
/// environment that started the client.
fn held(
    env: &[(&str, &str)],
    project: &str,
    user: &str,
    launch: &[(&str, &str)],
) -> (Settings, Vec<Diagnostic>) {
    let env =
        env.iter().fold(Env::from_pairs([]), |env, (name, value)| env.with_variable(name, value));
    let files = [ClientFile::from_text(LOCAL.into(), Some(project))];
    let user = || User {
        settings: ClientFile::from_text("/u/settings.json".into(), Some(user)),
        launch: launch.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
    };
    merge(None, None, Variables::from(&env).traced(&files, user))
}

fn only(told: &[Diagnostic]) -> &str {
    let [only] = told else { panic!("{told:?}") };
    &only.message
}

const OFF: &str = "CLAUDE_PLUGIN_OPTION_MODE";

#[test]
fn a_projects_off_switch_is_left_out_and_named() {
    let (settings, told) =
        held(&[(OFF, "off")], r#"{"env":{"CLAUDE_PLUGIN_OPTION_MODE":1}}"#, "{}", &[]);
    assert_eq!(settings, Settings::default());
    assert_eq!(
        only(&told),
        "`CLAUDE_PLUGIN_OPTION_MODE=off` in /p/.claude/settings.local.json is ignored: a project \
         may only tighten. To apply it, set it in /u/settings.json"
    );
}

#[test]
fn a_project_loosens_by_no_variable_and_tightens_by_any() {
    let loose = [
        (OFF, "off"),
        ("CLAUDE_PLUGIN_OPTION_PROFILE", "relaxed"),
        ("CLAUDE_PLUGIN_OPTION_THETA_WORDS", "9000"),
        ("CLAUDE_PLUGIN_OPTION_HEADLESS", "off"),
        ("BRAIN_GUARD_SHADOW", "1"),
        ("BRAIN_GUARD_SET_MODE", "off"),
        ("BRAIN_GUARD_SET_TIERS__NARROW__CONTEXT", "99"),
        ("BRAIN_GUARD_SET_TIERS__NARROW__OFF", "true"),
        ("BRAIN_GUARD_SET_TIERS__NARROW__BLOCKS", "[]"),
        ("BRAIN_GUARD_SET_BOUNDARY__COMMAND", "[\"/p/run.sh\"]"),
        ("BRAIN_GUARD_SET_TRUST__PROJECTS", "[\"/**\"]"),
        ("BRAIN_GUARD_SET_NONSENSE", "1"),
        ("BRAIN_GUARD_SET_", "1"),
    ];
    for (name, value) in loose {
        let project = serde_json::json!({"env": {name: value}}).to_string();
        let (settings, told) = held(&[(name, value)], &project, "{}", &[]);
        assert_eq!(settings, Settings::default(), "{name}");
        assert!(only(&told).starts_with(&format!("`{name}={value}` in {LOCAL} is ignored: ")));
    }
    let tight =
        r#"{"env":{"BRAIN_GUARD_SET_FILE__WORDS":"","CLAUDE_PLUGIN_OPTION_THETA_WORDS":""}}"#;
    let all = [("BRAIN_GUARD_SET_FILE__WORDS", "900"), ("CLAUDE_PLUGIN_OPTION_THETA_WORDS", "950")];
    let (settings, told) = held(&all, tight, "{}", &[]);
    assert_eq!((settings.file.words, told.len()), (900, 0), "{told:?}");
}

#[test]
fn what_the_user_says_too_holds() {
    let project = r#"{"env":{"CLAUDE_PLUGIN_OPTION_MODE":"off","BRAIN_GUARD_SHADOW":"1"}}"#;
    let env = [(OFF, "off"), ("BRAIN_GUARD_SHADOW", "1")];
    let both = r#"{"env":{"BRAIN_GUARD_SHADOW":1},"pluginConfigs":{"brain-guard@brain-guard":{"options":{"mode":"off"}}}}"#;
    for (user, launch) in [(both, &[][..]), ("{}", &env[..])] {
        let (settings, told) = held(&env, project, user, launch);
        assert_eq!((settings.mode, settings.shadow, told.len()), (Mode::Off, true, 0), "{user}");
    }
    let other = r#"{"pluginConfigs":{"other@brain-guard":{"options":{"mode":"off"}}}}"#;
    assert_eq!(held(&env, project, other, &[]).0.mode, Mode::On);
}

/// In the client, a project's value overrides the one from the launch environment.
#[test]
fn the_users_own_value_holds_where_the_projects_would_loosen_it() {
    let project = r#"{"env":{"BRAIN_GUARD_SET_TIERS__NARROW__CONTEXT":"","CLAUDE_PLUGIN_OPTION_HEADLESS":"","CLAUDE_PLUGIN_OPTION_PROFILE":"auto"}}"#;
    let name = "BRAIN_GUARD_SET_TIERS__NARROW__CONTEXT";
    let launch = [
        (name, "26"),
        ("CLAUDE_PLUGIN_OPTION_HEADLESS", "boundary"),
        ("CLAUDE_PLUGIN_OPTION_PROFILE", "relaxed"),
    ];
    let env = [
        (name, "29"),
        ("CLAUDE_PLUGIN_OPTION_HEADLESS", ""),
        ("CLAUDE_PLUGIN_OPTION_PROFILE", "auto"),
    ];
    let (settings, told) = held(&env[1..2], project, "{}", &launch);
    assert_eq!((settings.headless, told.len()), (Headless::Boundary, 0), "emptied by the project");
    let (settings, told) = held(&env[..1], project, "{}", &launch);
    assert!((settings.ramp(967_000).tiers()[2].context - 26.0).abs() < 1e-9);
    assert!(only(&told).contains(&format!("`{name}=29`")));
    let (settings, _) = held(&env[2..], project, "{}", &launch);
    assert_eq!(settings.profile, Profile::Auto, "the stricter one of the two");
}

#[test]
fn a_file_that_can_not_be_read_may_set_anything() {
    for project in ["{", "", r#"{"env":{},"env":{}}"#, r#"{"env":[]}"#] {
        let (settings, told) = held(&[(OFF, "off")], project, "{}", &[]);
        assert_eq!(settings.mode, Mode::On, "{project}");
        assert!(
            only(&told).contains("settings.local.json, which is not readable JSON, may set it")
        );
        assert_eq!(held(&[(OFF, "off")], project, "{}", &[(OFF, "off")]).0.mode, Mode::Off);
    }
    let marked = "\u{feff}{\"env\":{}}";
    assert_eq!(held(&[(OFF, "off")], marked, "{}", &[]).0.mode, Mode::Off);
}

#[test]
fn many_variables_of_a_project_cost_little() {
    let names: Vec<_> = (0..5_000).map(|n| format!("BRAIN_GUARD_SET_BANDS__TOOL{n}")).collect();
    let set: Vec<_> = names.iter().map(|name| (name.as_str(), "read")).collect();
    let env: serde_json::Map<_, _> =
        names.iter().map(|name| (name.clone(), serde_json::json!("read"))).collect();
    let project = serde_json::json!({ "env": env }).to_string();
    let (settings, told) = held(&set, &project, "{}", &[]);
    assert!(settings.bands.len() > 100 && told.len() > 1_000, "{}", settings.bands.len());
}

#[test]
fn a_variable_of_the_projects_is_traced_to_its_file() {
    let env = Env::from_pairs([("BRAIN_GUARD_SET_FILE__WORDS", "900")]);
    let files = [ClientFile::from_text(
        LOCAL.into(),
        Some(r#"{"env":{"BRAIN_GUARD_SET_FILE__WORDS":900}}"#),
    )];
    let user =
        || User { settings: ClientFile::from_text("/u".into(), Some("{}")), launch: Vec::new() };
    let variables = Variables::from(&env).traced(&files, user);
    let user = File { path: "/u/s.json".into(), text: Ok(r#"{"file":{"words":3000}}"#.into()) };
    let origins = trace(Some(&user), None, variables).origins;
    let [only] = &origins[..] else { panic!("{origins:?}") };
    assert_eq!(only.place.to_string(), format!("BRAIN_GUARD_SET_FILE__WORDS in {LOCAL}"));
}
