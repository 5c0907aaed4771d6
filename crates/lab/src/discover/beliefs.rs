//! What is learned of hubs whose parameters are not known: what their links are worth, and how many to expect of a hub that was
//! seldom visited. (How many links a hub shows is learned by the frontier, from its visits.)

/// Who was told something is told again when it has moved by this share.
const MOVED: f64 = 0.1;

/// What the links of hubs are worth: the mean of those fetched, leaning on the mean of all known hubs as if so many links of its own
/// had been worth that as the data say: many where links of the same hub differ more than hubs do.
#[derive(Clone, Debug)]
pub(super) struct Profits {
    /// Count and sum of what was fetched, by hub.
    fetched: Vec<(f64, f64)>,
    /// The sum of the means of the hubs that are known, and how many those are.
    means: f64,
    known: f64,
    all: Spread,
    unknown: Expectation,
}

/// What the links of a hub are believed to be worth before the first of them is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Expectation {
    /// As much as those of the hubs that are known, in the mean; and a hub of which little is known leans on that.
    #[default]
    LikeKnown,
    /// A given number; as soon as one link is known, the mean of those that are. (The ephemeral-content paper, with a small number.)
    Fixed(f64),
}

/// Sums over everything that was fetched, for the analysis of variance.
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    count: f64,
    sum: f64,
    squares: f64,
    /// Of each hub's sum² / count, and of count².
    between: f64,
    counts_squared: f64,
}

/// What a hub leans on the others counts as so many links, at least and at most.
const LEANS: (f64, f64) = (0.5, 50.0);

impl Spread {
    /// The variance within hubs in units of that between hubs: one-way random effects, by moments.
    fn within_to_between(&self, hubs: f64) -> f64 {
        let (inside, outside) = (self.count - hubs, hubs - 1.0);
        if !(inside > 0.0 && outside > 0.0) {
            return 1.0;
        }
        let within = ((self.squares - self.between) / inside).max(0.0);
        let between = (self.between - self.sum * self.sum / self.count) / outside;
        let each = (self.count - self.counts_squared / self.count) / outside;
        let ratio = within * each / (between - within);
        if between > within && ratio.is_finite() { ratio } else { LEANS.1 }
    }
}

impl Profits {
    pub(super) fn new(hubs: usize, unknown: Expectation) -> Self {
        Self { fetched: vec![(0.0, 0.0); hubs], means: 0.0, known: 0.0, all: Spread::default(), unknown }
    }

    /// A link of a hub turned out to be worth this.
    pub(super) fn learn(&mut self, hub: u32, profit: f64) {
        let (count, sum) = &mut self.fetched[hub as usize];
        let all = &mut self.all;
        if *count > 0.0 {
            self.means -= *sum / *count;
            all.between -= *sum * *sum / *count;
        } else {
            self.known += 1.0;
        }
        all.counts_squared += 2.0 * *count + 1.0;
        *sum += profit;
        *count += 1.0;
        self.means += *sum / *count;
        all.between += *sum * *sum / *count;
        all.count += 1.0;
        all.sum += profit;
        all.squares += profit * profit;
    }

    /// What to expect of others: the mean of known hubs, if not something given. As long as nothing is known to be worth anything,
    /// all are worth the same.
    pub(super) fn prior(&self) -> f64 {
        if let Expectation::Fixed(profit) = self.unknown {
            return profit;
        }
        if self.known > 0.0 && self.means > 0.0 { self.means / self.known } else { 1.0 }
    }

    /// What a link of a hub is believed to be worth.
    pub(super) fn of(&self, hub: u32) -> f64 {
        let (count, sum) = self.fetched[hub as usize];
        if matches!(self.unknown, Expectation::Fixed(_)) {
            return if count > 0.0 { sum / count } else { self.prior() };
        }
        let leans = self.all.within_to_between(self.known).clamp(LEANS.0, LEANS.1);
        (sum + leans * self.prior()) / (count + leans)
    }
}

/// How many links per second a hub shows, if nothing else is known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkRates {
    links: f64,
    seconds: f64,
}

impl LinkRates {
    /// Before anything was seen hubs are expected to show as many links as would take half of the budget: so everyone is visited
    /// at first. That counts as little as one visit to one hub.
    pub(super) fn new(hubs: usize, rate: f64) -> Self {
        Self { links: 0.5, seconds: hubs as f64 / rate }
    }

    /// A visit after so many seconds found so many links.
    pub(super) fn learn(&mut self, seconds: f64, links: usize) {
        self.seconds += seconds;
        self.links += links as f64;
    }

    /// The mean of all that was seen.
    pub(super) fn prior(&self) -> f64 {
        self.links / self.seconds
    }
}

/// Whether a number has become another.
pub(super) fn has_moved(from: f64, to: f64) -> bool {
    (to - from).abs() > MOVED * from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_hubs_are_like_the_mean_of_known_ones() {
        let mut profits = Profits::new(3, Expectation::LikeKnown);
        assert_eq!(profits.of(2), 1.0);
        profits.learn(0, 0.0);
        assert_eq!(profits.of(2), 1.0);
        profits.learn(0, 20.0);
        profits.learn(1, 40.0);
        assert!(profits.prior() == 25.0 && (profits.of(2) - 25.0).abs() < 1e-9);
        assert!(profits.of(0) > 10.0 && profits.of(0) < 25.0);
        assert!(profits.of(1) > 25.0 && profits.of(1) < 40.0);
    }

    #[test]
    fn what_is_given_holds_until_a_link_is_known() {
        let mut profits = Profits::new(2, Expectation::Fixed(0.25));
        profits.learn(0, 4.0);
        profits.learn(0, 8.0);
        assert_eq!((profits.of(0), profits.of(1), profits.prior()), (6.0, 0.25, 0.25));
    }

    /// Hubs whose links are all alike are soon believed; where links differ more than hubs, hubs are believed to be alike.
    #[test]
    fn beliefs_lean_as_much_as_hubs_differ() {
        let (mut clear, mut vague) =
            (Profits::new(4, Expectation::LikeKnown), Profits::new(4, Expectation::LikeKnown));
        for k in 0..40u32 {
            let noise = f64::from(k * 7919 % 101);
            clear.learn(k % 4, 100.0 * f64::from(k % 4) + 0.1 * noise);
            vague.learn(k % 4, 0.1 * f64::from(k % 4) + noise);
        }
        assert!((clear.of(3) - 305.0).abs() < 20.0, "{}", clear.of(3));
        for hub in 0..4 {
            assert!((vague.of(hub) / vague.prior() - 1.0).abs() < 0.1, "{} {}", vague.of(hub), vague.prior());
        }
    }

    #[test]
    fn links_are_expected_as_they_were_seen() {
        let mut rates = LinkRates::new(10, 2.0);
        assert_eq!(rates.prior(), 0.1);
        rates.learn(995.0, 19);
        assert_eq!(rates.prior(), 19.5 / 1000.0);
    }
}
