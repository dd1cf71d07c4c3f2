//! Step 7: writes version, time and digest.

use chrono::SecondsFormat;

use crate::compaction::{CanonicalSection, FrontMatter, canonical, digest, parse};

use super::draft::Draft;

/// Writes the file with its new stamp.
pub(super) fn run(draft: &Draft) -> String {
    let shape = draft.shape();
    let mut sections: Vec<_> = draft.comments.iter().map(|comments| section(comments)).collect();
    for item in draft.items.iter().chain(&draft.git) {
        if let Some(section) = item.section.and_then(|index| sections.get_mut(index)) {
            section.items.push((&item.marker, &item.text));
        }
    }
    let last = draft.front.version.unwrap_or(0).max(draft.input.last_version);
    let version = Some(last + 1);
    let sealed = Some(draft.input.now.to_rfc3339_opts(SecondsFormat::Secs, true));
    let mut front = FrontMatter { version, sealed, digest: None, ..draft.front.clone() };
    let unstamped = canonical(&front, &draft.title, shape, &sections);
    front.digest = Some(digest(&parse(&unstamped, shape)));
    canonical(&front, &draft.title, shape, &sections)
}

fn section(comments: &[String]) -> CanonicalSection<'_> {
    CanonicalSection { comments: comments.iter().map(String::as_str).collect(), items: Vec::new() }
}
