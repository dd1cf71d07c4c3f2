//! A cut read counts as a later read only of what it returned.

use super::*;

#[test]
fn a_read_that_was_cut_stands_for_no_more_than_it_gave() {
    let gave = |letter: &str, lines: usize, cut: bool| {
        let notice = "\\n\\n[Showing lines 1-90 of 4000. Use offset=91 to continue.]";
        format!(
            "{}{}",
            format!("{letter}{letter} a line of it\\n").repeat(lines),
            if cut { notice } else { "" }
        )
    };
    let (whole, part) = (r#"{"path":"/w/a"}"#, r#"{"path":"/w/a","offset":10,"limit":20}"#);
    let settings = ExtractSettings { keep_recent: 100, ..ExtractSettings::default() };
    let read = |given, text: &str, n| asked(n, "read", given, text);
    for (first, second, goes_early) in [
        // The file grew: only the first read has its end.
        ((whole, gave("a", 90, false)), (whole, gave("b", 90, true)), false),
        ((part, gave("a", 90, false)), (whole, gave("b", 90, true)), false),
        ((whole, gave("a", 90, true)), (whole, gave("b", 90, true)), true),
        ((whole, gave("a", 90, true)), (whole, gave("b", 80, true)), false),
        ((whole, gave("a", 90, true)), (whole, gave("b", 80, false)), true),
        ((whole, gave("a", 90, true)), (part, gave("b", 90, true)), false),
        ((part, gave("a", 90, true)), (part, gave("b", 95, true)), true),
        ((part, gave("a", 90, true)), (whole, gave("b", 9, false)), false),
        // As many lines as a client returns at most, cut silently.
        ((whole, gave("a", 90, false)), (whole, gave("b", 90, false) + "\\n  2000\\tlast"), false),
    ] {
        let rows = [
            read(first.0, &first.1, 1),
            read(second.0, &second.1, 2),
            flat("end", "assistant", "content", ""),
        ];
        let found = goes(&rows, &settings);
        let why = format!("{:?} {:?}: {found:?}", &first.1[..20], &second.1[..20]);
        assert_eq!(found.iter().any(|item| item.1 == Goes::Reread), goes_early, "{why}");
    }
}
