//! What hubs are asked: to distribute, and not to any more.

use bytes::Bytes;
use refrain_core::time::Time;
use refrain_fetch::client::Post;
use refrain_fetch::url::PageUrl;

use super::subscription::{LEASE, State, Subscription};
use crate::serve::push::Push;

/// Hubs may lead elsewhere so often.
const MOST_REDIRECTS: usize = 3;

impl Push {
    /// Asks a hub; it comes back by itself.
    pub(super) async fn ask(&self, id: &str, one: &Subscription) {
        if !one.is_leaving() && self.ears.address(one.page).is_none() {
            // Nobody needs news of a page that is not crawled any more; a hub that distributes is told.
            let mut book = self.websub.book();
            let untold = |one: &mut Subscription| {
                let is_untold = matches!(one.state, State::Asked { .. });
                one.state = if is_untold { State::Wanted { at: Time::MIN } } else { one.state };
                is_untold
            };
            book.change(id, untold);
            book.leave(id, self.ears.now());
            return;
        }
        let Some(one) = self.addressed(id, one) else { return };
        if self.keep(id).await.is_err() {
            return;
        }
        if let Err(why) = self.ask_hub(id, &one).await {
            tracing::info!("{}: {why}; it is asked again later", one.hub);
            let now = self.ears.now();
            let changed = self.websub.book().change(id, |one| {
                one.refused(now);
                true
            });
            if changed.is_some() {
                // If it cannot be kept the server is about to end, and asks again when it is back.
                let _ = self.keep(id).await;
            }
        }
    }

    /// Where the hub is told to come: to where we are now, or, to end something, where it was told to come before.
    fn addressed(&self, id: &str, one: &Subscription) -> Option<Subscription> {
        if one.is_leaving() {
            return Some(one.clone());
        }
        let public = self.settings.public_url.as_ref()?.as_str().trim_end_matches('/').to_owned();
        self.websub.book().change(id, |one| {
            one.callback = public;
            true
        })
    }

    /// The error is a sentence.
    async fn ask_hub(&self, id: &str, one: &Subscription) -> Result<(), String> {
        let body = Bytes::from(question(id, one));
        let mut url = PageUrl::parse(&one.hub).map_err(|why| why.to_string())?;
        for _ in 0..=MOST_REDIRECTS {
            let headers = vec![("content-type", "application/x-www-form-urlencoded".to_owned())];
            let answer = self.ears.post(Post { url, headers, body: body.clone() }).await;
            let answer = answer.map_err(|why| why.to_string())?;
            match (answer.status, answer.location) {
                (200..=299, _) => return Ok(()),
                (301 | 302 | 307 | 308, Some(Ok(elsewhere))) => url = elsewhere,
                (status, _) => return Err(format!("it answers with status {status}")),
            }
        }
        Err("it leads from one place to the next".to_owned())
    }
}

/// What a hub is asked.
fn question(id: &str, one: &Subscription) -> String {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.append_pair("hub.mode", if one.is_leaving() { "unsubscribe" } else { "subscribe" })
        .append_pair("hub.topic", &one.topic)
        .append_pair("hub.callback", &format!("{}/push/websub/{id}", one.callback));
    if !one.is_leaving() {
        let lease = (LEASE.as_nanos() / 1_000_000_000).to_string();
        body.append_pair("hub.secret", &one.secret).append_pair("hub.lease_seconds", &lease);
    }
    body.finish()
}
