//! The rows below the page's plot: a strip of tiers, and marks for events.

use std::fmt::Write as _;

use super::html::escape;
use super::plot::{severity, stretch};
use super::scale::Scale;
use super::{Line, Part, Report, What};
use base::clock::Time;

/// Estimated width of a tier's name, in percent of a desktop page.
fn tier_letters(name: &str) -> f64 {
    name.chars().count() as f64 * 0.8 + 1.0
}

/// The strip of tiers.
pub(super) fn strip(scale: &Scale, parts: &[Part], local: impl Fn(Time) -> String) -> String {
    let mut out =
        String::from("<svg class=\"lane strip\" id=\"stance\" width=\"100%\" height=\"22\">");
    for part in parts {
        for band in &part.stances {
            let (x, width) = stretch(scale, band.from, band.to);
            let name = escape(&band.tier);
            let cap = band.cap.as_ref().map(|c| format!(", not blocked: {c}")).unwrap_or_default();
            let tip = format!("{} from {} to {}{cap}", band.tier, local(band.from), local(band.to));
            let _ = write!(
                out,
                "<svg class=\"band\" x=\"{x:.3}%\" y=\"3\" width=\"{:.3}%\" height=\"16\" data-tier=\"{name}\" data-from=\"{}\" data-to=\"{}\" data-tip=\"{}\"><rect class=\"{}\" width=\"100%\" height=\"16\" rx=\"2\"/>",
                width.max(0.4),
                band.from.to_rfc3339(),
                band.to.to_rfc3339(),
                escape(&tip),
                severity(part, band.rank, band.cap.is_some())
            );
            // A name is drawn only if it fits, because the band would cut it off.
            if width > tier_letters(&band.tier) {
                let _ = write!(out, "<text x=\"5\" y=\"12\">{name}</text>");
            }
            out.push_str("</svg>");
        }
    }
    out + "</svg>"
}

/// A row of marks of one kind.
pub(super) struct Lane {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    /// SVG path of a mark around its center.
    shape: &'static str,
    like: fn(&Line) -> bool,
}

/// The rows of marks, from top to bottom.
pub(super) const LANES: [Lane; 6] = [
    Lane {
        id: "denials",
        label: "denials",
        shape: "M-4-4L4 4M-4 4L4-4",
        like: |line| {
            matches!(line.what, What::Deny(_) | What::WouldDeny(_) | What::Stop | What::WouldStop)
        },
    },
    Lane {
        id: "notes",
        label: "notes",
        shape: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        like: Line::is_note,
    },
    Lane {
        id: "carve-outs",
        label: "allowed",
        shape: "M-4 0L-1 3L4-4",
        like: |line| matches!(line.what, What::Allow(_) | What::Partial(_) | What::Cut(_)),
    },
    Lane {
        id: "seals",
        label: "seals",
        shape: "M0-5L5 0L0 5L-5 0z",
        like: |line| matches!(line.what, What::Sealed(_)),
    },
    Lane {
        id: "boundaries",
        label: "boundary",
        shape: "M-4-5L4 0L-4 5z",
        like: |line| matches!(line.what, What::Boundary(_) | What::Delivered { .. }),
    },
    Lane {
        id: "others",
        label: "other",
        shape: "M0-5L5 4L-5 4z",
        like: |line| {
            matches!(
                line.what,
                What::Override { .. }
                    | What::Lifted { .. }
                    | What::NoBoundary { .. }
                    | What::ClientCompaction
                    | What::Fault { .. }
            )
        },
    },
];

impl Lane {
    /// The row as SVG; `None` without events of the kind. Marks that would overlap become one.
    pub(super) fn draw(
        &self,
        scale: &Scale,
        report: &Report,
        local: impl Fn(Time) -> String,
    ) -> Option<String> {
        let mut heaps: Vec<(f64, Vec<&Line>)> = Vec::new();
        let all = report.sessions.iter().flat_map(|part| &part.events);
        for event in all.filter(|event| (self.like)(event)) {
            let x = scale.x(event.at);
            match heaps.last_mut() {
                Some((at, heap)) if (x - *at).abs() < 1.2 => heap.push(event),
                _ => heaps.push((x, vec![event])),
            }
        }
        if heaps.is_empty() {
            return None;
        }
        let mut out =
            format!("<svg class=\"lane\" id=\"{}\" width=\"100%\" height=\"22\">", self.id);
        for (x, heap) in heaps {
            let mut tip: Vec<String> = heap
                .iter()
                .take(8)
                .map(|event| format!("{}  {}", local(event.at), event.brief()))
                .collect();
            if heap.len() > 8 {
                tip.push(format!("and {} more", heap.len() - 8));
            }
            let would =
                heap.iter().all(|event| matches!(event.what, What::WouldDeny(_) | What::WouldStop));
            let _ = write!(
                out,
                "<svg class=\"mark{}\" x=\"{x:.3}%\" y=\"11\" overflow=\"visible\" data-count=\"{}\" data-at=\"{}\" data-tip=\"{}\"><circle class=\"hit\" r=\"10\"/><path d=\"{}\"/></svg>",
                if would { " would" } else { "" },
                heap.len(),
                heap[0].at.to_rfc3339(),
                escape(&tip.join("\n")),
                self.shape
            );
        }
        Some(out + "</svg>")
    }
}
