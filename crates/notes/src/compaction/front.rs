//! The YAML front matter: the guard's own keys, and all other lines unchanged.

/// The content of the front matter. Times stay as written (RFC 3339).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// The job the file belongs to.
    pub job: Option<String>,
    /// When the file was created.
    pub created: Option<String>,
    /// How often it was sealed.
    pub version: Option<u64>,
    /// When it was last sealed.
    pub sealed: Option<String>,
    /// The digest of the content at that time: [`super::digest`].
    pub digest: Option<String>,
    /// Every other line, word for word.
    pub extra: Vec<String>,
}

impl FrontMatter {
    /// Reads the front matter at the start of a text and returns where it ends (0 if there is
    /// none). It must come first, be closed, and look like keys and values. A text that only begins
    /// with a rule has none.
    pub fn read(text: &str) -> (Self, usize) {
        let none = (Self::default(), 0);
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let mut at = start;
        let mut lines = text[start..].split_inclusive('\n');
        let Some(first) = lines.next() else { return none };
        if first.trim_end() != "---" || !first.ends_with('\n') {
            return none;
        }
        at += first.len();
        let mut front = Self::default();
        let mut keys = 0;
        for line in lines {
            at += line.len();
            let line = line.trim_end();
            if line == "---" || line == "..." {
                return if keys > 0 { (front, at) } else { none };
            }
            if !looks_like_yaml(line) {
                return none;
            }
            keys += usize::from(line.contains(':'));
            front.take(line);
        }
        none
    }

    fn take(&mut self, line: &str) {
        let (key, value) =
            line.split_once(':').map_or(("", ""), |(key, value)| (key, unquote(value.trim())));
        let value = (!value.is_empty()).then(|| decode(value));
        match (key, value) {
            ("job", Some(value)) if self.job.is_none() => self.job = Some(value),
            ("created", Some(value)) if self.created.is_none() => self.created = Some(value),
            ("sealed", Some(value)) if self.sealed.is_none() => self.sealed = Some(value),
            ("digest", Some(value)) if self.digest.is_none() => self.digest = Some(value),
            ("version", Some(value)) if self.version.is_none() && value.parse::<u64>().is_ok() => {
                self.version = value.parse().ok();
            }
            ("job" | "created" | "sealed" | "digest" | "version", None) => {}
            _ if line.is_empty() => {}
            _ => self.extra.push(line.to_owned()),
        }
    }

    /// Writes the front matter with its fences. Leaves out keys without a value.
    pub(super) fn write(&self, out: &mut String) {
        out.push_str("---\n");
        let version = self.version.map(|version| version.to_string());
        let keys = [
            ("job", &self.job),
            ("created", &self.created),
            ("version", &version),
            ("sealed", &self.sealed),
            ("digest", &self.digest),
        ];
        for (key, value) in keys {
            if let Some(value) = value {
                out.push_str(key);
                out.push_str(": ");
                encode(value, out);
                out.push('\n');
            }
        }
        for line in &self.extra {
            out.push_str(line);
            out.push('\n');
        }
        out.push_str("---\n");
    }
}

/// Whether a line is blank, a comment, a key, or continues a key.
fn looks_like_yaml(line: &str) -> bool {
    if line.is_empty() || line.starts_with([' ', '\t', '#']) || line.starts_with("- ") {
        return true;
    }
    let Some((key, value)) = line.split_once(':') else { return false };
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !key.is_empty()
        && key.bytes().all(letter)
        && (value.is_empty() || value.starts_with([' ', '\t']))
}

fn unquote(value: &str) -> &str {
    value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).unwrap_or(value)
}

/// Reads a YAML double-quoted scalar (a JSON string is one). Any other value stays unchanged.
fn decode(value: &str) -> String {
    let quoted = value.starts_with('"').then(|| serde_json::from_str(value).ok()).flatten();
    quoted.unwrap_or_else(|| value.to_owned())
}

fn encode(value: &str, out: &mut String) {
    let plain = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_' | '.' | '/' | ':' | '+')
    };
    let edge = |letter: char| letter.is_alphanumeric();
    let plain = value.chars().all(plain)
        && value.starts_with(edge)
        && value.ends_with(edge)
        && !value.contains(": ")
        && value.trim() == value;
    if plain {
        out.push_str(value);
    } else {
        out.push_str(&serde_json::Value::from(value).to_string());
    }
}

/// Formats a value as a scalar of the front matter.
pub(super) fn scalar(value: &str) -> String {
    let mut out = String::new();
    encode(value, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_rule_is_no_front_matter() {
        for text in [
            "",
            "---",
            "---\n",
            "---\n---\n",
            "---\njob: a\n",
            "---\njob: a\nsome prose\n---\n",
            "x\n---\n",
        ] {
            assert_eq!(FrontMatter::read(text), (FrontMatter::default(), 0), "{text:?}");
        }
    }

    #[test]
    fn foreign_keys_are_carried_along() {
        let text = "\u{feff}---\r\njob: 'a b'\r\ntags:\r\n  - x\r\nversion: many\r\nversion: 3\r\n---\r\nbody";
        let (front, end) = FrontMatter::read(text);
        assert_eq!(&text[end..], "body");
        assert_eq!((front.job.as_deref(), front.version), (Some("a b"), Some(3)));
        assert_eq!(front.extra, ["tags:", "  - x", "version: many"]);
    }

    proptest! {
        #[test]
        fn any_job_is_read_back(job in "\\PC{1,20}", version in any::<u64>()) {
            let front = FrontMatter { job: Some(job), version: Some(version), ..FrontMatter::default() };
            let mut text = String::new();
            front.write(&mut text);
            prop_assert_eq!(FrontMatter::read(&text), (front, text.len()));
        }
    }
}
