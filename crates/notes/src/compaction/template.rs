//! Creates a compaction file from a template.

use chrono::{DateTime, SecondsFormat, Utc};

use super::front::scalar;
use super::render::{heading, one_line};
use super::{Shape, parse};

/// The template for settings that name none.
pub const DEFAULT_TEMPLATE: &str = include_str!("../../../../templates/compaction.md");

/// Fills a template: `{{job}}`, `{{created}}` (RFC 3339) and `{{sections}}` (headings with
/// prompts). Sections that the template lacks are added at the end.
pub fn template(template: &str, shape: &Shape, job: &str, now: DateTime<Utc>) -> String {
    let mut out = String::with_capacity(template.len() + 1024);
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let end = from.find("}}").map_or(from.len(), |end| end + 2);
        match &from[..end] {
            // A value in the front matter is quoted if needed.
            "{{job}}" if out.ends_with("job: ") => out.push_str(&scalar(job)),
            "{{job}}" => out.push_str(&one_line(job)),
            "{{created}}" => out.push_str(&now.to_rfc3339_opts(SecondsFormat::Secs, true)),
            "{{sections}}" => out.push_str(&sections(shape, |_| true)),
            other => out.push_str(other),
        }
        rest = &from[end..];
    }
    out.push_str(rest);
    let document = parse(&out, shape);
    let missing = sections(shape, |section| !document.has_section(section));
    if !missing.is_empty() {
        out.truncate(out.trim_end().len());
        out.push_str(if out.is_empty() { "" } else { "\n\n" });
        out.push_str(&missing);
        out.push('\n');
    }
    out
}

fn sections(shape: &Shape, wanted: impl Fn(usize) -> bool) -> String {
    let mut out = String::new();
    for (index, section) in shape.sections.iter().enumerate().filter(|(index, _)| wanted(*index)) {
        out.push_str(if index > 0 && !out.is_empty() { "\n" } else { "" });
        heading(section, "\n", &mut out);
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::{Stamp, StampState, measure};

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).expect("in range")
    }

    #[test]
    fn a_new_file_has_every_section_and_no_words() {
        let shape = Shape::default();
        for job in ["parser-rewrite", "Open Threads", "a \"b\": {{sections}}", "#"] {
            let text = template(DEFAULT_TEMPLATE, &shape, job, now());
            let document = parse(&text, &shape);
            assert_eq!(document.front().job.as_deref(), Some(job));
            assert_eq!(document.front().created.as_deref(), Some("2027-01-15T08:00:00Z"));
            assert!(
                (0..shape.sections.len()).all(|section| document.has_section(section)),
                "{text}"
            );
            assert_eq!((measure(&document).total, document.entries().count()), (0, 0), "{text}");
            assert_eq!(Stamp::check(&document), StampState::Absent);
        }
    }

    #[test]
    fn a_template_without_sections_gets_them() {
        let shape = Shape::default();
        let text = template("# {{job}} {{other}}\n\n## Open threads\n", &shape, "x", now());
        assert!(
            text.starts_with(
                "# x {{other}}\n\n## Open threads\n\n## Forward State\n<!-- What to do"
            ),
            "{text}"
        );
        assert_eq!(text.matches("Threads").count(), 0);
        assert!(template("", &shape, "x", now()).starts_with("## Forward State\n"));
    }
}
