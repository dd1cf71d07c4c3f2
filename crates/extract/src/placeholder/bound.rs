//! How long a placeholder is at most, without making it: most values need not be asked more.

use super::{About, GAIN, tail};

/// Bytes that a placeholder takes at most besides what stays of the value, and names.
const FRAME: usize = 180;

/// Bytes of a value of so many characters from which on every placeholder that tells this is
/// shorter by enough.
pub fn long(about: &About, chars: u32) -> usize {
    let names = 3 * json_of(about.entry) + json_of(about.session) + about.tool.map_or(0, json_of);
    let shown = (about.keep + tail(about.keep)) as usize;
    // What is shown of the text takes at most four bytes of JSON a character: quotes are two, and
    // nothing else is escaped. Where it has few characters of more than a byte, it can't show
    // more of them; of those a mark may become one that is half as long again.
    let longer = about.json.len().saturating_sub(chars as usize);
    (4 * shown).min(shown + 2 * longer) + names + FRAME + GAIN
}

/// Bytes of a name's JSON at most.
fn json_of(name: &str) -> usize {
    let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    if name.bytes().all(plain) { name.len() } else { 6 * name.len() }
}

#[cfg(test)]
mod tests {
    use super::super::json;
    use super::*;
    use sessions::settings::Placeholder;

    #[test]
    fn no_placeholder_is_longer_than_is_said() {
        let names = [("a1b2c3d4", "3f0a9d1e", "exec"), ("a\u{1}\"b", "«s»", "\\日本")];
        for (keep, (entry, session, tool)) in
            [0, 1, 160, 10_000].into_iter().flat_map(|keep| names.map(|names| (keep, names)))
        {
            let said = |text: &str| {
                let value = serde_json::to_vec(text).unwrap();
                let tool = Some(tool);
                let about = About { entry, session, tool, json: &value, keep };
                let put = json(&about, Placeholder::Full, false).map(|put| put.len());
                (value.len(), long(&about, text.chars().count() as u32), put)
            };
            for one in ["\"", "🦀", "\\", "\u{1}", "«"] {
                for ahead in [0, 3, 50, 400] {
                    for times in (200..1_500).step_by(13) {
                        let text = [one.repeat(ahead), "x".repeat(times)].concat();
                        let (length, long, put) = said(&text);
                        assert!(length < long || put.is_some(), "{keep} {one} {ahead} {times}");
                    }
                }
                let (_, long, put) = said(&one.repeat(45_000));
                assert!(put.is_some_and(|put| put + GAIN <= long), "{keep} {one}");
            }
        }
    }

    /// Of plain text the longest placeholder that is said is not much longer than the one there is.
    #[test]
    fn of_plain_text_little_is_left_open() {
        let value = serde_json::to_vec(&"x".repeat(5_000)).unwrap();
        let session = "0000012c-0010-4000-8000-000000000000";
        let about =
            About { entry: "a1b2c3d4", session, tool: Some("exec"), json: &value, keep: 160 };
        let put = json(&about, Placeholder::Full, false).unwrap();
        assert!(long(&about, 5_000) < put.len() + GAIN + 60);
    }
}
