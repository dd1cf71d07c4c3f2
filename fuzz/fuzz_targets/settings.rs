//! A user's and a project's settings, with a NUL between them: the project's never loosen the
//! user's.
#![no_main]

use base::env::Env;
use guard::policy::bands::Band;
use guard::settings::layers::{File, merge, trace};
use guard::settings::{Model, Settings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &str| {
    let (user, project) = data.split_once('\0').unwrap_or(("{}", data));
    let file = |text: &str| Some(File { path: "/s.json".into(), text: Ok(text.into()) });
    let (user, project) = (file(user), file(project));
    let env = Env::from_pairs([]);
    let (asked, _) = merge(user.as_ref(), None, &env);
    let (held, diagnostics) = merge(user.as_ref(), project.as_ref(), &env);
    let traced = trace(user.as_ref(), project.as_ref(), &env);
    assert_eq!((&traced.settings, &traced.diagnostics), (&held, &diagnostics));
    for window in [200_000, 1_000_000] {
        let model = Model { name: Some("claude-opus-5-5"), window };
        never_looser(&asked.for_model(&model), &held.for_model(&model), window);
    }
});

fn never_looser(asked: &Settings, held: &Settings, limit: u64) {
    assert_eq!(held.mode, asked.mode);
    assert_eq!(held.headless, asked.headless);
    assert_eq!(held.context, asked.context);
    assert_eq!(held.boundary, asked.boundary);
    assert_eq!(held.when, asked.when);
    assert!(held.file.words <= asked.file.words);
    assert!(held.coach.shell_chars <= asked.coach.shell_chars);
    assert!(held.coach.reread_lines <= asked.coach.reread_lines);
    assert!(held.phases.reflection_steps >= asked.phases.reflection_steps);
    for (tool, band) in &held.bands {
        assert!(asked.bands.get(tool) == Some(band) || *band == Band::Read, "{tool}: {band:?}");
    }
    let (before, after) = (asked.ramp(limit), held.ramp(limit));
    for tier in before.tiers() {
        let now = after.tiers().iter().find(|now| now.name == tier.name);
        let now = now.unwrap_or_else(|| panic!("the tier {} is gone", tier.name));
        assert!(now.context <= tier.context, "{tier:?} became {now:?}");
        assert!(now.file <= tier.file, "{tier:?} became {now:?}");
        assert!(now.blocks.is_superset(&tier.blocks), "{tier:?} became {now:?}");
    }
    let top = |ramp: &guard::policy::ramp::Ramp| ramp.tiers().last().map(|tier| tier.name.clone());
    assert_eq!(top(&before), top(&after));
}
