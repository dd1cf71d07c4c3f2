use super::*;
use testing::at;
use testing::rounds::session;

fn tag(session: &mut Session, seqs: &[u32], engagement: &str) {
    for seq in seqs {
        session.rounds[*seq as usize - 1].engagement = Some(engagement.into());
    }
}

/// `i12 3 4`: an index of 1 and 2, then 3 and 4 whole.
fn shape(plan: &Plan) -> String {
    let shapes = plan.pieces.iter().map(|piece| match piece {
        Piece::Index(places) => {
            let seqs: String = places.iter().map(|p| p.seq.to_string()).collect();
            format!("i{seqs}")
        }
        Piece::Round(place) => place.seq.to_string(),
        Piece::Summary(place) => format!("s{}", place.seq),
    });
    shapes.collect::<Vec<_>>().join(" ")
}

const LINE: [(u32, bool); 5] = [(0, false), (1, false), (2, false), (3, false), (4, false)];

#[test]
fn what_lies_before_a_time_or_a_round_becomes_one_table() {
    let cut = |before: &str| {
        let plan = compress_before(session(&LINE), at(before), Fidelity::default());
        plan.map(|p| shape(&p)).map_err(|e| e.to_string())
    };
    assert_eq!(cut("2026-03-19T10:02Z").unwrap(), "i12 3 4 5");
    assert_eq!(cut("2026-03-19T10:02:00.001Z").unwrap(), "i123 4 5");
    assert_eq!(cut("2026-03-19T11:03+01:00").unwrap(), "i123 4 5");
    assert!(cut("2026-03-19T10:00Z").unwrap_err().contains("the first began 2026-03-19T10:00Z"));
    assert!(cut("2026-03-20").unwrap_err().contains("the last one began 2026-03-19T10:04Z"));
    let by = |seq| {
        let plan = compress_before(session(&LINE), When::Round(seq), Fidelity::default());
        plan.map(|p| shape(&p)).map_err(|e| e.to_string())
    };
    assert_eq!(by(4).unwrap(), "i123 4 5");
    assert!(by(1).unwrap_err().contains("no round of 3f0a9d1e-0000 is before"));
    assert!(by(6).unwrap_err().ends_with("has no round 6: it has rounds 1-5"));
    assert!(compress_before(Session::default(), When::Round(1), Fidelity::default()).is_err());
}

#[test]
fn a_table_has_what_had_left_the_context_and_a_clock_that_ran_backwards_scatters_nothing() {
    // 2 was rewound, 4 is a compaction, 6 was rewound.
    let rounds =
        [(0, false), (1, false), (1, false), (3, true), (4, false), (5, false), (5, false)];
    let plan =
        |before: &str| compress_before(session(&rounds), at(before), Fidelity::default()).unwrap();
    assert_eq!(shape(&plan("2026-03-19T10:04Z")), "i123 s4 i4 5 7");
    assert_eq!(plan("2026-03-19T10:04Z").left.rewound, [Place::first(6)]);
    let mut fewer = plan("2026-03-19T10:04Z");
    fewer.omit_rewound();
    assert_eq!(shape(&fewer), "i13 s4 i4 5 7");
    assert_eq!(fewer.left.rewound, [Place::first(6), Place::first(2)]);
    // Before the compaction: everything that it removed from the context can still be read.
    assert_eq!(shape(&plan("2026-03-19T10:01Z")), "i123 4 5 7");
    let mut skewed = session(&LINE);
    skewed.rounds[3].started = Some(at("2026-03-19T09:00Z"));
    skewed.rounds[1].started = None;
    let plan = compress_before(skewed, at("2026-03-19T10:02Z"), Fidelity::default()).unwrap();
    assert_eq!(shape(&plan), "i12 3 4 5");
}

#[test]
fn runs_of_an_engagement_become_tables_in_place() {
    let mut s = session(&LINE);
    tag(&mut s, &[1, 2, 4], "console-work");
    tag(&mut s, &[5], "other");
    let plan = compress_engagement(s.clone(), "console-work", Fidelity::default()).unwrap();
    assert_eq!(shape(&plan), "i12 3 i4 5");
    assert_eq!(plan.lineage.engagements, ["console-work", "other"]);
    assert_eq!((plan.lineage.rounds, plan.lineage.parent_session.as_str()), (5, "3f0a9d1e-0000"));
    assert_eq!(plan.lineage.ended, Some(at("2026-03-19T10:04:30Z")));
    let plan = extract_engagement(s.clone(), "console-work", Fidelity::default()).unwrap();
    assert_eq!(shape(&plan), "1 2 4");
    assert_eq!(plan.lineage.engagements, ["console-work"]);
    let refused = extract_engagement(s, "nobody", Fidelity::default()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no round of 3f0a9d1e-0000 is tagged nobody; its tags: console-work, other. Tag rounds \
         with: brain-guard tag 3f0a9d1e-0000 1-3 nobody"
    );
    let refused = compress_engagement(session(&LINE), "x", Fidelity::default()).unwrap_err();
    assert!(refused.to_string().contains("its tags: none"));
}

#[test]
fn tagged_rounds_that_left_the_context() {
    // 2 was rewound, 4 is a compaction.
    let mut s = session(&[(0, false), (1, false), (1, false), (3, true), (4, false)]);
    tag(&mut s, &[1, 2], "early");
    let plan = extract_engagement(s.clone(), "early", Fidelity::default()).unwrap();
    assert_eq!((shape(&plan).as_str(), plan.left.rewound), ("1", vec![Place::first(2)]));
    let refused = compress_engagement(s.clone(), "early", Fidelity::default()).unwrap_err();
    assert!(refused.to_string().starts_with("rounds 1-2 of 3f0a9d1e-0000, tagged early,"));
    tag(&mut s, &[1], "other");
    assert!(matches!(
        extract_engagement(s, "early", Fidelity::default()),
        Err(Refused::Nothing(_))
    ));
}
