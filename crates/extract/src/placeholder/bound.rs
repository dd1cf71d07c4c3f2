//! An upper bound for the length of a placeholder, without making it: for most values that is
//! enough.

use super::{About, GAIN, tail};

/// The most bytes of a placeholder besides the names and what it shows of the value.
const FRAME: usize = 180;

/// Bytes from which a value with that many characters is long enough for any placeholder that tells
/// this.
pub fn long(about: &About, chars: u32) -> usize {
    let names = 3 * json_of(about.entry) + json_of(about.session) + about.tool.map_or(0, json_of);
    let shown = (about.keep + tail(about.keep)) as usize;
    // A shown character takes at most four bytes of JSON: a quote takes two, and nothing else is
    // escaped. A value with few multi-byte characters cannot show more of them; `«` becomes the
    // half longer `‹`, so their extra bytes count twice.
    let longer = about.json.len().saturating_sub(chars as usize);
    (4 * shown).min(shown + 2 * longer) + names + FRAME + GAIN
}

/// The most bytes of a name's JSON.
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

    /// For plain text, the bound is not much longer than the real placeholder.
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
