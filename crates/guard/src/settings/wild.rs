//! Matches patterns in which a star stands for any number of elements.

/// Whether the whole pattern matches all names. Each element but a star matches one name.
pub(super) fn fits<P, N>(
    pattern: &[P],
    names: &[N],
    is_star: impl Fn(&P) -> bool,
    is_like: impl Fn(&P, &N) -> bool,
) -> bool {
    let (mut p, mut n) = (0, 0);
    // Position of the last star, and of the first name after those it has consumed.
    let mut star = None;
    while n < names.len() {
        if pattern.get(p).is_some_and(&is_star) {
            star = Some((p, n));
            p += 1;
        } else if pattern.get(p).is_some_and(|part| is_like(part, &names[n])) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            (p, n) = (at + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(is_star)
}
