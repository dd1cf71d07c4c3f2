//! What users type by mistake: each answer is wrong usage, and names the right form.

use crate::support::hook::Hook;

/// What was typed, and what the answer must name.
const SLIPS: &[(&str, &str)] = &[
    ("statsu", "'status'"),
    ("off", "brain-guard override 30m"),
    ("disable", "settings set mode off"),
    ("why", "brain-guard explain"),
    ("undo", "/brain-guard:undo"),
    ("slim", "/brain-guard:slim"),
    ("clear", "brain-guard now"),
    ("config", "brain-guard settings show"),
    ("ls", "brain-guard sessions"),
    ("version", "brain-guard --version"),
    ("update", "install again"),
    ("status a b", "brain-guard status 3f0a9d1e"),
    ("status --jsn", "'--json'"),
    ("override", "brain-guard override 30m"),
    ("override off", "brain-guard override --off"),
    ("override soon", "30m, 2h or 1d"),
    ("override 30 minutes", "brain-guard override 30m"),
    ("override --time 30m", "brain-guard override 30m"),
    ("override 0", "from 1s to seven days"),
    ("later soon", "brain-guard later 1h"),
    ("now 30m", "brain-guard now"),
    ("explain --last 0", "1 or more"),
    ("explain --call", "brain-guard explain --call toolu_"),
    ("log --kind nonsense", "would-deny"),
    ("log --since yesterday", "write 2026-03-19, 2026-03-19T10:23, 2h or 3d"),
    ("log -n 20", "--last 50"),
    ("report --html", "--html report.html"),
    ("settings set", "brain-guard settings set profile relaxed"),
    ("settings set profile", "brain-guard settings set profile relaxed"),
    ("settings set nonsense 1", "`profile`"),
    ("settings set profile fast", "expected `auto` or `relaxed`"),
    ("settings get profile", "brain-guard settings show"),
    ("settings profile relaxed", "brain-guard settings set profile relaxed"),
    ("doctor fix", "brain-guard doctor --fix"),
    ("job pasue", "'pause'"),
    ("job focus", "brain-guard job focus parser-rewrite"),
    ("append --risk x", "brain-guard append --kind risk"),
    ("seal now", "brain-guard seal"),
    ("seal --clear --no-clear", "'--no-clear'"),
    ("phase enter", "brain-guard phase enter design"),
    ("view a b", "brain-guard view 3f0a9d1e"),
    ("rounds --last none", "1 or more"),
    ("sessions 3f0a9d1e", "brain-guard sessions"),
    ("search", "brain-guard search 'console design'"),
    ("show", "brain-guard show 3f0a9d1e:47"),
    ("tag", "brain-guard tag [SESSION] 3-5 console-work"),
    ("tag 3f0a9d1e console-work 3-5", "rounds come before the engagement"),
    ("tag --remove", "brain-guard tag --remove [SESSION] 3-5"),
    ("untag", "brain-guard tag --remove [SESSION] 3-5"),
    ("surgery compress 3f0a9d1e 2h", "'compress-before'"),
    ("surgery compress-before", "brain-guard surgery compress-before 2h"),
    ("surgery merge 3f0a9d1e", "brain-guard surgery merge 3f0a9d1e 7c41b2aa"),
    ("surgery undo", "brain-guard surgery remove"),
    ("merge 3f0a9d1e 7c41b2aa", "`brain-guard surgery merge`"),
    ("compress-before 3f0a9d1e 2h", "`brain-guard surgery compress-before`"),
    ("extract 3f0a9d1e", "brain-guard extract plan"),
    ("import", "brain-guard import --all"),
    ("purge everything", "brain-guard purge --dry-run"),
    ("install --force", "brain-guard install"),
    ("completions tcsh", "bash, zsh, fish"),
];

#[test]
fn a_slip_is_answered_with_the_right_form() {
    let mut hook = Hook::new();
    hook.set("CLAUDECODE", "");
    let wrong = SLIPS.iter().filter_map(|(typed, named)| {
        let words: Vec<&str> = typed.split(' ').collect();
        let answer = hook.raw(&words, b"");
        let is_right = answer.code == Some(2) && answer.stderr.contains(named);
        (!is_right).then(|| format!("{typed}: {named} is missing: {answer:?}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
