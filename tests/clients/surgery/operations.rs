//! Each operation on a played session: the real client resumes the successor, and its next
//! request contains exactly what the operation promises.

use super::judge::{Fidelity, Much, Promise, line};
use super::played::{
    ALPHA_END, BETA_END, DELTA_END, GAMMA_END, Made, alternates, holds, play, resume,
};
use super::source::Source;

/// The index lines of the first session's rounds.
pub fn lines(one: &Source, seqs: &[u32]) -> Vec<String> {
    let line_of = |seq: &u32| {
        let (key, text) = match seq {
            1 => (Some("Bash·Look at the console"), ALPHA_END),
            2 => (Some("Agent·Read console"), BETA_END),
            3 => (None, GAMMA_END),
            4 => (Some("Bash·step"), DELTA_END),
            _ => panic!("no line of round {seq} is wanted"),
        };
        // The third one was rewound.
        let roles = if *seq == 3 { "user→assistant, rewound" } else { "user→assistant" };
        line(&format!("{seq:03}"), one.round(*seq), roles, key, text)
    };
    seqs.iter().map(line_of).collect()
}

#[test]
fn each_operation_gives_the_session_that_it_promises() {
    let played = play();
    let (one, id) = (&played.one, played.one.id.as_str());
    let t = one.round(4).started.as_str();
    let made = |arguments: &[&str]| -> Made {
        let mut made = played.make(arguments);
        assert_eq!(made.len(), 1, "{arguments:?}: {made:?}");
        made.remove(0)
    };
    let holds = |arguments: &[&str], promise: Promise| {
        holds(&played.world, &made(arguments), promise);
    };
    let before = |seqs: &[u32]| Promise::default().index(&lines(one, seqs));

    for spelling in
        [&["surgery", "compress-before", id, t][..], &["export-claude", id, "--full-after", t]]
    {
        holds(spelling, before(&[1, 2, 3]).rounds(one, &[4, 5]));
    }
    let at = |thinking, calls, results| Fidelity(thinking, calls, results);
    let (full, short, no) = (Much::Full, Much::Summary, Much::Omit);
    for (words, fidelity) in [
        (["ref", "summary", "summary"], at(short, short, short)),
        (["omit", "omit", "omit"], at(no, no, no)),
        (["full", "full", "summary"], at(full, full, short)),
        (["ref", "summary", "full"], at(short, short, full)),
        (["omit", "full", "full"], at(no, full, full)),
        (["ref", "full", "full"], at(short, full, full)),
    ] {
        let [thinking, calls, results] = words;
        let flags = ["--thinking", thinking, "--tool-use", calls, "--tool-result", results];
        // Only the first round is before the second.
        let t = one.round(2).started.as_str();
        let call = [&["surgery", "compress-before", id, t][..], &flags].concat();
        holds(&call, before(&[1]).reduced(one, &[2, 4, 5], fidelity));
    }

    played.guard(&["tag", id, "1-2", "console-work"]);
    played.guard(&["tag", id, "4", "waiting"]);
    for spelling in [
        &["surgery", "compress-engagement", id, "waiting"][..],
        &["export-claude", id, "--compress-engagement", "waiting"],
    ] {
        let whole = Promise::default().rounds(one, &[1, 2]);
        holds(spelling, whole.index(&lines(one, &[4])).rounds(one, &[5]));
    }
    holds(
        &["surgery", "compress-engagement", id, "console-work"],
        before(&[1, 2]).rounds(one, &[4, 5]),
    );
    for spelling in [
        &["surgery", "extract-engagement", id, "console-work"][..],
        &["export-claude", id, "--engagement", "console-work"],
    ] {
        holds(spelling, Promise::default().rounds(one, &[1, 2]));
    }

    // In the first round the agent speaks before and after its calls.
    let less = ["--thinking", "omit", "--tool-use", "omit"];
    let call = [&["surgery", "extract-engagement", id, "console-work"][..], &less].concat();
    let words = at(no, no, full);
    holds(&call, Promise::default().reduced(one, &[1, 2], words));
    let request = resume(&played.world, &made(&call).id);
    assert!(alternates(&request), "{:#?}", request.messages());

    let map = played.world.project().join("map.json");
    let text = r#"{"shared": "1-2", "engagements": {"waiting": "4", "writing": "5"}}"#;
    std::fs::write(&map, text).expect("the project is writable");
    let map = map.display().to_string();
    for spelling in [&["surgery", "split", id, &map][..], &["export-claude", id, "--split", &map]] {
        let children = played.make(spelling);
        assert_eq!(children.len(), 2, "{children:?}");
        for (child, own) in children.iter().zip([4, 5]) {
            let promise = before(&[1, 2]).rounds(one, &[own]);
            super::played::holds(&played.world, child, promise);
        }
    }
}
