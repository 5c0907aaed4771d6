//! Streams that nobody ends (whoever watches the health of a server watches it for ever) end with the server.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderMap;
use hyper::body::{Frame, SizeHint};
use tokio::sync::watch;
use tonic::Status;

/// Around services that know nothing of the end.
pub(super) async fn end(
    State(closing): State<watch::Receiver<bool>>,
    request: Request,
    next: Next,
) -> Response {
    next.run(request).await.map(|body| Body::new(Ending::new(body, closing)))
}

/// An answer that is cut short when the server ends.
struct Ending {
    body: Option<Body>,
    closing: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Ending {
    fn new(body: Body, mut closing: watch::Receiver<bool>) -> Self {
        let closing = Box::pin(async move {
            // Whoever could say so no more has ended as well.
            let _ = closing.wait_for(|closing| *closing).await;
        });
        Self { body: Some(body), closing }
    }
}

impl hyper::body::Body for Ending {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        std::task::ready!(self.closing.as_mut().poll(context));
        self.body = None;
        let mut trailers = HeaderMap::new();
        // Two short texts are always headers.
        let _ = Status::unavailable("the server is ending").add_header(&mut trailers);
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn what_would_never_end_ends_with_the_server() {
        let (close, closing) = watch::channel(false);
        let mut whole = Ending::new(Body::from("all"), closing.clone());
        assert_eq!(whole.frame().await.unwrap().unwrap().into_data().unwrap(), "all");
        assert!(whole.frame().await.is_none());
        let never = Body::from_stream(tonic::codegen::tokio_stream::pending::<Result<Bytes, axum::Error>>());
        let mut never = Ending::new(never, closing);
        close.send_replace(true);
        let end = never.frame().await.unwrap().unwrap().into_trailers().unwrap();
        assert_eq!(end["grpc-status"], "14");
        assert!(never.frame().await.is_none());
    }
}
