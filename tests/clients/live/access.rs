//! Decides whether a real session may run here, and finds its account.

use std::collections::BTreeMap;

/// The client's credentials: a key, or the token of a subscription (`claude setup-token`).
pub const KEYS: [&str; 2] = ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];

/// The address of a gateway, for users who do not reach the provider directly.
pub const URL: &str = "ANTHROPIC_BASE_URL";

/// The variables for the client. An error says why it may not run, and what to do.
pub fn access(of: impl Fn(&str) -> Option<String>) -> Result<BTreeMap<String, String>, String> {
    let set = |name: &str| of(name).filter(|value| !value.is_empty());
    if set("CI").is_some_and(|ci| ci != "false" && ci != "0") {
        let why = "CI is set: a live session spends the money of whoever runs it, so it never runs in CI; \
                   run `./test --live` by hand";
        return Err(why.to_owned());
    }
    let Some(key) = KEYS.into_iter().find(|name| set(name).is_some()) else {
        return Err(format!(
            "no key: set {}, or {} (`claude setup-token` prints one)",
            KEYS[0], KEYS[1]
        ));
    };
    let given = [key, URL].into_iter().filter_map(|name| Some((name.to_owned(), set(name)?)));
    Ok(given.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<BTreeMap<String, String>, String> {
        let find =
            |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        access(find)
    }

    #[test]
    fn access_is_refused_in_ci_and_without_a_key() {
        assert!(of(&[("CI", "true"), ("ANTHROPIC_API_KEY", "k")]).is_err_and(|e| e.contains("CI")));
        assert!(of(&[]).is_err_and(|e| e.contains("ANTHROPIC_API_KEY")));
        assert!(of(&[("ANTHROPIC_API_KEY", "")]).is_err());
    }

    #[test]
    fn only_the_first_key_is_passed_on() {
        let all = [
            ("CI", "false"),
            ("ANTHROPIC_API_KEY", "k"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "t"),
            ("HOME", "/h"),
        ];
        assert_eq!(of(&all), Ok(BTreeMap::from([("ANTHROPIC_API_KEY".into(), "k".into())])));
        let token = [("CLAUDE_CODE_OAUTH_TOKEN", "t"), (URL, "http://127.0.0.1:1")];
        assert_eq!(of(&token).expect("access").len(), 2);
    }
}
