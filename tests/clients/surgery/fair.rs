//! Tests the judge: it reads from a transcript what the client sends, and rejects a wrong promise.

use super::judge::{Fidelity, Much, Promise};
use super::operations::lines;
use super::played::{GAMMA_END, NEXT, play, resume};

// The client resumes the unchanged session and must send the blocks read from the transcript. The
// judge must reject every other promise.
#[test]
fn the_judge_accepts_only_the_right_promise() {
    let played = play();
    let one = &played.one;
    let copy = one.path.with_file_name("00000000-0000-4000-8000-000000000001.jsonl");
    std::fs::copy(&one.path, &copy).expect("a copy");
    let request = resume(&played.world, "00000000-0000-4000-8000-000000000001");
    let judged = |promise: Promise| promise.says(NEXT).kept_by(&request);
    let all = || Promise::default().rounds(one, &[1, 2, 4, 5]);
    assert_eq!(judged(all()), Ok(()));
    for (wrong, why) in [
        (Promise::default().rounds(one, &[1, 2, 3, 5]), "another round"),
        (Promise::default().rounds(one, &[1, 2, 5]), "a round less"),
        (Promise::default().rounds(one, &[2, 1, 4, 5]), "another order"),
        (all().answers(GAMMA_END), "a block more"),
        (Promise::default().index(&lines(one, &[1])).rounds(one, &[2, 4, 5]), "an index"),
        (
            Promise::default()
                .reduced(one, &[1], Fidelity(Much::Omit, Much::Full, Much::Full))
                .rounds(one, &[2, 4, 5]),
            "no thinking",
        ),
        (
            Promise::default()
                .rounds(one, &[1])
                .reduced(one, &[2], Fidelity(Much::Full, Much::Full, Much::Summary))
                .rounds(one, &[4, 5]),
            "results in short",
        ),
    ] {
        assert!(judged(wrong).is_err(), "{why} goes unnoticed");
    }
    std::fs::remove_file(copy).expect("the copy");
}
