use super::{advise as advise_with, *};
use base::clock::Time;
use sessions::origin::Origin;
use testing::at;
use testing::rounds::session;

/// Twelve rounds of 1,000 tokens, a minute apart.
fn long() -> Session {
    let rounds: Vec<(u32, bool)> = (0..12).map(|n| (n, false)).collect();
    let mut session = session(&rounds);
    session.started = session.rounds[0].started;
    session.ended = session.rounds[11].ended;
    session.rounds.iter_mut().for_each(|round| round.tokens = 1_000);
    session
}

fn tag(session: &mut Session, seqs: impl IntoIterator<Item = u32>, engagement: &str) {
    for seq in seqs {
        session.rounds[seq as usize - 1].engagement = Some(engagement.into());
    }
}

fn advise(session: &Session, phases: &[Phase], beside: &Beside) -> Vec<Advice> {
    advise_with(session, phases, beside, &mut |_| None)
}

fn commands(advice: &[Advice]) -> Vec<(Case, &str)> {
    advice.iter().map(|a| (a.case, a.command.as_str())).collect()
}

#[test]
fn finished_work_lies_before_the_last_turn() {
    let phases = vec![
        Phase { name: "design".into(), from: at("2026-03-19T09:00Z"), to: None },
        Phase { name: "build".into(), from: at("2026-03-19T10:04:30Z"), to: None },
    ];
    let advice = advise(&long(), &phases, &Beside::default());
    assert_eq!(
        commands(&advice),
        [(Case::FinishedWork, "brain-guard surgery compress-before 3f0a9d1e round:6")]
    );
    let why = "rounds 1-5 lie before the phase build (2026-03-19T10:05Z); round 6 is the first to stay: ask 5";
    assert_eq!(advice[0].why, why);
    assert!(advice[0].frees > 4_500 && advice[0].frees < 5_000);
    assert_eq!(advice[0].after, Some(12_000 - advice[0].frees));

    let mut paused = long();
    for round in &mut paused.rounds[8..] {
        (round.started, round.ended) = (Some(at("2026-03-20T08:00Z")), None);
    }
    let advice = advise(&paused, &[], &Beside::default());
    assert!(
        advice[0].why.starts_with("rounds 1-8 lie before a pause of 21 h"),
        "{}",
        advice[0].why
    );
    // Resumed to go on with the same work.
    let mut resumed = paused.clone();
    resumed.rounds[11].started = Some(at("2026-03-21T08:00Z"));
    assert_eq!(commands(&advise(&resumed, &[], &Beside::default())), commands(&advice));
    let mut small = paused;
    small.rounds.iter_mut().for_each(|round| round.tokens = 100);
    assert_eq!(advise(&small, &[], &Beside::default())[0].case, Case::NothingLeft);
}

#[test]
fn a_closed_engagement_is_compressed() {
    let mut session = long();
    tag(&mut session, [1, 2, 4], "console-work");
    tag(&mut session, 5..=12, "inscription");
    let advice = advise(&session, &[], &Beside::default());
    let expected = [
        (Case::FinishedWork, "brain-guard surgery compress-before 3f0a9d1e round:5"),
        (Case::ClosedEngagement, "brain-guard surgery compress-engagement 3f0a9d1e console-work"),
    ];
    assert_eq!(commands(&advice), expected);
    let why = "console-work has rounds 1-2, 4 and none of the last 8";
    assert_eq!(advice[1].why, why);
    let mut live = long();
    tag(&mut live, [1, 2, 8], "console-work");
    assert_eq!(commands(&advise(&live, &[], &Beside::default()))[0].0, Case::OldRounds);
}

#[test]
fn interleaved_engagements_are_parted() {
    let mut session = long();
    tag(&mut session, [1, 3, 5, 7, 9, 11], "a");
    tag(&mut session, [2, 4, 6, 8, 10, 12], "b");
    let advice = advise(&session, &[], &Beside::default());
    // Nothing is finished while work returns to it, and a successor keeps the last third.
    assert_eq!(commands(&advice).len(), 1, "{advice:?}");
    assert_eq!(cut(&session, &[]).unwrap().seq, 9);
    let case = advice.iter().find(|a| a.case == Case::SeparateWorkstream).unwrap();
    assert_eq!(case.command, "brain-guard surgery extract-engagement 3f0a9d1e a");
    assert_eq!(case.why, "a and b alternate 11 times; a has rounds 1, 3, 5, 7, 9, 11");
    assert_eq!((case.frees, case.after), (6_000, Some(6_000)));
}

#[test]
fn parallel_sessions_are_merged() {
    let mut other = long();
    other.id = "77b0aaaa-1".into();
    let of = |made, others: &[(&Session, Option<Time>)]| {
        let others = others.iter().map(|(session, made)| ((*session).clone(), *made)).collect();
        let mut all = advise(&long(), &[], &Beside { made, others });
        assert_eq!(all.remove(0).case, Case::OldRounds, "which frees tokens");
        all
    };
    let advice = of(None, &[(&other, None), (&long(), None)]);
    let expected = [(Case::ParallelSessions, "brain-guard surgery merge 3f0a9d1e 77b0aaaa")];
    assert_eq!(commands(&advice), expected);
    let why = "77b0aaaa ran at the same time from 2026-03-19T10:00Z to 2026-03-19T10:11Z: 12 rounds here, 12 there";
    assert_eq!(advice[0].why, why);
    let none = |made: Option<Time>, other: &Session, its: Option<Time>| {
        assert_eq!(of(made, &[(other, its)]), []);
    };
    none(None, &Session { parent: Some(long().id), ..other.clone() }, None);
    let later =
        Session { started: Some(at("2026-03-20")), ended: Some(at("2026-03-21")), ..other.clone() };
    none(None, &later, None);
    let subagent = Session { id: "agent-a1".into(), parent: Some("x".into()), ..other.clone() };
    none(None, &subagent, None);
    // Children of a split have copies, and new rounds of their own.
    let (made, late) = (Some(at("2026-03-19T10:06:30Z")), Some(at("2026-03-19T10:10:30Z")));
    none(None, &other, late);
    none(late, &other, made);
    let advice = of(made, &[(&other, made)]);
    assert!(advice[0].why.ends_with("T10:11Z: 5 rounds here, 5 there"), "{}", advice[0].why);
    // Forks of one session have its rounds, and new ones of their own.
    let forks = |own: usize| {
        let mut fork = other.clone();
        for round in &mut fork.rounds[..12 - own] {
            round.origin = Some(Origin { session: long().id, seq: round.seq });
        }
        fork
    };
    none(None, &forks(1), None);
    let advice = of(None, &[(&forks(3), None)]);
    assert!(advice[0].why.ends_with("T10:11Z: 3 rounds here, 3 there"), "{}", advice[0].why);
    // Of many sessions, those with the most rounds.
    let many: Vec<Session> = (0..5)
        .map(|n| {
            let mut session = other.clone();
            session.id = format!("{n}0b0aaaa-1");
            session.rounds.truncate(4 + n);
            session.ended = session.rounds.last().and_then(|round| round.ended);
            session
        })
        .collect();
    let all: Vec<_> = many.iter().map(|session| (session, None)).collect();
    let advice = of(None, &all);
    let named: Vec<&str> = advice.iter().map(|a| &a.command[a.command.len() - 8..]).collect();
    assert_eq!(named, ["40b0aaaa", "30b0aaaa", "20b0aaaa"]);
    assert!(advice[2].why.ends_with("; 2 more ran then, with fewer rounds"), "{}", advice[2].why);
}

#[test]
fn a_cut_is_found_for_a_successor() {
    let turn = cut(&long(), &[]).unwrap();
    assert_eq!((turn.seq, turn.why.as_str()), (9, "the last third of its tokens"));
    let mut uneven = long();
    uneven.rounds[11].tokens = 1_000_000;
    assert_eq!(cut(&uneven, &[]).unwrap().seq, 12, "the last round is always kept");
    uneven.rounds[0].tokens = 100_000_000;
    assert_eq!(cut(&uneven, &[]).unwrap().seq, 2, "and something is always cut off");
    assert_eq!(cut(&session(&[(0, false)]), &[]), None);
    assert_eq!(cut(&Session::default(), &[]), None);
    let advice = advise(&long(), &[], &Beside::default());
    let command = "brain-guard surgery compress-before 3f0a9d1e round:9";
    assert_eq!(commands(&advice), [(Case::OldRounds, command)]);
    let why = "rounds 1-8 lie before the last third of its tokens (2026-03-19T10:08Z); round 9 is the first to stay: ask 8";
    assert_eq!(advice[0].why, why);
    assert!(advice[0].frees > 7_000, "{advice:?}");
    // Nothing can be cut off.
    let advice = advise(&session(&[(0, false)]), &[], &Beside::default());
    assert_eq!(commands(&advice), [(Case::NothingLeft, "")]);
}
