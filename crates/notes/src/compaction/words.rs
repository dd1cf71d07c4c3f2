//! Counts words.

/// Counts words: runs without white space that contain a letter or digit. Each ideograph and kana
/// counts as one, because their scripts use no spaces. Comments do not count.
pub fn count_words(text: &str) -> usize {
    visible(text).map(|part| part.split_whitespace().map(words_of_run).sum::<usize>()).sum()
}

/// The parts of a text outside of HTML comments. An unclosed comment hides nothing.
pub(crate) fn visible(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let hidden = text.find("<!--").and_then(|start| {
            let end = text[start + 4..].find("-->")?;
            Some((start, start + 4 + end + 3))
        });
        let Some((start, end)) = hidden else { return Some(text) };
        rest = Some(&text[end..]);
        Some(&text[..start])
    })
}

fn words_of_run(run: &str) -> usize {
    if run.is_ascii() {
        return usize::from(run.bytes().any(|byte| byte.is_ascii_alphanumeric()));
    }
    let (mut words, mut in_word) = (0, false);
    for letter in run.chars() {
        if is_cjk(letter) {
            words += 1;
            in_word = false;
        } else if letter.is_alphanumeric() && !in_word {
            words += 1;
            in_word = true;
        }
    }
    words
}

/// Ideographs and kana, where each character counts as a word.
pub(crate) fn is_cjk(letter: char) -> bool {
    matches!(letter,
        '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fd}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3134f}')
}
