//! Who is signed in: an opaque number in a cookie, and here whose it is. Nothing of it is on the disk; a restart ends them all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use refrain_core::time::{Span, Time};
use sha2::{Digest as _, Sha256};

use crate::serve::tokens::Token;

/// So long one stays signed in, and no longer than this without coming.
const LONGEST: Span = Span::from_whole_secs(7 * 86_400);
const IDLE: Span = Span::from_whole_secs(86_400);
/// So many are signed in at the same time; then the one that has not come for longest is not any more.
const MOST: usize = 1000;

/// Who is signed in.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<[u8; 32], Session>>);

struct Session {
    token: Arc<Token>,
    began: Time,
    came: Time,
}

impl Session {
    fn is_over(&self, now: Time) -> bool {
        now.since(self.began) >= LONGEST || now.since(self.came) >= IDLE
    }
}

/// What is known of a cookie: who reads our memory cannot sign in with it.
fn digest(cookie: &str) -> [u8; 32] {
    Sha256::digest(cookie.as_bytes()).into()
}

impl Sessions {
    /// Somebody showed a token: what their browser shows from now on.
    pub(super) fn begin(&self, token: Arc<Token>, random: [u8; 32], now: Time) -> String {
        let cookie = URL_SAFE_NO_PAD.encode(random);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, session| !session.is_over(now));
        while all.len() >= MOST {
            let Some(longest) = all.iter().min_by_key(|(_, one)| one.came).map(|(key, _)| *key) else {
                break;
            };
            all.remove(&longest);
        }
        all.insert(digest(&cookie), Session { token, began: now, came: now });
        cookie
    }

    /// Whose cookie this is. Whether the token still holds is for others to say.
    pub(super) fn find(&self, cookie: &str, now: Time) -> Option<Arc<Token>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = all.get_mut(&digest(cookie)).filter(|session| !session.is_over(now))?;
        session.came = session.came.max(now);
        Some(Arc::clone(&session.token))
    }

    pub(super) fn end(&self, cookie: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&digest(cookie));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::tokens::Scope;

    fn at(hours: i64) -> Time {
        Time::from_nanos(hours * 3_600_000_000_000)
    }

    fn token() -> Arc<Token> {
        Arc::new(Token::for_tests(vec![Scope::Read]))
    }

    #[test]
    fn sessions_begin_and_end() {
        let all = Sessions::default();
        let cookie = all.begin(token(), [7; 32], at(0));
        assert!(all.find(&cookie, at(23)).is_some() && all.find("x", at(0)).is_none());
        assert!(all.find(&cookie, at(46)).is_some(), "it was there the day before");
        assert!(all.find(&cookie, at(71)).is_none(), "it was not there for a day");
        let cookie = all.begin(token(), [8; 32], at(100));
        for day in 1..=7 {
            let is_in = all.find(&cookie, at(100 + 23 * day)).is_some();
            assert_eq!(is_in, 23 * day < 168, "{day}");
        }
        assert!(all.find(&cookie, at(100 + 168)).is_none(), "a week is over");
        let cookie = all.begin(token(), [9; 32], at(0));
        all.end(&cookie);
        assert!(all.find(&cookie, at(0)).is_none());
    }

    #[test]
    fn there_are_only_so_many() {
        let all = Sessions::default();
        let random = |number: usize| std::array::from_fn(|place| (number >> (8 * (place % 2))) as u8);
        let first = all.begin(token(), random(0), at(0));
        let second = all.begin(token(), random(1), at(0));
        for number in 2..MOST {
            all.begin(token(), random(number), at(1));
        }
        assert!(all.find(&first, at(2)).is_some());
        all.begin(token(), random(MOST), at(3));
        assert!(all.find(&first, at(3)).is_some() && all.find(&second, at(3)).is_none());
        assert_eq!(all.0.lock().unwrap().len(), MOST);
    }
}
