//! Maps times to positions on the common time axis, in percent of its width. Idle time is cut
//! short, because one night would flatten a day's work.

use chrono::{DateTime, FixedOffset, TimeDelta};

use base::clock::Time;

/// Longer pauses are cut.
const IDLE: TimeDelta = TimeDelta::minutes(20);
/// Share of the axis that a cut pause keeps.
const LEFT: f64 = 0.04;

/// Steps between ticks, in seconds.
const STEPS: [i64; 15] =
    [1, 2, 5, 15, 30, 60, 120, 300, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400];

/// Maps times to positions.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    /// Active periods and their positions.
    spans: Vec<Span>,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    from: Time,
    to: Time,
    x: (f64, f64),
}

/// A mark on the axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    /// Its position in percent.
    pub(super) x: f64,
    pub(super) label: String,
}

/// A cut pause.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pause {
    /// Positions of its start and end, in percent.
    pub(super) x: (f64, f64),
    pub(super) length: TimeDelta,
}

impl Scale {
    /// A scale for these sorted times. A single time is in the middle.
    pub(super) fn new(times: &[Time]) -> Self {
        let mut stretches: Vec<(Time, Time)> = Vec::new();
        for at in times {
            match stretches.last_mut() {
                Some((_, to)) if *at - *to <= IDLE => *to = *at,
                _ => stretches.push((*at, *at)),
            }
        }
        let length = |(from, to): &(Time, Time)| seconds(*to - *from);
        let active: f64 = stretches.iter().map(length).sum();
        let pauses = stretches.len().saturating_sub(1) as f64;
        // All pauses together take at most 40 %, so that the work stays visible.
        let pause = if pauses > 0.0 { LEFT.min(0.4 / pauses) * 100.0 } else { 0.0 };
        let room = 100.0 - pause * pauses;
        let mut x = 0.0;
        let spans = stretches
            .iter()
            .map(|stretch| {
                let share = if active > 0.0 {
                    length(stretch) / active
                } else {
                    1.0 / stretches.len() as f64
                };
                let span = Span { from: stretch.0, to: stretch.1, x: (x, x + share * room) };
                x = span.x.1 + pause;
                span
            })
            .collect();
        Self { spans }
    }

    /// The position of a time. Times in a pause are interpolated.
    pub(super) fn x(&self, at: Time) -> f64 {
        let (Some(first), Some(last)) = (self.spans.first(), self.spans.last()) else {
            return 50.0;
        };
        if at <= first.from && first.from < first.to {
            return first.x.0;
        }
        if at >= last.to && last.from < last.to {
            return last.x.1;
        }
        let mut before: Option<Span> = None;
        for span in &self.spans {
            if at < span.from {
                return before
                    .map_or(span.x.0, |b| between(at, (b.to, span.from), (b.x.1, span.x.0)));
            }
            if at <= span.to {
                return between(at, (span.from, span.to), span.x);
            }
            before = Some(*span);
        }
        last.x.1
    }

    /// The cut pauses.
    pub(super) fn pauses(&self) -> Vec<Pause> {
        let pairs = self.spans.iter().zip(self.spans.iter().skip(1));
        pairs.map(|(a, b)| Pause { x: (a.x.1, b.x.0), length: b.from - a.to }).collect()
    }

    /// About six marks at most, at round times of the day.
    pub(super) fn ticks(&self, zone: FixedOffset) -> Vec<Tick> {
        let active: f64 = self.spans.iter().map(|s| seconds(s.to - s.from)).sum();
        let fits = |step: &&i64| active / (**step as f64) <= 6.0;
        let step = STEPS.iter().find(fits).copied().unwrap_or(7 * 86_400);
        let mut ticks: Vec<Tick> = Vec::new();
        let mut day = None;
        for span in &self.spans {
            let local = span.from.with_timezone(&zone);
            let offset = i64::from(zone.local_minus_utc());
            let begin =
                (span.from.timestamp() + offset + step - 1).div_euclid(step) * step - offset;
            let mut marks: Vec<Time> = (0..200)
                .filter_map(|n| DateTime::from_timestamp(begin + n * step, 0))
                .take_while(|at| *at <= span.to)
                .collect();
            if marks.is_empty() {
                marks.push(local.to_utc());
            }
            for at in marks {
                let x = self.x(at);
                if ticks.last().is_some_and(|last| x - last.x < 11.0) {
                    continue;
                }
                let local = at.with_timezone(&zone);
                let format = if step < 60 { "%H:%M:%S" } else { "%H:%M" };
                let time = local.format(format).to_string();
                let new_day = day.is_some_and(|d| d != local.date_naive());
                day = Some(local.date_naive());
                let label =
                    if new_day { format!("{} {time}", local.format("%m-%d")) } else { time };
                ticks.push(Tick { x, label });
            }
        }
        ticks
    }
}

fn seconds(delta: TimeDelta) -> f64 {
    delta.num_milliseconds() as f64 / 1000.0
}

fn between(at: Time, (from, to): (Time, Time), (a, b): (f64, f64)) -> f64 {
    let whole = seconds(to - from);
    let part = if whole > 0.0 { seconds(at - from) / whole } else { 0.5 };
    a + (b - a) * part
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Time {
        DateTime::from_timestamp(1_800_000_000 + second, 0).unwrap()
    }

    #[test]
    fn a_night_is_cut_short() {
        let scale = Scale::new(&[at(0), at(600), at(50_000), at(50_600)]);
        let places = [0, 600, 50_000, 50_600].map(|s| (scale.x(at(s)) * 10.0).round());
        assert_eq!(format!("{places:?}"), "[0.0, 480.0, 520.0, 1000.0]");
        assert_eq!(scale.pauses()[0].length.num_seconds(), 49_400);
    }

    #[test]
    fn one_moment_stands_inside_and_none_breaks_nothing() {
        assert!((0.0..=100.0).contains(&Scale::new(&[at(0)]).x(at(0))));
        let none = Scale::new(&[]);
        assert!(
            none.x(at(0)).is_finite() && none.ticks(FixedOffset::east_opt(0).unwrap()).is_empty()
        );
    }

    #[test]
    fn ticks_are_round_local_times() {
        let zone = FixedOffset::east_opt(5 * 3_600 + 1_800).unwrap();
        let ticks = Scale::new(&[at(0), at(900), at(1_800), at(2_700), at(3_600)]).ticks(zone);
        assert!((3..=7).contains(&ticks.len()), "{ticks:?}");
        assert!(
            ticks.iter().all(|t| t.label.ends_with("00")
                || t.label.ends_with("15")
                || t.label.ends_with("30")
                || t.label.ends_with("45")),
            "{ticks:?}"
        );
    }

    proptest! {
        #[test]
        fn later_never_lies_to_the_left(mut seconds in proptest::collection::vec(0i64..200_000, 2..40)) {
            seconds.sort_unstable();
            let times: Vec<Time> = seconds.iter().map(|s| at(*s)).collect();
            let scale = Scale::new(&times);
            let places: Vec<f64> = times.iter().map(|t| scale.x(*t)).collect();
            prop_assert!(places.windows(2).all(|p| p[0] <= p[1] + 1e-9), "{:?}", places);
            prop_assert!(places.iter().all(|x| (-1e-9..=100.000_001).contains(x)), "{:?}", places);
        }
    }
}
