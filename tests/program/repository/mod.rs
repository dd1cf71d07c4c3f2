//! A stranger's checkout tries to act outside the project, speak for the guard or the user, waste
//! time, or switch the guard off. Each attack lays out a project and plays three sessions in it.

mod accept;
mod attack;
mod bombs;
mod control;
mod git;
mod judge;
mod kinds;
mod links;
mod mounts;
mod names;
mod owned;
mod play;
mod race;
mod settings;
mod standard;
mod voice;
mod world;

use attack::{Attack, Outcome};

/// A test for each list of attacks.
macro_rules! lists {
    ($($name:ident: $list:expr;)+) => {
        $(#[test]
        fn $name() {
            let faults: Vec<String> = $list.iter().filter_map(fault).collect();
            assert!(faults.is_empty(), "{}", faults.join("\n"));
        })+
    };
}

lists! {
    links_lead_nowhere: links::all();
    files_of_other_kinds_do_nothing: kinds::all();
    odd_names_do_nothing: names::all();
    texts_do_not_speak_for_the_guard_or_the_user: voice::all();
    bombs_cost_no_time: bombs::all();
    git_runs_nothing_of_a_repository: git::all();
    settings_only_tighten: settings::all();
    found_jobs_are_not_used_unasked: accept::all();
    owned_files_do_nothing: owned::all();
    races_are_lost: race::all();
    control_staged_escapes_are_found: control::all();
}

#[test]
fn a_full_or_read_only_disk_blocks_nothing_forever() {
    if let Some(case) = mounts::case_of_this_process() {
        return mounts::play(&case);
    }
    let faults: Vec<String> = mounts::all().iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn fault(attack: &Attack) -> Option<String> {
    match attack.make() {
        Outcome::Held => None,
        Outcome::Missing(why) => Some(format!("{} could not be played: {why}", attack.name)),
        Outcome::Through(found) => {
            let lines = found.iter().take(8).map(|what| format!("\n    {what}"));
            Some(format!("got through: {}{}", attack.name, lines.collect::<String>()))
        }
    }
}
