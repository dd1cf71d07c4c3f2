//! Helpers to write HTML.

use chrono::FixedOffset;

use super::text::clean;
use base::clock::Time;

/// Escapes text for HTML, also for quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A time as the page shows it.
pub(crate) fn local(at: Time, zone: FixedOffset) -> String {
    at.with_timezone(&zone).format("%m-%d %H:%M:%S").to_string()
}
