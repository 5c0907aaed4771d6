//! Whether a page changed, and whether a second look, seconds later, is needed to know.

use refrain_core::time::{Span, Time};

use super::elapsed;
use super::kept::{Kept, sketch};
use super::look::Look;
use super::page;
use super::rules::{By, Rules};
use super::units::Unit;

/// How long after a look the next one of a quick pair comes.
pub const SECOND_LOOK: Span = Span::from_whole_secs(2);
/// A look that comes later than this after another one is none of the same visit.
pub const LATE: Span = Span::from_whole_secs(60);
/// So many quick pairs are made of a page at a time.
const MOST_PAIRS: u8 = 6;

/// What a look says about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Did it change?
    pub changed: bool,
    /// What differs, by the rules.
    pub what: What,
    /// In so many places the page has noise, which does not count.
    pub noise_ignored: usize,
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Nothing that counts.
    Nothing,
    /// The bytes.
    Exact,
    /// The text.
    Text {
        /// So many units of text (blocks, or runs of blocks on long pages) are new, gone or other than they were,
        changed: usize,
        /// of so many.
        of: usize,
    },
    /// The sketch of the text.
    Simhash {
        /// So many of its 64 bits differ.
        distance: u32,
    },
}

/// The circumstances of a look.
#[derive(Debug)]
pub struct Visit<'a> {
    /// What counts as a change.
    pub rules: &'a Rules,
    /// What the look before, [`SECOND_LOOK`] ago, left open, and the time since.
    pub doubt: Option<(Doubt, Span)>,
    /// When the page was fetched.
    pub time: Time,
    /// Another look at it can be made soon.
    pub may_look_again: bool,
    /// Few pages of its host have noise: [`HostNoise::is_quiet`](super::HostNoise::is_quiet).
    pub is_quiet_host: bool,
}

/// The copy of a page that was reported last.
#[derive(Clone, Debug)]
pub struct Reported {
    /// What it shows.
    pub look: Look,
    /// When it was fetched.
    pub time: Time,
}

/// What is not known until the next look.
#[derive(Clone, Debug)]
pub struct Doubt {
    /// After the look that left it open.
    kept: Kept,
    look: Look,
    /// What differed when the doubt arose.
    what: What,
    /// The content that was reported last.
    state: u32,
    /// Places of noise at that time.
    noise: usize,
    pairs: u8,
    /// Quick pairs that must agree.
    needed: u8,
}

/// What comes of a look.
#[derive(Debug)]
pub struct Judgement {
    /// The verdict; if there is a doubt, what it will be if no other look is made.
    pub verdict: Verdict,
    /// What is kept from now on, once the verdict stands.
    pub kept: Kept,
    /// The verdict had better wait for another look, [`SECOND_LOOK`] from now.
    pub doubt: Option<Doubt>,
    /// Whether quick looks at a page that seemed to have changed have found noise.
    pub found_noise: Option<bool>,
}

/// Compares a look with what was kept. `reported` reads the copy that was reported last, if that is known; it is called only where the copy is
/// needed.
pub fn judge(
    kept: &Kept,
    look: &Look,
    visit: Visit<'_>,
    reported: impl FnOnce() -> Option<Reported>,
) -> Judgement {
    let Visit { rules, doubt, time, may_look_again, is_quiet_host } = visit;
    // Under other rules other blocks were seen; and what is not text has none.
    if kept.mark != look.mark || !kept.is_text || look.blocks.is_none() {
        let what = if kept.digest == look.digest { What::Nothing } else { What::Exact };
        return settled(what, Kept::first(look));
    }
    if kept.is_blank {
        return settled(What::Nothing, Kept::first(look));
    }
    match doubt {
        Some((doubt, elapsed)) if elapsed <= LATE => {
            let reported = reported().map(|reported| match forward(&reported, look, time, rules) {
                Some(look) => look,
                None => reported.look,
            });
            let is_quick = elapsed <= rules.quick;
            doubt.next(look, (rules, is_quick), reported.as_ref(), may_look_again)
        }
        Some(_) | None => {
            // A look that came too late to tell noise from news is not followed by another: that might be late as well.
            let quiet_host = (doubt.is_none() && may_look_again).then_some(is_quiet_host);
            first(kept, look, rules, quiet_host, || {
                let shows_time = rules.learn_noise && elapsed::shows_time(look);
                shows_time.then(reported).flatten().and_then(|reported| forward(&reported, look, time, rules))
            })
        }
    }
}

fn settled(what: What, mut kept: Kept) -> Judgement {
    kept.settle();
    let changed = what != What::Nothing;
    let verdict = Verdict { changed, what, noise_ignored: kept.noise() };
    Judgement { verdict, kept, doubt: None, found_noise: None }
}

/// The copy that was reported last as far as time alone would have changed it since; `None` if it would not have.
fn forward(reported: &Reported, look: &Look, now: Time, rules: &Rules) -> Option<Look> {
    if rules.learn_noise { elapsed::brought_forward(reported, look, now) } else { None }
}

/// A look some time after the last one. Another one may follow at once only if it is known whether its host is quiet. `forward` is the copy that
/// was reported last, if time alone would have changed it.
fn first(
    kept: &Kept,
    look: &Look,
    rules: &Rules,
    quiet_host: Option<bool>,
    forward: impl FnOnce() -> Option<Look>,
) -> Judgement {
    let mut attention = kept.attention.clone();
    let has_noise = kept.units.iter().any(|unit| unit.noise() > 0);
    if has_noise && kept.digest != look.digest {
        attention.hide();
    }
    let followed = page::follow(&kept.units, look);
    let overdue = attention.is_overdue();
    let units = if overdue { page::opened(followed.units, look) } else { followed.units };
    // What noise shows for the first time may be news, if it showed all of it before.
    let fresh = if matches!(rules.by, By::Text) && !overdue { page::fresh(&units) } else { 0 };
    let changed = followed.changed + fresh + usize::from(overdue);
    let mut next = Kept::of(look, units, kept.grain, attention);
    let what = match rules.by {
        By::Exact if kept.digest == look.digest => What::Nothing,
        By::Exact => What::Exact,
        By::Text => text(changed, &kept.units, &next.units),
        By::Simhash { distance } => simhash(kept.simhash, next.simhash, distance),
    };
    let what = match what {
        What::Text { .. } | What::Simhash { .. } if fresh == 0 => {
            forward().and_then(|forward| since(&forward, &next, look, rules)).unwrap_or(what)
        }
        what => what,
    };
    let was_put_off = next.attention.is_put_off();
    // What the visit before could not tell counts, unless quick looks tell now.
    let what = if was_put_off && what == What::Nothing { text(1, &kept.units, &next.units) } else { what };
    next.attention.seem(what != What::Nothing);
    let state = kept.state();
    let needed = match (quiet_host, what) {
        (Some(_), _) if was_put_off => Some(1),
        (Some(_), _) if fresh > 0 && rules.learn_noise => Some(3),
        (Some(is_quiet), What::Text { .. } | What::Simhash { .. }) if rules.learn_noise => {
            next.attention.doubts(next.state(), is_quiet, followed.near_noise > 0)
        }
        _ => None,
    };
    let wants_check = quiet_host.is_some()
        && rules.learn_noise
        && (next.attention.wants_check() || next.units.iter().any(Unit::may_have_ended));
    let doubt = (needed.is_some() || wants_check).then(|| Doubt {
        kept: next.clone(),
        look: look.clone(),
        what,
        state,
        noise: kept.noise(),
        pairs: 0,
        needed: needed.unwrap_or(1),
    });
    next.attention.stand();
    if overdue {
        next.attention.reset();
    }
    if what != What::Nothing {
        next.attention.believe();
        next.attention.remember(state);
    }
    Judgement { doubt, ..settled(what, next) }
}

impl Doubt {
    /// The memory that it takes, in bytes: as much as the text of the page, however few bytes that was sent in.
    pub fn size(&self) -> usize {
        // The units of what is kept take about twice the bytes that they are written in.
        self.look.size() + 2 * super::kept::LARGEST
    }

    fn next(
        mut self,
        look: &Look,
        (rules, is_quick): (&Rules, bool),
        reported: Option<&Look>,
        may_look_again: bool,
    ) -> Judgement {
        self.pairs += 1;
        self.kept.attention.pair();
        let units = page::learn(&self.kept.units, &self.look, look, is_quick);
        let attention = std::mem::take(&mut self.kept.attention);
        let mut next = Kept::of(look, units, self.kept.grain, attention);
        let is_open = next.units.iter().any(|unit| unit.is_suspect() || unit.may_have_ended())
            || self.pairs < self.needed;
        let what = self.what(&next, look, rules, reported);
        if is_open && self.pairs < MOST_PAIRS && may_look_again {
            let mut judgement = settled(what, self.learned(next.clone(), what));
            judgement.kept.attention.stand();
            let doubt = Some(Self { kept: next, look: look.clone(), ..self });
            return Judgement { doubt, found_noise: None, ..judgement };
        }
        if what != What::Nothing && self.only_suspects(&next, look, rules, reported) {
            let mut kept = self.learned(next.clone(), What::Nothing);
            if kept.attention.put_off() {
                return settled(What::Nothing, kept);
            }
        }
        next.attention.stand();
        let found_noise = (self.what != What::Nothing).then_some(next.noise() > self.noise);
        Judgement { found_noise, ..settled(what, self.learned(next, what)) }
    }

    /// Whether nothing but what is suspected to be noise differs from the copy that was reported last.
    fn only_suspects(&self, next: &Kept, look: &Look, rules: &Rules, reported: Option<&Look>) -> bool {
        let presumed = Kept { units: page::presumed(&next.units), ..next.clone() };
        reported.is_some()
            && next.units.iter().any(Unit::is_suspect)
            && matches!(rules.by, By::Text)
            && self.what(&presumed, look, rules, reported) == What::Nothing
    }

    /// What is kept if no other look follows.
    fn learned(&self, mut next: Kept, what: What) -> Kept {
        let (fades, open) = (next.units.iter().any(Unit::is_fading), next.units.iter().any(Unit::is_suspect));
        let was_change = self.what != What::Nothing && !open;
        next.attention.learn(next.noise() > self.noise, was_change, fades);
        if what != What::Nothing {
            next.attention.remember(self.state);
        }
        next
    }

    /// What differs from the copy that was reported last, by what is known of noise now.
    fn what(&self, next: &Kept, look: &Look, rules: &Rules, reported: Option<&Look>) -> What {
        reported.and_then(|reported| since(reported, next, look, rules)).unwrap_or(self.what)
    }
}

/// What differs between an earlier look and this one, after which `next` is kept. `None` if they cannot be compared: under other rules a page has
/// other blocks.
fn since(earlier: &Look, next: &Kept, look: &Look, rules: &Rules) -> Option<What> {
    if earlier.mark != look.mark || earlier.blocks.is_none() {
        return None;
    }
    let before = page::follow(&next.units, earlier);
    Some(match rules.by {
        By::Exact if earlier.digest == look.digest => What::Nothing,
        By::Exact => What::Exact,
        By::Text => text(before.changed + page::news(&next.units), &before.units, &next.units),
        By::Simhash { distance } => simhash(sketch(earlier, &before.units), next.simhash, distance),
    })
}

fn text(changed: usize, before: &[Unit], now: &[Unit]) -> What {
    let present = |units: &[Unit]| units.iter().filter(|unit| unit.blocks() > 0).count();
    if changed == 0 { What::Nothing } else { What::Text { changed, of: present(before).max(present(now)) } }
}

fn simhash(before: u64, now: u64, most: u32) -> What {
    let distance = (before ^ now).count_ones();
    if distance <= most { What::Nothing } else { What::Simhash { distance } }
}
