//! A user's settings and others, with a NUL between them: as a project's, and as a later version of
//! the user's own, the others never loosen what is in force.
#![no_main]

use guard::policy::bands::Band;
use guard::settings::Settings;
use guard::settings::sources::{Sources, Texts};
use libfuzzer_sys::fuzz_target;

fn load(user: &str, project: Option<&str>, agreed: Option<&Texts>) -> Settings {
    let user = ("/u.json".to_owned(), Ok(Some(user.to_owned())));
    let project = ("/p.json".to_owned(), Ok(project.map(str::to_owned)));
    Sources { user, project, folder: "/".into(), home: None }.load(agreed).0
}

fuzz_target!(|data: &str| {
    let (user, other) = data.split_once('\0').unwrap_or(("{}", data));
    let asked = load(user, None, None);
    let agreed = Texts { user: Some(user.to_owned()), project: None };
    for held in [load(user, Some(other), None), load(other, None, Some(&agreed))] {
        for limit in [167_000, 967_000] {
            never_looser(&asked, &held, limit);
        }
    }
});

fn never_looser(asked: &Settings, held: &Settings, limit: u64) {
    assert!(held.mode <= asked.mode);
    assert!(held.headless >= asked.headless);
    assert_eq!(held.context, asked.context);
    assert_eq!(held.boundary, asked.boundary);
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
}
