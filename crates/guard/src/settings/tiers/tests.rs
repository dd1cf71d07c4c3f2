//! Presets, single numbers and custom tiers.

use super::*;
use proptest::prelude::*;

fn settings(json: serde_json::Value) -> Settings {
    serde_json::from_value(json).unwrap()
}

fn places(settings: &Settings, limit: u64) -> Vec<(String, f64)> {
    let ramp = settings.ramp(limit);
    ramp.tiers().iter().map(|t| (t.name.clone(), t.context)).collect()
}

fn contexts(settings: &Settings, limit: u64) -> Vec<f64> {
    places(settings, limit).into_iter().map(|(_, at)| at).collect()
}

#[test]
fn profiles_and_single_numbers() {
    let mut s = Settings::default();
    assert_eq!(contexts(&s, 967_000), [20.0, 25.0, 30.0]);
    assert_eq!(contexts(&s, 167_000), [50.0, 60.0, 70.0]);
    s.profile = Profile::Relaxed;
    assert_eq!(contexts(&s, 967_000), [40.0, 50.0, 60.0]);
    s.tiers.insert("narrow".into(), TierSetting { context: Some(90.0), ..TierSetting::default() });
    assert_eq!(contexts(&s, 967_000), [40.0, 50.0, 90.0]);
    assert_eq!(s.problem(), None);
}

#[test]
fn a_tier_of_ones_own_takes_what_the_milder_ones_took() {
    let s = settings(serde_json::json!({"tiers": {
        "no-shell": {"context": 27, "file": 92, "blocks": ["shell"]},
    }}));
    let ramp = s.ramp(967_000);
    assert_eq!((ramp.name(3), ramp.top()), ("no-shell", 4));
    assert!(ramp.tier(3).unwrap().blocks.iter().eq(&[Band::Read, Band::Shell]));
    assert_eq!(s.problem(), None);
}

#[test]
fn a_tier_can_be_taken_out() {
    let s = settings(serde_json::json!({
        "tiers": {"coach": {"off": true}, "block-reads": {"context": 22}},
    }));
    assert_eq!(contexts(&s, 967_000), [22.0, 30.0]);
    assert_eq!(s.problem(), None);
}

/// 35 is meant for long windows. For short ones it must not allow what the milder tiers block.
#[test]
fn a_number_for_one_profile_keeps_the_order_of_the_other() {
    let s = settings(serde_json::json!({"tiers": {"narrow": {"context": 35}}}));
    assert_eq!(s.problem(), None);
    let ramp = s.ramp(167_000);
    assert_eq!(ramp.tiers().last().unwrap().name, "narrow");
    assert_eq!(contexts(&s, 167_000), [33.0, 34.0, 35.0]);
}

proptest! {
    /// Whatever the numbers, a stricter tier never allows what a milder one blocks.
    #[test]
    fn every_ramp_only_tightens(
        coach in 1.0..99.0f64, own in 1.0..99.0f64, narrow in 1.0..99.0f64,
        file in 1.0..150.0f64, limit in prop::sample::select(vec![167_000u64, 967_000]),
    ) {
        let s = settings(serde_json::json!({"tiers": {
            "coach": {"context": coach},
            "own": {"context": own, "file": file, "blocks": ["shell"]},
            "narrow": {"context": narrow},
        }}));
        let ramp = s.ramp(limit);
        for pair in ramp.tiers().windows(2) {
            prop_assert!(pair[0].context <= pair[1].context && pair[0].file <= pair[1].file);
            prop_assert!(pair[0].blocks.is_subset(&pair[1].blocks));
        }
    }
}
