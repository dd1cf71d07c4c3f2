//! Placeholders that name their content, so that they differ.

use serde_json::json;

/// Digits of a digest that tell contents apart.
const MARK: usize = 16;

/// The placeholder with the start of the content's SHA-256 after the entry. It differs from one of
/// the same entry with other content.
pub fn marked(put: &[u8], entry: &str, content: &str) -> Vec<u8> {
    let name = serde_json::to_vec(&format!("[[extracted-{entry}]]")).unwrap_or_default();
    let name = name.strip_suffix(b"\"").unwrap_or_default();
    let mut marked = put.to_vec();
    if let Some(at) = memchr::memmem::find(put, name) {
        let mark = format!(" {}", content.get(..MARK).unwrap_or(content));
        let at = at + name.len();
        marked.splice(at..at, mark.bytes());
    }
    marked
}

/// The placeholder that tells only the entry: as a string, and as a block. Two sessions may have
/// the same one for different content.
pub fn plain(entry: &str) -> [Vec<u8>; 2] {
    let name = format!("[[extracted-{entry}]]");
    let block = json!({ "type": "text", "text": name });
    [json!(name), block].map(|json| serde_json::to_vec(&json).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::About;
    use super::super::json as put_for;
    use super::*;
    use sessions::settings::Placeholder;

    #[test]
    fn one_that_is_there_already_is_marked() {
        let text = serde_json::to_vec(&"x".repeat(900)).unwrap();
        let about = About { entry: "a\"1", session: "s", tool: None, json: &text, keep: 160 };
        let content = "0123456789abcdef0123";
        for (form, whole) in
            [(Placeholder::Plain, false), (Placeholder::Plain, true), (Placeholder::Full, true)]
        {
            let put = put_for(&about, form, whole).unwrap();
            if form == Placeholder::Plain {
                assert_eq!(plain(about.entry)[usize::from(whole)], put);
            }
            let with = String::from_utf8(marked(&put, about.entry, content)).unwrap();
            assert!(with.contains(r#""[[extracted-a\"1]] 0123456789abcdef"#), "{with}");
            assert_eq!(with.replacen(" 0123456789abcdef", "", 1).as_bytes(), put);
            serde_json::from_str::<serde_json::Value>(&with).unwrap();
        }
    }
}
