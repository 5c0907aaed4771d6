//! Somebody who looks, and what every page does for them.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::Response;
use http::request::Parts;
use maud::Markup;
use refrain_core::time::Time;
use refrain_store::Reader;

use super::door::Visitor;
use super::frame::{self, Place};
use super::{Board, Shared};
use crate::serve::problem::{Answer, Problem};

/// Somebody who looks, now.
pub(super) struct Desk {
    pub(super) board: Shared,
    pub(super) visitor: Visitor,
    pub(super) now: Time,
}

impl FromRequestParts<Shared> for Desk {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, board: &Shared) -> Result<Self, Problem> {
        // Whoever comes in was asked who they are.
        let visitor = parts.extensions.get::<Visitor>().copied().ok_or_else(Problem::ours)?;
        Ok(Self { board: Arc::clone(board), visitor, now: board.app.clock.now() })
    }
}

impl std::ops::Deref for Desk {
    type Target = Board;

    fn deref(&self) -> &Board {
        &self.board
    }
}

impl Desk {
    /// Reads what is shown, where nobody else waits for it.
    pub(super) async fn read<T, E>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, E> + Send + 'static,
    ) -> Answer<T>
    where
        T: Send + 'static,
        E: Send + 'static,
        Problem: From<E>,
    {
        self.app.readers.scan(read).await
    }

    /// Whether they may change something, and a crawl is there to change.
    pub(super) fn may_change(&self) -> bool {
        self.visitor.may_write && !self.is_over()
    }

    /// A page of the dashboard.
    pub(super) fn show(&self, place: Place, title: &str, main: &Markup) -> Response {
        frame::page(&self.board, self.visitor, place, title, main)
    }
}
