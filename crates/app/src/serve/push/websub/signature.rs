//! Signatures of hubs: `X-Hub-Signature: sha256=…`.
//!
//! aws-lc-rs has all four methods that WebSub allows, compares in constant time, and is there already for TLS; the crates beside would be one for SHA-1 alone.

use aws_lc_rs::hmac::{self, Key};

/// Whether a body was signed by somebody who knows the secret.
pub(super) fn is_signed(line: &str, secret: &str, body: &[u8]) -> bool {
    let Some((method, digits)) = line.trim().split_once('=') else { return false };
    let algorithm = match method.to_ascii_lowercase().as_str() {
        // As an HMAC it still holds, and many hubs know nothing else.
        "sha1" => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        "sha256" => hmac::HMAC_SHA256,
        "sha384" => hmac::HMAC_SHA384,
        "sha512" => hmac::HMAC_SHA512,
        _ => return false,
    };
    let Some(signature) = unhexed(digits) else { return false };
    hmac::verify(&Key::new(algorithm, secret.as_bytes()), body, &signature).is_ok()
}

/// At most as many as the longest signature has.
fn unhexed(digits: &str) -> Option<Vec<u8>> {
    const LONGEST: usize = 128;
    let digits = digits.as_bytes();
    if digits.len() > LONGEST || !digits.len().is_multiple_of(2) {
        return None;
    }
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    digits.chunks_exact(2).map(|pair| Some(value(pair[0])? << 4 | value(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECRET: &str = "a secret of ours";
    const BODY: &[u8] = b"<feed>news</feed>";
    /// Figures made with Python's hmac module.
    const SIGNED: [&str; 4] = [
        "sha1=52ebc7fadefabbbffb7f929e20b2aa6a25acae0a",
        "sha256=218b1b13dd8b60a91b3c97d963f1cbf7dfd438d59cf13683dfa76806a0378fd0",
        "sha384=05bcda69a114950035579b021dd7da48dbb2fdca44aa82d33877561b1f3cf1b9892ae87e70b8aaee6827c5474e300300",
        "sha512=64895acc917cd4656bbfcc53d769c72a47e077b035455fd7030a9de2c9339be869f3c8d885169436a33f9699852da7bd8564d399282e857048e59e98bacdfcd7",
    ];

    #[test]
    fn signatures_are_those_of_others() {
        for line in SIGNED {
            assert!(is_signed(line, SECRET, BODY), "{line}");
            assert!(is_signed(&line.to_ascii_uppercase(), SECRET, BODY), "{line}");
            assert!(!is_signed(line, "another secret", BODY));
            assert!(!is_signed(line, SECRET, b"<feed>lies</feed>"));
            assert!(!is_signed(&line[..line.len() - 2], SECRET, BODY), "too short");
        }
        let digits = SIGNED[1].split_once('=').unwrap().1;
        for wrong in
            ["", "sha256", "sha256=", "md5=00", &format!("sha1={digits}"), &format!("sha256=é{digits}")]
        {
            assert!(!is_signed(wrong, SECRET, BODY), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn nothing_else_is_a_signature(line in "\\PC{0,80}", digits in "[0-9a-f]{0,130}") {
            prop_assert!(!is_signed(&line, SECRET, BODY));
            let forged = format!("sha256={digits}");
            prop_assert!(forged == SIGNED[1] || !is_signed(&forged, SECRET, BODY));
        }
    }
}
