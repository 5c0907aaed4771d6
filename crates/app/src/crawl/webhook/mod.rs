//! Changes, posted to whoever wants them: in order, until they are taken. A receiver that is away never holds up the crawl.

mod sign;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use refrain_core::time::{Span, Time};
use refrain_engine::{Clock, Ledger, Told, ToldSender};
use refrain_fetch::client::{Client, Post, Settings};
use refrain_fetch::url::PageUrl;
use refrain_store::{LONGEST_NAME, Reader, Roles, Seq};
use tokio::sync::watch;

use super::config;
use super::wanted::SiteRules;
use crate::data::changes::{Changed, Lines, RoleChoice, WhichChanges};
use crate::failure::Failure;
use sign::Secret;

/// How often it is looked for changes.
const LOOK: Duration = Duration::from_millis(500);
/// Who did not take a post gets it again after this, then after twice as long, and so on,
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// but not later than this.
const LAST_RETRY: Duration = Duration::from_secs(300);
/// A receiver has so long to answer.
const ANSWER: Duration = Duration::from_secs(30);
/// When the crawl is over there is still so long to deliver the rest.
const REST: Duration = Duration::from_secs(10);
const USUAL_BATCH: usize = 100;
const LARGEST_BATCH: usize = 10_000;

/// Who is told of changes, and how.
#[derive(Debug)]
pub(crate) struct Hook {
    name: String,
    url: PageUrl,
    secret: Option<Secret>,
    batch: usize,
    roles: Roles,
}

impl Hook {
    pub(crate) fn new(given: &config::Webhook) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::input(format!("[[webhook]] {}: {why}", given.url));
        let url = PageUrl::parse(&given.url).map_err(|why| wrong(why.to_string()))?;
        let secret = match (&given.secret_env, &given.secret_file) {
            (Some(_), Some(_)) => {
                return Err(wrong("expected secret_env or secret_file, not both".to_owned()));
            }
            (Some(name), None) => Some(std::env::var(name).map_err(|_| {
                wrong(format!("the variable {name} is not set; expected the secret in the environment"))
            })?),
            (None, Some(file)) => Some(secret_of(file)?),
            (None, None) => None,
        };
        let secret = match secret {
            Some(text) => Some(Secret::new(&text).ok_or_else(|| wrong("the secret is empty".to_owned()))?),
            None => None,
        };
        let batch = given.batch.unwrap_or(USUAL_BATCH);
        if !(1..=LARGEST_BATCH).contains(&batch) {
            return Err(wrong(format!("batch is {batch}; expected 1 to {LARGEST_BATCH}")));
        }
        let name = given.name.clone().unwrap_or_else(|| url.as_str().to_owned());
        if name.len() > LONGEST_NAME {
            return Err(wrong(format!(
                "its name (the address, if there is no other) has {} bytes; expected at most {LONGEST_NAME}, as in name = \"search\"",
                name.len()
            )));
        }
        Ok(Self { name, url, secret, batch, roles: RoleChoice::roles(&given.roles) })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn post(&self, changes: &[Changed], now: Time) -> Post {
        let lines: Vec<String> = changes.iter().map(Changed::json).collect();
        let body = format!("{{\"changes\":[{}]}}", lines.join(",")).into_bytes();
        let end = |change: Option<&Changed>| change.map_or(0, |change| change.seq);
        // The same changes have the same number, however often they are posted.
        let id = format!("changes-{}-{}", end(changes.first()), end(changes.last()));
        let timestamp = now.as_nanos().div_euclid(1_000_000_000);
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("webhook-id", id.clone()),
            ("webhook-timestamp", timestamp.to_string()),
        ];
        if let Some(secret) = &self.secret {
            headers.push(("webhook-signature", secret.sign(&id, timestamp, &body)));
        }
        Post { url: self.url.clone(), headers, body: body.into() }
    }
}

fn secret_of(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file)
        .map_err(|why| Failure::system(format!("{}: the secret cannot be read", file.display()), why))
}

/// What it takes to deliver.
pub(crate) struct Delivery {
    hook: Hook,
    which: WhichChanges,
    /// `None` while it reads.
    reader: Option<Reader>,
    data: PathBuf,
    client: Client,
    clock: Clock,
    ledger: Ledger,
    told: ToldSender,
    last: Seq,
}

/// How far a hook has come, when all is over.
pub(crate) struct Delivered {
    pub(crate) name: String,
    pub(crate) last: Seq,
}

impl Delivery {
    /// Goes on where it was.
    pub(crate) fn new(
        hook: Hook,
        data: &Path,
        rules: &Arc<SiteRules>,
        user_agent: &str,
        clock: Clock,
        ledger: Ledger,
        told: ToldSender,
    ) -> Result<Self, Failure> {
        let which = WhichChanges { roles: hook.roles, diffs: Some(Arc::clone(rules)) };
        let reader = Reader::open(data)?;
        let last = reader.delivered(hook.name())?;
        let settings = Settings {
            user_agent: user_agent.to_owned(),
            head_timeout: ANSWER,
            whole_timeout: ANSWER,
            // Whoever runs the crawl says where to post to.
            allow_private: true,
            ..Settings::default()
        };
        let client = Client::new(settings).map_err(|why| Failure::OnTheWay(why.to_string()))?;
        let (reader, data) = (Some(reader), data.to_owned());
        Ok(Self { hook, which, reader, data, client, clock, ledger, told, last })
    }

    /// Delivers until the crawl is over (`over` becomes true), and then a little longer.
    pub(crate) async fn run(mut self, mut over: watch::Receiver<bool>) -> Delivered {
        let mut retry = FIRST_RETRY;
        while !*over.borrow() {
            let wait = match self.deliver().await {
                Ok(true) => {
                    retry = FIRST_RETRY;
                    continue;
                }
                Ok(false) => LOOK,
                Err(why) => {
                    let wait = retry;
                    retry = (2 * retry).min(LAST_RETRY);
                    let again = crate::units::spoken(Span::from_nanos(wait.as_nanos() as u64));
                    self.warn(format!("{}: {why}; it is tried again in {again}", self.hook.name()));
                    wait
                }
            };
            // Whoever waits is woken by the end.
            let _ = tokio::time::timeout(wait, over.changed()).await;
        }
        let rest = async {
            loop {
                match self.deliver().await {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(why) => {
                        let later = "what it has not got it gets when the crawl goes on";
                        self.warn(format!("{}: {why}; {later}", self.hook.name()));
                        break;
                    }
                }
            }
        };
        // Nobody waits for long at the end: the rest is not lost.
        let _ = tokio::time::timeout(REST, rest).await;
        Delivered { name: self.hook.name, last: self.last }
    }

    /// Delivers a post; whether there was anything to deliver. An error is a sentence.
    async fn deliver(&mut self) -> Result<bool, String> {
        let Lines { lines, end } = self.read().await?;
        if !lines.is_empty() {
            let answer = self.client.post(self.hook.post(&lines, self.clock.now())).await;
            let status = answer.map_err(|why| why.to_string())?.status;
            if !(200..300).contains(&status) {
                return Err(format!("it answers with status {status}"));
            }
        }
        if end > self.last {
            self.last = end;
            self.ledger.delivered(self.hook.name(), self.last);
        }
        Ok(!lines.is_empty())
    }

    /// Reads the next changes, on a thread that may wait for the disk.
    async fn read(&mut self) -> Result<Lines, String> {
        let (reader, data) = (self.reader.take(), self.data.clone());
        let (which, last, batch) = (self.which.clone(), self.last, self.hook.batch);
        let read = move || {
            let reader = reader.map_or_else(|| Reader::open(&data), Ok)?;
            which.read(&reader, last, batch).map(|lines| (reader, lines))
        };
        let done = tokio::task::spawn_blocking(read).await.map_err(|why| why.to_string())?;
        let (reader, lines) = done.map_err(|why| why.to_string())?;
        self.reader = Some(reader);
        Ok(lines)
    }

    fn warn(&self, sentence: String) {
        self.told.send(Told::Warning(sentence));
    }
}
