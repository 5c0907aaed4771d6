//! WebSub: hubs push what is new in feeds. Found hubs are asked for it, come to see whether we meant it, and sign what they send.
//!
//! A subscription is on the disk before its hub is asked, so that no callback comes that nobody knows.

mod asking;
mod book;
mod doors;
mod kept;
mod signature;
mod subscription;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use refrain_core::time::{Span, Time};
use refrain_engine::{Over, Recent};
use refrain_fetch::url::{LONGEST, PageUrl};
use refrain_store::PageId;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use super::Push;
use book::Book;
pub(super) use doors::{distribute, verify};
use subscription::{State as How, Subscription};

/// So many bodies are known again.
const MOST_SEEN: usize = 20_000;
/// Nothing is slept through for longer.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);
/// So often somebody looks whether the pages are still there.
const LOOK_ROUND: Span = Span::from_whole_secs(60);

pub(super) struct Desk {
    book: Mutex<Book>,
    seen: Mutex<Recent<(String, [u8; 32]), ()>>,
    wake: Notify,
}

/// What goes on between the steps of subscribing.
#[derive(Default)]
struct Rounds {
    /// Questions to hubs.
    asking: JoinSet<()>,
    /// When it is looked again whether the pages are still there.
    next: Time,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self { book: Mutex::default(), seen: Mutex::new(Recent::new(MOST_SEEN)), wake: Notify::new() }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> MutexGuard<'_, Recent<(String, [u8; 32]), ()>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Push {
    /// A page says that a hub distributes it under the name `topic`. It is subscribed to, if hubs can reach us and there is room.
    pub(crate) fn found_hub(&self, page: PageId, topic: &str, hub: &str) {
        let Ok(url) = PageUrl::parse(hub) else { return };
        if self.settings.public_url.is_none() || topic.len() > LONGEST {
            return;
        }
        let (Some(id), Some(secret)) = (unguessable(), unguessable()) else { return };
        let hub = url.as_str().to_owned();
        let mut book = self.websub.book();
        if let Some((old, one)) = book.find(page, &hub) {
            if one.topic == topic {
                return;
            }
            // The page calls itself by another name now.
            let old = old.clone();
            book.leave(&old, self.ears.now());
        }
        let one = Subscription::new(page, topic.to_owned(), hub, secret, self.ears.now());
        if book.add(id, one, self.settings.most_subscriptions) {
            self.websub.wake.notify_one();
        }
    }

    /// Subscribes and renews, until `stop` becomes true.
    pub(super) async fn subscribe(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let (watched, push) = (stop.clone(), Arc::clone(&self));
        let waker = tokio::spawn(async move {
            // Whoever can stop us may also be gone: that is an end, too.
            let _ = stop.wait_for(|stop| *stop).await;
            push.websub.wake.notify_one();
        });
        let mut rounds = Rounds::default();
        while !*watched.borrow() && watched.has_changed().is_ok() {
            let Ok(wait) = self.step(&mut rounds).await else { return };
            let _ = tokio::time::timeout(wait.min(LONGEST_SLEEP), self.websub.wake.notified()).await;
        }
        waker.abort();
    }

    /// Does what is to be done now, and says how long there is nothing more to do if nothing happens.
    async fn step(self: &Arc<Self>, rounds: &mut Rounds) -> Result<Duration, Over> {
        let now = self.ears.now();
        if now >= rounds.next {
            rounds.next = now + LOOK_ROUND;
            self.leave_what_is_gone().await;
        }
        let work = self.websub.book().work(now);
        for (id, _) in work.keep {
            self.keep(&id).await?;
        }
        for (id, one) in work.ask {
            let push = Arc::clone(self);
            rounds.asking.spawn(async move {
                push.ask(&id, &one).await;
                push.websub.book().asked(&one.hub);
                push.websub.wake.notify_one();
            });
        }
        while rounds.asking.try_join_next().is_some() {}
        Ok(work.next.map_or(LONGEST_SLEEP, |next| Duration::from_nanos(next.since(now).as_nanos())))
    }

    /// Nobody needs news of pages that are not crawled any more.
    async fn leave_what_is_gone(self: &Arc<Self>) {
        let (push, wanted) = (Arc::clone(self), self.websub.book().wanted());
        let gone = tokio::task::spawn_blocking(move || {
            let is_gone = |page: &PageId| push.ears.address(*page).is_none();
            wanted.into_iter().filter(|(_, page)| is_gone(page)).map(|(id, _)| id).collect::<Vec<_>>()
        });
        let now = self.ears.now();
        // If the runtime ends there is nothing to be told any more.
        for id in gone.await.unwrap_or_default() {
            self.websub.book().leave(&id, now);
        }
    }

    /// What was subscribed to before a restart goes on, as far as that is still wanted.
    pub(super) fn restore(&self) {
        let most = if self.settings.public_url.is_some() { self.settings.most_subscriptions } else { 0 };
        let now = self.ears.now();
        let kept = match self.ears.kept(kept::START) {
            Ok(kept) => kept,
            Err(why) => {
                tracing::warn!("subscriptions cannot be read: {why}");
                return;
            }
        };
        let mut book = self.websub.book();
        for (name, value) in kept {
            let Some(one) = kept::read(&value) else { continue };
            let id = name.strip_prefix(kept::START).unwrap_or_default().to_owned();
            let one = one.restored(now);
            if !book.add(id.clone(), one.clone(), most) {
                // Settings are others: the hub is told, if it is known where it comes to.
                let mut one = one;
                one.leave(now);
                if one.callback.is_empty() {
                    one.state = How::Gone;
                }
                book.drop_or_leave(id, one);
            }
        }
    }

    /// Keeps a subscription as it is now; nothing of it, if it is over. On the disk when this returns.
    async fn keep(&self, id: &str) -> Result<(), Over> {
        let kept = {
            // Under the lock, so that what happened last is written last.
            let book = self.websub.book();
            let value = book.get(id).map(kept::written).unwrap_or_default();
            self.ears.keep(format!("{}{id}", kept::START), value)
        };
        kept.await
    }
}

/// 32 bytes that nobody guesses, for URLs and secrets; `None` if the system has none.
fn unguessable() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests;
