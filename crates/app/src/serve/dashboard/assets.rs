//! What pages need beside themselves: in the binary, under names that change with what is in them.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use xxhash_rust::xxh3::xxh3_64;

use crate::serve::problem::Problem;

/// A file of ours.
pub(super) struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
    hash: String,
    /// Where it is.
    pub(super) path: String,
}

impl Asset {
    fn new(name: &'static str, kind: &'static str, text: &'static str) -> Self {
        let hash = format!("{:016x}", xxh3_64(text.as_bytes()));
        Self { name, kind, text, path: format!("/assets/{hash}/{name}"), hash }
    }
}

pub(super) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("board.css", "text/css; charset=utf-8", include_str!("assets/board.css")));
pub(super) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("board.js", "text/javascript; charset=utf-8", include_str!("assets/board.js"))
});
pub(super) static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")));

/// A file, to be kept for a year if it is the one that was asked for.
pub(super) async fn send(Path((hash, name)): Path<(String, String)>) -> Response {
    let all = [&*STYLE, &*SCRIPT, &*ICON];
    let Some(asset) = all.into_iter().find(|asset| asset.name == name) else {
        return Problem::missing("no-such-file", "there is no such file").into_response();
    };
    let kept = if asset.hash == hash { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [(CONTENT_TYPE, asset.kind), (CACHE_CONTROL, kept), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (headers, asset.text).into_response()
}
