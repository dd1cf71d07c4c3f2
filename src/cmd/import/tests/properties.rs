//! The same for generated sessions, cut anywhere.

use std::fs;

use proptest::prelude::*;

use super::{Scene, databases, whole};
use store::blocks::editions;
use testing::claude;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_session_that_grows_in_any_steps_is_there_byte_for_byte_and_round_by_round(
        made in claude::sessions(), mut cuts in prop::collection::vec(0.0..1.0f64, 0..6),
    ) {
        cuts.push(1.0);
        cuts.sort_by(f64::total_cmp);
        let scene = Scene::new();
        let mut at = 0;
        for cut in cuts {
            let to = (made.bytes.len() as f64 * cut) as usize;
            scene.append(&made.bytes[at..to]);
            at = to;
            scene.import().unwrap();
            if !whole(&made.bytes[..at]).is_empty() {
                prop_assert_eq!(scene.original(), whole(&made.bytes[..at]));
            }
            prop_assert_eq!(scene.import().unwrap().new_rows, 0, "nothing is new");
        }
        scene.read_back();
        let at_once = Scene::of(&made.bytes);
        at_once.import().unwrap();
        prop_assert_eq!(scene.rounds(), at_once.rounds());
        prop_assert_eq!(scene.rounds().len(), made.rounds.len());
    }

    #[test]
    fn lines_that_nobody_understands_are_kept_as_they_are(seed: u64, rounds in 1..6usize) {
        let bytes = claude::damaged(seed, rounds);
        let scene = Scene::of(&bytes);
        scene.import().unwrap();
        prop_assert_eq!(scene.original(), whole(&bytes));
        scene.read_back();
    }

    /// A kill in between leaves the old databases with the new blocks.
    #[test]
    fn what_a_killed_process_left_is_taken_up(
        made in claude::sessions(), cut in 0.0..1.0f64, killed in 0.0..1.0f64,
    ) {
        let scene = Scene::new();
        let early = (made.bytes.len() as f64 * cut) as usize;
        let late = early + ((made.bytes.len() - early) as f64 * killed) as usize;
        scene.append(&made.bytes[..early]);
        scene.import().unwrap();
        let kept = databases(&scene);
        scene.append(&made.bytes[early..late]);
        scene.import().unwrap();
        for (path, bytes) in kept {
            match bytes {
                Some(bytes) => fs::write(path, bytes).unwrap(),
                None => fs::remove_file(path).unwrap_or_default(),
            }
        }
        scene.append(&made.bytes[late..]);
        scene.import().unwrap();
        prop_assert_eq!(scene.original(), whole(&made.bytes));
        scene.read_back();
        let at_once = Scene::of(&made.bytes);
        at_once.import().unwrap();
        prop_assert_eq!(scene.rounds(), at_once.rounds());
        prop_assert_eq!(editions(&scene.folder()).unwrap(), []);
    }
}
