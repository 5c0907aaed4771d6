//! Cases of RFC 9309, with the exact bytes.

use refrain_fetch::robots::Robots;
use refrain_fetch::url::PageUrl;
use serde_json::Value;

fn decoded(base64: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut held, mut bits) = (0u32, 0);
    for digit in base64.bytes().filter(|digit| *digit != b'=') {
        let value = ALPHABET.iter().position(|letter| *letter == digit).expect("base64");
        held = (held << 6) | value as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}

#[test]
fn every_case_is_read_as_expected() {
    let file: Value = serde_json::from_str(include_str!("data/robots_cases.json")).expect("JSON");
    let home = PageUrl::parse("https://example.org/").expect("a URL");
    let cases = file["cases"].as_array().expect("cases");
    assert!(cases.len() >= 31);
    for case in cases {
        let text = |name: &str| case[name].as_str().expect("text");
        let bytes = case["robots_base64"].as_str().map_or_else(|| text("robots").into(), decoded);
        let robots = Robots::parse(&bytes, text("agent"));
        let expected = case["allowed"].as_bool().expect("a truth value");
        let url = home.join(text("path")).expect("a URL");
        assert_eq!(robots.allows(&url), expected, "{}", text("name"));
        let kept = Robots::parse(&robots.to_bytes(), text("agent"));
        assert_eq!(kept.allows(&url), expected, "{}, as kept", text("name"));
    }
}
