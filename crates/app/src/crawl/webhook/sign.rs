//! Signatures as the Standard Webhooks specification has them, so that receivers find a library in their language.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// What posts are signed with.
#[derive(Clone)]
pub(crate) struct Secret(Vec<u8>);

impl Secret {
    /// `whsec_` and base64 as the specification wants it, or any text; `None` if there is nothing in it.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let decoded = text.strip_prefix("whsec_").and_then(|coded| STANDARD.decode(coded).ok());
        let bytes = decoded.unwrap_or_else(|| text.as_bytes().to_vec());
        (!bytes.is_empty()).then_some(Self(bytes))
    }

    /// The value of `webhook-signature`.
    pub(crate) fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        // HMAC takes keys of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return String::new() };
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures made with Python's hmac module.
    #[test]
    fn signatures_are_those_of_others() {
        let secret = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        let secret = Secret::new(" any text\n").unwrap();
        assert_eq!(
            secret.sign("changes-1-2", 1_700_000_000, b"{}"),
            "v1,w/sdX2nPOAsQ4APEOBP3irRrZkryfGOZe4HW+tobhDQ="
        );
        assert!(Secret::new(" \n").is_none());
    }
}
