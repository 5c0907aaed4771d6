//! The tokens as the server has them: read again when the file changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use refrain_core::time::{Span, Time};
use subtle::ConstantTimeEq;

use super::file::{self, Mark};
use super::{Token, digest, unhex};
use crate::failure::Failure;

/// So often it is looked whether the file is another one: so soon a token that was revoked ends.
const LOOK: Span = Span::from_millis(500);

/// All tokens. Cheap to ask.
pub(crate) struct Book {
    data: PathBuf,
    known: RwLock<Arc<Vec<Entry>>>,
    looked: Mutex<(Time, Mark)>,
}

struct Entry {
    sha256: [u8; 32],
    token: Arc<Token>,
}

impl Book {
    pub(crate) fn open(data: &Path, now: Time) -> Result<Self, Failure> {
        let mark = Mark::of(data);
        let known = RwLock::new(Arc::new(entries(file::read(data)?)));
        Ok(Self { data: data.to_owned(), known, looked: Mutex::new((now, mark)) })
    }

    /// Whether there is none at all, expired ones included: who once had a token does not come to be open because it ended.
    pub(crate) fn is_empty(&self, now: Time) -> bool {
        self.current(now).is_empty()
    }

    /// The token that this is the secret of, if it is one that holds.
    pub(crate) fn find(&self, secret: &str, now: Time) -> Option<Arc<Token>> {
        let own = digest(secret);
        let mut found = None;
        // All of them, always: how long it takes says nothing.
        for entry in self.current(now).iter() {
            if bool::from(entry.sha256.ct_eq(&own)) {
                found = Some(Arc::clone(&entry.token));
            }
        }
        found.filter(|token| !token.is_over(now))
    }

    /// Whether a token that was found before still holds.
    pub(crate) fn holds(&self, token: &Token, now: Time) -> bool {
        !token.is_over(now) && self.current(now).iter().any(|entry| *entry.token == *token)
    }

    fn current(&self, now: Time) -> Arc<Vec<Entry>> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if now.since(looked.0) >= LOOK {
            looked.0 = now;
            let mark = Mark::of(&self.data);
            if mark != looked.1 {
                match file::read(&self.data) {
                    Ok(tokens) => {
                        tracing::info!(tokens = tokens.len(), "the tokens are others now");
                        looked.1 = mark;
                        *self.known.write().unwrap_or_else(PoisonError::into_inner) =
                            Arc::new(entries(tokens));
                    }
                    // Whoever was in stays in, and nobody else comes in.
                    Err(why) => tracing::error!(%why, "the tokens stay as they were"),
                }
            }
        }
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn entries(tokens: Vec<Token>) -> Vec<Entry> {
    let entry = |token: Token| Some(Entry { sha256: unhex(&token.sha256)?, token: Arc::new(token) });
    tokens.into_iter().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::tokens::Scope;

    fn at(seconds: i64) -> Time {
        Time::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn tokens_come_and_go_while_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let book = Book::open(folder.path(), at(0)).unwrap();
        assert!(book.is_empty(at(0)));
        let (mut token, secret) = Token::new(vec![Scope::Read], [7; 32], at(0));
        token.expires = Some(100_000);
        assert!(secret.starts_with("rfr_") && !token.sha256.contains(&secret));
        file::change(folder.path(), |all| {
            all.push(token.clone());
            Ok(())
        })
        .unwrap();
        // Not looked for again at once.
        assert!(book.find(&secret, at(0)).is_none());
        assert_eq!(book.find(&secret, at(1)).as_deref(), Some(&token));
        assert!(book.find("rfr_x", at(2)).is_none());
        assert!(book.find(&secret, at(100)).is_none(), "it is over");
        assert!(!book.is_empty(at(100)));
        file::change(folder.path(), |all| {
            all.clear();
            Ok(())
        })
        .unwrap();
        assert!(book.is_empty(at(102)));
    }

    #[test]
    fn nobody_else_reads_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        file::change(folder.path(), |_| Ok(())).unwrap();
        let rights = std::fs::metadata(file::path(folder.path())).unwrap().permissions().mode();
        assert_eq!(rights & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_file_lets_nobody_in() {
        let folder = tempfile::tempdir().unwrap();
        let (token, secret) = Token::new(vec![Scope::Read], [7; 32], at(0));
        file::change(folder.path(), |all| {
            all.push(token);
            Ok(())
        })
        .unwrap();
        let book = Book::open(folder.path(), at(0)).unwrap();
        std::fs::write(file::path(folder.path()), "{}").unwrap();
        assert!(!book.is_empty(at(1)) && book.find(&secret, at(1)).is_some());
        assert!(Book::open(folder.path(), at(0)).is_err());
    }
}
