//! The page in Chromium: it draws the measured values, and nothing else happens.

use std::fs;
use std::path::PathBuf;

use base::clock::now;
use serde_json::json;

use crate::report::browser::{Browser, responses};
use crate::support::hook::{Hook, LIMIT};

/// A response from this many minutes ago, in the client's format.
fn respond(hook: &Hook, minutes: i64, percent: f64) {
    let at = now() - chrono::TimeDelta::minutes(minutes);
    let tokens = (LIMIT as f64 * percent / 100.0).ceil() as u64;
    let row = json!({"type": "assistant", "isSidechain": false, "timestamp": at.to_rfc3339(), "message": {
        "id": format!("msg_{minutes}"), "model": "claude-opus-5-5", "role": "assistant", "content": [],
        "usage": {"input_tokens": 7, "cache_creation_input_tokens": 0, "cache_read_input_tokens": tokens - 107, "output_tokens": 100}}});
    let text = fs::read_to_string(&hook.transcript).unwrap_or_default();
    fs::write(&hook.transcript, format!("{text}{row}\n")).expect("transcript");
}

/// A session that climbed through the tiers, got notes and denials, wrote and sealed.
fn climbed(tool: &str) -> Hook {
    let hook = Hook::new();
    assert!(hook.start("startup").silent());
    for (minutes, percent) in [(12, 5.0), (9, 14.5), (6, 21.0)] {
        respond(&hook, minutes, percent);
        hook.read();
    }
    assert!(!hook.batch().note().is_empty());
    respond(&hook, 3, 26.0);
    assert_eq!(hook.read().verdict(), "deny");
    assert_eq!(hook.pre(tool, &json!({})).verdict(), "deny");
    respond(&hook, 1, 31.25);
    hook.agent("brain-guard append --kind next 'the parser fails on CRLF'");
    hook.agent("brain-guard seal --no-clear");
    hook
}

fn page(hook: &Hook) -> PathBuf {
    let file = hook.home.join("report.html");
    let answer = hook.raw(&["report", "--html", file.to_str().expect("utf-8")], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    file
}

#[test]
fn the_page_draws_the_measured_values() {
    let hook = climbed("Grep");
    let mut browser = Browser::open(&page(&hook));
    let expected = responses(&hook.transcript);
    assert_eq!(expected.len(), 5);
    for width in [1280, 390] {
        browser.resize(width, 900);
        let dots = browser.dots("fill");
        let read: Vec<(String, u64)> = dots.iter().map(|d| (d.at.clone(), d.value)).collect();
        assert_eq!(read, expected);
        for (dot, (_, tokens)) in dots.iter().zip(&expected) {
            let percent = *tokens as f64 * 100.0 / LIMIT as f64;
            // Rounding may cost half a pixel.
            let pixel = dot.max / dot.height;
            assert!((dot.drawn() - percent).abs() < pixel, "{dot:?} is not at {percent} %");
        }
        assert!(dots.windows(2).all(|d| d[0].x < d[1].x), "{dots:?}");
        assert!(dots[0].x.abs() < 0.01, "{dots:?}");
        let line = browser.evaluate("document.querySelector('#fill .line').getAttribute('d')");
        assert_eq!(line.as_str().expect("a path").split('L').count(), expected.len());
        let wide = browser.evaluate("document.documentElement.scrollWidth");
        assert!(wide.as_u64() <= Some(u64::from(width)), "{wide} of {width}");
    }
    let tiers = "[...document.querySelectorAll('#fill line.tier')].map(t => t.dataset.tier + t.dataset.percent).join()";
    assert_eq!(browser.evaluate(tiers), "coach20,block-reads25,narrow30");
    let marks = |lane: &str| {
        format!(
            "[...document.querySelectorAll('#{lane} .mark')].reduce((n, m) => n + +m.dataset.count, 0)"
        )
    };
    assert_eq!(browser.evaluate(&marks("denials")), 2);
    assert!(browser.evaluate(&marks("notes")).as_u64() >= Some(1));
    assert_eq!(browser.evaluate(&marks("seals")), 1);
    let bands = "[...document.querySelectorAll('#stance .band')].map(b => b.dataset.tier).join()";
    // The rows are in the past, but the hooks ran now, so the tiers appear twice.
    let bands = browser.evaluate(bands);
    assert!(bands.as_str().expect("text").starts_with("coach,block-reads,narrow"), "{bands}");
    let words = browser.dots("words");
    assert!(words.iter().any(|dot| dot.value > 0), "{words:?}");
}

#[test]
fn the_page_uses_no_network_and_escapes_texts() {
    let hook =
        climbed("</script><img src=http://127.0.0.1:9/x onerror=document.title='x'><b title=\"");
    let mut browser = Browser::open(&page(&hook));
    assert_eq!(browser.evaluate("document.images.length"), 0);
    assert_eq!(browser.evaluate("document.title.endsWith('brain-guard report')"), true);
    let told = "[...document.querySelectorAll('#denied td')].some(cell => cell.textContent.startsWith('</script><img'))";
    assert_eq!(browser.evaluate(told), true);
    let data = "JSON.parse(document.getElementById('report').textContent).totals.denied";
    assert_eq!(browser.evaluate(data), 2);
    assert_eq!(browser.requests, Vec::<String>::new());
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_point_shows_its_figures_in_the_readers_color_scheme() {
    let hook = climbed("Grep");
    let mut browser = Browser::open(&page(&hook));
    browser.resize(1280, 900);
    let place = browser.evaluate("(() => { const b = document.querySelectorAll('#fill .dot')[3].getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()");
    let number = |index: usize| place[index].as_f64().expect("a number");
    // Slightly beside the point, as people do.
    browser.point(number(0) + 6.0, number(1) + 9.0);
    let tip = "(() => { const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent; })()";
    let told = browser.evaluate(tip);
    assert!(
        told.as_str().expect("text").starts_with("26.0 %\n251,420 of 967,000 tokens"),
        "{told}"
    );
    let mut colour = |scheme: &str| {
        browser.prefer(scheme);
        browser.evaluate("getComputedStyle(document.body).backgroundColor")
    };
    assert_eq!(
        (colour("light"), colour("dark")),
        (json!("rgb(244, 244, 241)"), json!("rgb(13, 13, 13)"))
    );
}
