//! The page's plots as SVG. Horizontal positions are percentages and heights are pixels, so that
//! a plot fits any screen and its text keeps its size. The line is in a nested SVG that is
//! stretched; marks are not.

use std::fmt::Write as _;

use super::Part;
use super::html::escape;
use super::scale::Scale;
use crate::policy::ramp::Tier;
use base::clock::Time;
use base::shown::format_duration;

/// Maximum number of dots. The others are left out evenly; the line has every point.
const DOTS: usize = 600;
/// With more dots than this they would hide the line, so they show only under the pointer.
const DENSE: usize = 60;

/// A plot of percentages over time.
pub(super) struct Frame {
    /// The plot's element id.
    pub(super) id: &'static str,
    /// What is plotted.
    pub(super) title: &'static str,
    /// Height in pixels.
    pub(super) height: f64,
    /// The percentage at the top.
    pub(super) max: f64,
}

impl Frame {
    /// A frame that shows up to `highest`, rounded up to a round number.
    pub(super) fn new(id: &'static str, title: &'static str, height: f64, highest: f64) -> Self {
        let step = if highest > 60.0 { 20.0 } else { 10.0 };
        let max = ((highest * 1.05 / step).ceil() * step).max(step * 2.0);
        Self { id, title, height, max }
    }

    fn y(&self, percent: f64) -> f64 {
        (self.height * (1.0 - percent / self.max) * 100.0).round() / 100.0
    }

    fn steps(&self) -> impl Iterator<Item = f64> {
        let step = match self.max {
            ..=60.0 => 10.0,
            ..=120.0 => 20.0,
            ..=300.0 => 50.0,
            max => (max / 500.0).ceil() * 100.0,
        };
        (0..).map(move |n| f64::from(n) * step).take_while({
            let max = self.max;
            move |percent| *percent <= max
        })
    }

    /// The labels of the percentages next to the plot.
    pub(super) fn gutter(&self) -> String {
        let mut out = format!(
            "<svg class=\"y\" width=\"100%\" height=\"{}\" aria-hidden=\"true\">",
            self.height
        );
        for percent in self.steps() {
            let y = (self.y(percent) + 4.0).clamp(9.0, self.height);
            let _ = write!(out, "<text x=\"100%\" dx=\"-6\" y=\"{y}\">{percent} %</text>");
        }
        out + "</svg>"
    }
}

/// One value of a series.
pub(super) struct Value {
    pub(super) at: Time,
    pub(super) percent: f64,
    /// The figure behind the percentage, and its limit.
    pub(super) figure: (u64, u64),
    /// The tooltip's text.
    pub(super) tip: String,
}

/// A plot: one line of values a session, over lines for the thresholds and areas for the tiers.
pub(super) fn plot(
    frame: &Frame,
    scale: &Scale,
    parts: &[Part],
    series: &[Vec<Value>],
    tier_at: impl Fn(&Tier) -> f64,
) -> String {
    let Frame { id, title, height, max } = frame;
    let count = series.iter().map(Vec::len).sum::<usize>();
    let dense = if count > DENSE { " dense" } else { "" };
    let mut out = format!(
        "<svg class=\"plot{dense}\" id=\"{id}\" role=\"img\" aria-label=\"{title}\" width=\"100%\" height=\"{height}\" data-height=\"{height}\" data-max=\"{max}\">"
    );
    draw_background(&mut out, frame, scale, parts);
    let names = tiers(&mut out, frame, scale, parts, tier_at);
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 1000 {height}\" preserveAspectRatio=\"none\" width=\"100%\" height=\"{height}\">"
    );
    for (part, values) in parts.iter().zip(series).filter(|(_, values)| !values.is_empty()) {
        let d: Vec<String> = values
            .iter()
            .map(|v| format!("{:.3} {}", scale.x(v.at) * 10.0, frame.y(v.percent)))
            .collect();
        let d = if d.len() == 1 { format!("{0} L{0}", d[0]) } else { d.join(" L") };
        let session = escape(&part.session);
        let _ = write!(out, "<path class=\"line\" data-session=\"{session}\" d=\"M{d}\"/>");
    }
    out.push_str("</svg>");
    let every = count.div_ceil(DOTS).max(1);
    for (part, values) in parts.iter().zip(series) {
        let session = escape(&part.session);
        for (index, v) in values.iter().enumerate().filter(|(i, _)| i % every == 0) {
            let _ = write!(
                out,
                "<circle class=\"dot\" cx=\"{:.3}%\" cy=\"{}\" r=\"3.5\" data-session=\"{session}\" data-index=\"{index}\" data-at=\"{}\" data-value=\"{}\" data-limit=\"{}\" data-percent=\"{}\" data-tip=\"{}\"/>",
                scale.x(v.at),
                frame.y(v.percent),
                v.at.to_rfc3339(),
                v.figure.0,
                v.figure.1,
                v.percent,
                escape(&v.tip)
            );
        }
    }
    out + &names + "</svg>"
}

fn draw_background(out: &mut String, frame: &Frame, scale: &Scale, parts: &[Part]) {
    for band in parts.iter().flat_map(|part| part.stances.iter().map(move |b| (part, b))) {
        let (x, width) = stretch(scale, band.1.from, band.1.to);
        let _ = write!(
            out,
            "<rect class=\"behind {}\" x=\"{x:.3}%\" width=\"{width:.3}%\" height=\"100%\"/>",
            severity(band.0, band.1.rank, band.1.cap.is_some())
        );
    }
    for percent in frame.steps() {
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{0}\" y2=\"{0}\"/>",
            frame.y(percent)
        );
    }
    for pause in scale.pauses() {
        let (a, b) = pause.x;
        let _ = write!(
            out,
            "<rect class=\"pause\" x=\"{a:.3}%\" width=\"{:.3}%\" height=\"100%\" data-tip=\"nothing for {}\"/>",
            b - a,
            format_duration(pause.length)
        );
    }
    for part in parts.iter().skip(1) {
        if let Some(from) = part.from {
            let x = scale.x(from);
            let _ = write!(
                out,
                "<line class=\"birth\" x1=\"{x:.3}%\" x2=\"{x:.3}%\" y1=\"0\" y2=\"100%\"/>"
            );
        }
    }
}

/// Draws the thresholds and returns their labels, which go on top of everything. Consecutive
/// sessions with equal tiers share them.
fn tiers(
    out: &mut String,
    frame: &Frame,
    scale: &Scale,
    parts: &[Part],
    tier_at: impl Fn(&Tier) -> f64,
) -> String {
    let (mut names, mut from) = (String::new(), 0);
    while from < parts.len() {
        let same = parts[from..].iter().take_while(|p| p.tiers == parts[from].tiers).count();
        let x = |part: Option<&Part>, otherwise: f64| {
            part.and_then(|p| p.from).map_or(otherwise, |at| scale.x(at))
        };
        let a = if from == 0 { 0.0 } else { x(parts.get(from), 0.0) };
        let b = x(parts.get(from + same), 100.0);
        for tier in &parts[from].tiers {
            let (percent, name) = (tier_at(tier), escape(&tier.name));
            let y = frame.y(percent);
            if percent > frame.max {
                continue;
            }
            let _ = write!(
                out,
                "<line class=\"tier\" x1=\"{a:.3}%\" x2=\"{b:.3}%\" y1=\"{y}\" y2=\"{y}\" data-tier=\"{name}\" data-percent=\"{percent}\"/>"
            );
            if b - a > 20.0 {
                let _ = write!(
                    names,
                    "<text class=\"tier\" x=\"{a:.3}%\" dx=\"5\" y=\"{}\">{name} {percent:.0} %</text>",
                    y - 4.0
                );
            }
        }
        from += same;
    }
    names
}

/// The CSS class of a tier, by its severity.
pub(super) fn severity(part: &Part, rank: usize, capped: bool) -> String {
    let blocks = part.tiers.get(rank - 1).is_some_and(|tier| !tier.blocks.is_empty());
    let class = match (rank >= part.tiers.len(), blocks) {
        (_, false) => "coach",
        (false, true) => "block",
        (true, true) => "top",
    };
    if capped { format!("{class} capped") } else { class.to_owned() }
}

pub(super) fn stretch(scale: &Scale, from: Time, to: Time) -> (f64, f64) {
    let (a, b) = (scale.x(from), scale.x(to));
    (a, (b - a).max(0.0))
}

/// The time axis.
pub(super) fn axis(scale: &Scale, zone: chrono::FixedOffset) -> String {
    let mut out =
        String::from("<svg class=\"axis\" width=\"100%\" height=\"22\" aria-hidden=\"true\">");
    for (index, tick) in scale.ticks(zone).into_iter().enumerate() {
        let anchor = match tick.x {
            ..=4.0 => "start",
            ..=96.0 => "middle",
            _ => "end",
        };
        // A phone has room only for every second label.
        let extra = if index % 2 == 1 { " class=\"extra\"" } else { "" };
        let _ = write!(
            out,
            "<g{extra}><line x1=\"{0:.3}%\" x2=\"{0:.3}%\" y1=\"0\" y2=\"4\"/><text x=\"{0:.3}%\" y=\"17\" text-anchor=\"{anchor}\">{1}</text></g>",
            tick.x, tick.label
        );
    }
    out + "</svg>"
}
