//! What an answer says: whether the page changed, where it leads, and what goes into the archive.

use refrain_core::time::{Span, Time};
use refrain_fetch::announce::find::{self, Place};
use refrain_fetch::announce::hints::Hints;
use refrain_fetch::change::{self, Doubt, Judgement, Kept, Look, Reported};
use refrain_fetch::client::Response;
use refrain_fetch::links::{Directives, Links};
use refrain_fetch::url::PageUrl;
use refrain_store::warc::{self, Body, Encoded, HttpHead, Truncated};
use refrain_store::{Address, Digest, Role};

use crate::counted::counted;
use crate::hint::Hint;
use crate::memo::Memo;
use crate::scope::{Facts, Verdict, Way, judge};
use crate::settings::Settings;
use crate::sources::{self, Announced, Known, LONGEST_ANNOUNCEMENT, SHORT_ANNOUNCEMENT};
use crate::visit::Kit;

/// What an answer of use says.
pub(crate) struct Read {
    pub(crate) answer: Answer,
    /// Since the look that it is compared with.
    pub(crate) elapsed: Option<Span>,
    /// What counted as the change.
    pub(crate) counted: Option<String>,
    /// When the page changed last, if the server says so and can be believed.
    pub(crate) modified: Option<Time>,
    pub(crate) digest: Option<Digest>,
    pub(crate) record: Option<Encoded>,
    /// Pages that it leads to, if it was read.
    pub(crate) links: Option<Vec<PageUrl>>,
    /// Where its site announces what is new, by its word.
    pub(crate) places: Vec<Place>,
    /// What it announces itself.
    pub(crate) announced: Option<Box<Announced>>,
    pub(crate) hint: Option<Hint>,
    /// What a second look would settle.
    pub(crate) doubt: Option<Doubted>,
    /// Whether quick looks at a page that seemed to have changed have found noise.
    pub(crate) found_noise: Option<bool>,
}

/// What the next look at a page settles.
#[derive(Clone, Debug)]
pub(crate) struct Doubted {
    pub(crate) doubt: Doubt,
    /// When the look was made that left it open.
    pub(crate) since: Time,
}

/// Why a page is read, and what may follow.
#[derive(Debug)]
pub(crate) struct Purpose {
    /// What the look before left open.
    pub(crate) doubted: Option<Doubted>,
    /// A second look can be made soon.
    pub(crate) may_look_again: bool,
    /// Few pages of its host have noise.
    pub(crate) is_quiet_host: bool,
    /// Its links are wanted, even if nothing changed.
    pub(crate) wants_links: bool,
    /// The memory that what it announces may take, in bytes.
    pub(crate) most_announced: usize,
}

impl Default for Purpose {
    fn default() -> Self {
        Self {
            doubted: None,
            may_look_again: false,
            is_quiet_host: false,
            wants_links: false,
            most_announced: LONGEST_ANNOUNCEMENT,
        }
    }
}

/// What became of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    First,
    Changed,
    Unchanged,
    NotModified,
}

/// Reads an answer, and brings the memo up to date. `copy` gives the copy that was reported last, if it is kept. The error is a sentence.
pub(crate) fn read(
    kit: &Kit,
    memo: &mut Memo,
    url: &PageUrl,
    answer: &Response,
    time: Time,
    purpose: Purpose,
    copy: impl FnOnce(&Memo) -> Option<Reported>,
) -> Result<Read, String> {
    let settings = &kit.settings;
    let Purpose { doubted, may_look_again, is_quiet_host, wants_links, most_announced: most } = purpose;
    let address = Address::new(url.as_str()).map_err(|why| why.to_string())?;
    let head = head(answer)?;
    let page = Address::new(memo.url.as_str()).map_err(|why| why.to_string())?;
    let archive = Archive { address: &address, page: &page, head: &head, answer, time };
    let before = memo.fetched.map(|fetched| time.since(fetched));
    if answer.status == 304 {
        let record = match memo.digest {
            Some(digest) if settings.revisits => archive.revisit(memo, digest, true)?,
            _ => None,
        };
        memo.fetched = Some(time);
        memo.failures = 0;
        return Ok(Read {
            digest: memo.digest,
            record,
            ..Read::same(Answer::NotModified, before, answer, time)
        });
    }
    let known = Known { index: &kit.index, follow: settings.follow.as_ref(), now: time, most };
    if memo.role == Role::Sitemap {
        let largest_feed = settings.client.max_body;
        let (digest, found) = sources::read_pieces(answer, url, known, largest_feed)?;
        return outlet(memo, url, answer, time, (digest, found.filter(|_| settings.listen).map(Box::new)));
    }
    let body = Body::new(&answer.body);
    let digest = body.digest();
    // The very same bytes say the same, whatever the rules.
    if memo.digest == Some(digest) && memo.kept.is_some() && doubted.is_none() && !wants_links {
        let record = if settings.revisits { archive.revisit(memo, digest, false)? } else { None };
        memo.seen(url, answer, time);
        return Ok(Read {
            digest: Some(digest),
            record,
            ..Read::same(Answer::Unchanged, before, answer, time)
        });
    }
    let announces = sources::what(answer, &answer.body, memo.role).filter(|_| settings.listen);
    let charset = answer.content_type().and_then(|kind| kind.charset);
    let announced =
        announces.map(|kind| Box::new(sources::read(kind, &answer.body, charset.as_deref(), url, known)));
    if memo.role != Role::Page {
        return outlet(memo, url, answer, time, (digest, announced));
    }
    let rules = settings.rules_for(&memo.url);
    let kind = answer.content_type();
    let (look, found) = Look::with_links(&answer.body, kind.as_ref(), &rules, (url, &settings.agent));
    let doubt = doubted.map(|Doubted { doubt, since }| (doubt, time.since(since)));
    let visit = change::Visit { rules: &rules, doubt, time, may_look_again, is_quiet_host };
    let judged = memo.kept.as_ref().map(|kept| change::judge(kept, &look, visit, || copy(memo)));
    let (verdict, kept, doubt, found_noise) = match judged {
        Some(Judgement { verdict, kept, doubt, found_noise }) => (Some(verdict), kept, doubt, found_noise),
        None => (None, Kept::first(&look), None, None),
    };
    let became = match (&memo.digest, &verdict) {
        (None, _) => Answer::First,
        // What it was compared with is lost: the bytes decide.
        (Some(before), None) if *before != digest => Answer::Changed,
        (_, Some(verdict)) if verdict.changed => Answer::Changed,
        _ => Answer::Unchanged,
    };
    let record = match became {
        Answer::First | Answer::Changed => Some(archive.response(body)?),
        _ if memo.digest == Some(digest) && settings.revisits => archive.revisit(memo, digest, false)?,
        // Other bytes that say the same: the copy we have is as good.
        _ => None,
    };
    let mut places = find::of_header(answer.headers.all("link"), url);
    places.extend(found.as_ref().map(find::of_page).unwrap_or_default());
    let (title, links) = match found {
        Some(found) => {
            // Links lead on from where a page was chosen to lead; what the crawl found speaks for its own address.
            let from = if memo.chosen { url } else { &memo.url };
            let (title, links) = follow(settings, from, answer, found);
            (title, Some(links))
        }
        None => (None, None),
    };
    memo.seen(url, answer, time);
    memo.read_to_its_end(announced.as_deref());
    memo.title = title;
    memo.kept = Some(kept);
    if matches!(became, Answer::First | Answer::Changed) {
        memo.digest = Some(digest);
        memo.version = None;
    }
    let what = verdict.filter(|verdict| verdict.changed).map(|verdict| counted(verdict.what));
    Ok(Read {
        answer: became,
        elapsed: before,
        counted: what.or_else(|| (became == Answer::Changed).then(|| "bytes".to_owned())),
        modified: Hints::of(&answer.headers, time).changed(time),
        digest: Some(memo.digest.unwrap_or(digest)),
        record,
        links,
        places,
        announced,
        hint: Hint::of_answer(&answer.headers, time),
        doubt: doubt.map(|doubt| Doubted { doubt, since: time }),
        found_noise,
    })
}

/// A sitemap or a feed: what is only announced elsewhere needs no copy. The error says that it announces nothing.
fn outlet(
    memo: &mut Memo,
    url: &PageUrl,
    answer: &Response,
    time: Time,
    (digest, announced): (Digest, Option<Box<Announced>>),
) -> Result<Read, String> {
    let announced = announced.ok_or_else(|| format!("it is no {}", memo.role.as_str()))?;
    let before = memo.fetched.map(|fetched| time.since(fetched));
    let became = match memo.digest {
        None => Answer::First,
        Some(before) if before == digest => Answer::Unchanged,
        Some(_) => Answer::Changed,
    };
    memo.seen(url, answer, time);
    memo.read_to_its_end(Some(&announced));
    memo.digest = Some(digest);
    Ok(Read {
        digest: Some(digest),
        announced: Some(announced),
        places: find::of_header(answer.headers.all("link"), url),
        ..Read::same(became, before, answer, time)
    })
}

/// What another fetcher tells of a page, without its body.
pub(crate) struct Told {
    pub(crate) changed: Option<bool>,
    pub(crate) digest: Option<Digest>,
    pub(crate) title: Option<String>,
}

impl Read {
    /// A look by somebody who keeps the body for themselves. The error is a sentence.
    pub(crate) fn told(
        memo: &mut Memo,
        url: &PageUrl,
        answer: &Response,
        time: Time,
        told: Told,
    ) -> Result<Self, String> {
        let before = memo.fetched.map(|fetched| time.since(fetched));
        let became = match (answer.status, told.changed, &told.digest, &memo.digest) {
            (304, _, _, None) => return Err("status 304 of a page that nobody has seen".to_owned()),
            (304, ..) => Answer::NotModified,
            (_, Some(_), _, None) | (_, None, Some(_), None) => Answer::First,
            (_, Some(true), ..) => Answer::Changed,
            (_, None, Some(new), Some(old)) if new != old => Answer::Changed,
            (_, Some(false), ..) | (_, None, Some(_), Some(_)) => Answer::Unchanged,
            (_, None, None, _) => {
                return Err("neither a body, nor a digest, nor whether it changed".to_owned());
            }
        };
        if matches!(became, Answer::First | Answer::Changed) {
            // Who only says that it changed has a body that nobody else knows: it is called by the moment.
            let unseen = || Digest::of(format!("{url} {}", time.as_nanos()).as_bytes());
            memo.digest = Some(told.digest.unwrap_or_else(unseen));
            memo.version = None;
        }
        // What an own look compares with is of another body now.
        memo.kept = memo.kept.take().filter(|_| !matches!(became, Answer::First | Answer::Changed));
        if became == Answer::NotModified {
            (memo.fetched, memo.failures) = (Some(time), 0);
        } else {
            memo.seen(url, answer, time);
            memo.title = told.title.or(memo.title.take());
        }
        Ok(Self { digest: memo.digest, ..Self::same(became, before, answer, time) })
    }

    /// Whether what it announces takes much memory.
    pub(crate) fn announces_much(&self) -> bool {
        self.announced.as_ref().is_some_and(|found| found.size > SHORT_ANNOUNCEMENT)
    }

    /// Nothing is new, or nothing else than that the page is another one.
    fn same(became: Answer, before: Option<Span>, answer: &Response, time: Time) -> Self {
        Self {
            answer: became,
            elapsed: before,
            counted: (became == Answer::Changed).then(|| "bytes".to_owned()),
            modified: Hints::of(&answer.headers, time).changed(time),
            digest: None,
            record: None,
            links: None,
            places: Vec::new(),
            announced: None,
            hint: Hint::of_answer(&answer.headers, time),
            doubt: None,
            found_noise: None,
        }
    }
}

/// The title, and the links that may be followed.
fn follow(
    settings: &Settings,
    from: &PageUrl,
    answer: &Response,
    found: Links,
) -> (Option<String>, Vec<PageUrl>) {
    let header = Directives::of_header(answer.headers.all("x-robots-tag"), &settings.agent);
    let Some(follow) = &settings.follow else { return (found.title, Vec::new()) };
    if found.directives.or(header).nofollow {
        return (found.title, Vec::new());
    }
    let leads = |to: &PageUrl| judge(Some(follow), Way::Link, from, to, Facts::default()) == Verdict::In;
    let followed = found.links.into_iter().filter(|link| !link.nofollow && leads(&link.url));
    (found.title, followed.map(|link| link.url).collect())
}

/// Status line and headers as they are kept with the body, which has no content coding any more.
fn head(answer: &Response) -> Result<HttpHead, String> {
    let gone = ["transfer-encoding", "content-encoding", "content-length"];
    let length = answer.body.len().to_string();
    let mut headers: Vec<(&str, &[u8])> = Vec::new();
    headers.extend(answer.headers.iter().filter(|(name, _)| !gone.contains(name)));
    if answer.status != 304 {
        headers.push(("content-length", length.as_bytes()));
    }
    let reason = answer.reason.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    HttpHead::response(answer.status, &reason, headers).map_err(|why| why.to_string())
}

struct Archive<'a> {
    address: &'a Address,
    page: &'a Address,
    head: &'a HttpHead,
    answer: &'a Response,
    time: Time,
}

impl Archive<'_> {
    fn response(&self, body: Body<'_>) -> Result<Encoded, String> {
        let response = warc::Response {
            url: self.address,
            page: self.page,
            time: self.time,
            ip: self.answer.remote.map(|remote| remote.ip()),
            head: self.head,
            body,
            truncated: self.answer.truncated.then_some(Truncated::Length),
            request: None,
        };
        response.encode().map_err(|why| why.to_string())
    }

    /// A record that says the body is still the same, if the version that has it is known.
    fn revisit(&self, memo: &Memo, digest: Digest, not_modified: bool) -> Result<Option<Encoded>, String> {
        let Some((url, time)) = &memo.version else { return Ok(None) };
        let earlier = Address::new(url.as_str()).map_err(|why| why.to_string())?;
        let revisit = warc::Revisit {
            url: self.address,
            page: self.page,
            time: self.time,
            ip: self.answer.remote.map(|remote| remote.ip()),
            head: self.head,
            digest,
            earlier_url: &earlier,
            earlier_time: *time,
            not_modified,
        };
        revisit.encode().map(Some).map_err(|why| why.to_string())
    }
}
