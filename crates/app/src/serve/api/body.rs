//! Bodies of requests: no longer than they may be, and not slower.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use memchr::memchr;
use tokio::time::{Instant, Sleep, sleep};

use crate::serve::problem::{Answer, Problem};

/// In every such time,
const WINDOW: Duration = Duration::from_secs(10);
/// so many bytes must come, or the end.
const LEAST: usize = 5_000;
/// A line is no longer than this.
pub(crate) const LONGEST_LINE: usize = 64 << 10;

/// A body, piece by piece, as long as it keeps coming.
struct Paced {
    body: Body,
    window: std::pin::Pin<Box<Sleep>>,
    came: usize,
}

impl Paced {
    fn new(body: Body) -> Self {
        Self { body, window: Box::pin(sleep(WINDOW)), came: 0 }
    }

    async fn next(&mut self) -> Answer<Option<Bytes>> {
        loop {
            let frame = tokio::select! {
                biased;
                frame = self.body.frame() => frame,
                () = &mut self.window => {
                    if self.came < LEAST {
                        return Err(Problem::slow());
                    }
                    self.came = 0;
                    let next: Instant = self.window.deadline() + WINDOW;
                    self.window.as_mut().reset(next);
                    continue;
                }
            };
            match frame {
                None => return Ok(None),
                Some(Err(_)) => return Err(Problem::bad("the body broke off")),
                Some(Ok(frame)) => {
                    // What comes after the body says nothing to us.
                    if let Ok(bytes) = frame.into_data()
                        && !bytes.is_empty()
                    {
                        self.came += bytes.len();
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }
}

/// A whole body, at most so long.
pub(crate) async fn whole(body: Body, most: usize) -> Answer<Bytes> {
    let mut paced = Paced::new(body);
    let Some(first) = paced.next().await? else { return Ok(Bytes::new()) };
    if first.len() > most {
        return Err(Problem::too_large(most));
    }
    let Some(second) = paced.next().await? else { return Ok(first) };
    let mut all = BytesMut::from(first);
    let mut piece = second;
    loop {
        if all.len() + piece.len() > most {
            return Err(Problem::too_large(most));
        }
        all.extend_from_slice(&piece);
        match paced.next().await? {
            Some(next) => piece = next,
            None => return Ok(all.freeze()),
        }
    }
}

/// The lines of a body of any length, a piece of it at a time.
pub(crate) struct Lines {
    paced: Paced,
    /// The beginning of a line whose end has not come yet.
    rest: Vec<u8>,
    is_over: bool,
}

impl Lines {
    pub(crate) fn new(body: Body) -> Self {
        Self { paced: Paced::new(body), rest: Vec::new(), is_over: false }
    }

    /// Hands on the lines that have come since, without their ends; `false` when all were handed on. A line that is too long ends it.
    pub(crate) async fn some(&mut self, mut each: impl FnMut(&[u8]) -> Answer<()>) -> Answer<bool> {
        if self.is_over {
            return Ok(false);
        }
        let Some(piece) = self.paced.next().await? else {
            self.is_over = true;
            if !self.rest.is_empty() {
                each(&std::mem::take(&mut self.rest))?;
            }
            return Ok(true);
        };
        let mut left = &piece[..];
        while let Some(end) = memchr(b'\n', left) {
            if self.rest.is_empty() {
                each(&left[..end])?;
            } else {
                self.rest.extend_from_slice(&left[..end]);
                each(&self.rest)?;
                self.rest.clear();
            }
            left = &left[end + 1..];
        }
        self.rest.extend_from_slice(left);
        if self.rest.len() > LONGEST_LINE {
            return Err(Problem::too_large(LONGEST_LINE));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bodies_have_an_end() {
        assert_eq!(whole(Body::from("abc"), 3).await.unwrap(), "abc");
        assert_eq!(whole(Body::from("abcd"), 3).await.unwrap_err().status(), 413);
        assert_eq!(whole(Body::empty(), 0).await.unwrap(), "");
    }

    #[tokio::test]
    async fn lines_are_cut_where_they_end() {
        let mut lines = Lines::new(Body::from("a\nbc\n\nd"));
        let mut found = Vec::new();
        while lines
            .some(|line| {
                found.push(String::from_utf8(line.to_vec()).unwrap());
                Ok(())
            })
            .await
            .unwrap()
        {}
        assert_eq!(found, ["a", "bc", "", "d"]);
        let mut long = Lines::new(Body::from("x".repeat(LONGEST_LINE + 1)));
        assert_eq!(long.some(|_| Ok(())).await.unwrap_err().status(), 413);
    }

    #[tokio::test]
    #[ignore = "takes ten seconds"]
    async fn who_dawdles_is_cut_off() {
        struct Never;
        impl axum::body::HttpBody for Never {
            type Data = Bytes;
            type Error = std::convert::Infallible;
            fn poll_frame(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Self::Error>>> {
                std::task::Poll::Pending
            }
        }
        assert_eq!(whole(Body::new(Never), 3).await.unwrap_err().status(), 408);
    }
}
