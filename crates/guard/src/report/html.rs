//! What the page is written with.

use chrono::FixedOffset;

use super::text::clean;
use base::clock::Time;

/// Text for HTML, attributes in double quotes included.
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

/// A time as the page tells it.
pub(crate) fn local(at: Time, zone: FixedOffset) -> String {
    at.with_timezone(&zone).format("%m-%d %H:%M:%S").to_string()
}
