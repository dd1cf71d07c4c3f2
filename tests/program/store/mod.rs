//! The block store and session files under stress: a hundred sessions are imported while others
//! write them, and both kinds of processes are killed at random; then imports, extractions and
//! rewrites are killed at their writing calls. Every session must be complete, each round once.

mod database;
mod edits;
mod extracts;
mod kills;
mod late;
pub mod made;
mod scene;
mod storm;

/// How a case ended; a fault is told in words.
type Played = Result<(), String>;

/// A test for each case.
macro_rules! cases {
    ($($name:ident: $case:expr;)+) => {
        $(#[test]
        fn $name() -> Played {
            $case
        })+
    };
}

cases! {
    sessions_written_and_imported_by_killed_processes_are_complete: storm::run();
    control_finds_a_missing_row: storm::control();
    kills_of_a_first_import: kills::run(kills::first);
    kills_of_an_import_of_new_rows: kills::run(kills::appended);
    kills_of_an_import_of_a_rewritten_file: kills::run(kills::anew);
    kills_of_a_rewrite: edits::killed();
    kills_of_extract_run: extracts::run();
    kills_of_extract_restore: extracts::restore();
    kills_of_extract_keep_on_a_database: database::kept();
    kills_of_a_rewrite_that_another_process_writes_to: late::killed();
    kills_of_carrying_over_late_rows: late::carrying();
    a_file_held_open_for_over_5_s_gets_its_late_rows: late::held();
    late_rows_without_room_are_named: late::full();
    a_rewrite_without_room_changes_nothing: edits::full();
    a_rewrite_in_a_read_only_folder_changes_nothing: edits::read_only();
}
