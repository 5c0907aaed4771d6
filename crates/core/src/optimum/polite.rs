use rayon::prelude::*;

use super::allocate::allocate;
use super::candidate::Candidate;
use super::curve::{CurvePoint, curve};
use crate::math::sum::Sum;

/// Candidates that share a greatest rate: the pages of a host that wants a gap between two requests.
#[derive(Clone, Debug)]
pub struct Group<C> {
    /// Who is in it.
    pub candidates: Vec<C>,
    /// Fetches per unit of time that all of them may get together; infinite if there is no such limit.
    pub most: f64,
}

/// The optimum at each of these prices, which should fall, if no group gets more than it may: what the best schedule could do that is never impolite.
///
/// A group that wants more than its most at a price gets its most, spent as well as can be within the group: so says the Lagrangian, in which a
/// group that is full has a price of its own, above the one that all pay. It is a bound: requests are spread here as finely as you like, while real ones
/// come one at a time.
pub fn polite_curve<C: Candidate + Clone + Send>(groups: &[Group<C>], prices: &[f64]) -> Vec<CurvePoint> {
    let lowest = prices.iter().copied().fold(f64::INFINITY, f64::min);
    // Whoever is never full needs no price of its own: all of those are one group, mostly by far the largest.
    let (free, limited): (Vec<_>, Vec<_>) = groups
        .iter()
        .filter(|group| !group.candidates.is_empty())
        .partition(|group| group.most == f64::INFINITY || most_rate(&group.candidates, lowest) <= group.most);
    let free = Group {
        candidates: free.into_iter().flat_map(|group| group.candidates.iter().cloned()).collect(),
        most: f64::INFINITY,
    };
    // Without any importance all count the same, as everywhere.
    let is_plain = groups.iter().flat_map(|group| &group.candidates).all(|one| one.importance() == 0.0);
    let parts: Vec<Part> =
        limited.into_par_iter().chain([&free]).map(|group| Part::of(group, prices, is_plain)).collect();
    let weight: Sum = parts.iter().map(|part| part.weight).collect();
    let point = |(place, price): (usize, &f64)| {
        let rate: Sum = parts.iter().map(|part| part.points[place].0).collect();
        let gain: Sum = parts.iter().map(|part| part.weight * part.points[place].1).collect();
        let freshness = if weight.get() > 0.0 { (gain.get() / weight.get()).clamp(0.0, 1.0) } else { 0.0 };
        CurvePoint { price: *price, rate: rate.get(), freshness }
    };
    prices.iter().enumerate().map(point).collect()
}

/// What candidates want together at a price.
fn most_rate<C: Candidate>(candidates: &[C], price: f64) -> f64 {
    candidates.iter().map(|candidate| candidate.visit(price, &mut C::Hint::default()).rate).sum()
}

/// A group, at each of the prices.
struct Part {
    weight: f64,
    /// Rate and freshness.
    points: Vec<(f64, f64)>,
}

impl Part {
    fn of<C: Candidate>(group: &Group<C>, prices: &[f64], is_plain: bool) -> Self {
        let Group { candidates, most } = group;
        let weight = if is_plain {
            candidates.len() as f64
        } else {
            candidates.iter().map(Candidate::importance).collect::<Sum>().get()
        };
        let mut full = None;
        let point = |point: CurvePoint| {
            if point.rate <= *most {
                return (point.rate, point.freshness);
            }
            *full.get_or_insert_with(|| match allocate(candidates, *most) {
                Ok(best) => (best.rate, best.freshness),
                // They must get more than they may: then they get what they must.
                Err(_) => (point.rate, point.freshness),
            })
        };
        let points = curve(candidates, prices.iter().copied(), || {}).into_iter().map(point).collect();
        Self { weight, points }
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::Page;
    use super::*;

    fn pages(rates: &[f64]) -> Vec<Page> {
        rates.iter().enumerate().map(|(place, rate)| Page::new(*rate, 1.0 + place as f64).unwrap()).collect()
    }

    #[test]
    fn without_limits_it_is_the_curve() {
        let all = pages(&[0.1, 1.0, 3.0, 0.5, 2.0]);
        let prices = [0.5, 0.1, 0.01];
        let groups = [
            Group { candidates: all[..2].to_vec(), most: f64::INFINITY },
            Group { candidates: all[2..].to_vec(), most: f64::INFINITY },
        ];
        for (one, two) in polite_curve(&groups, &prices).iter().zip(curve(&all, prices, || {})) {
            assert!((one.rate - two.rate).abs() < 1e-9 && (one.freshness - two.freshness).abs() < 1e-9);
        }
    }

    #[test]
    fn no_polite_division_is_better() {
        let (first, second) = (pages(&[0.4, 2.0]), pages(&[1.0, 0.3, 5.0]));
        let weight: f64 = first.iter().chain(&second).map(Candidate::importance).sum();
        let groups = [
            Group { candidates: first.clone(), most: 0.7 },
            Group { candidates: second.clone(), most: f64::INFINITY },
        ];
        let of = |pages: &[Page], rate: f64| {
            let own: f64 = pages.iter().map(Candidate::importance).sum();
            own * allocate(pages, rate).unwrap().freshness
        };
        for point in polite_curve(&groups, &[0.3, 0.05, 0.02]) {
            // Brute force: every division of the same budget in which the first gets no more than it may.
            let best = (1..1000)
                .map(|step| 0.7 * f64::from(step) / 1000.0)
                .filter(|share| *share < point.rate)
                .map(|share| (of(&first, share) + of(&second, point.rate - share)) / weight)
                .fold(0.0, f64::max);
            assert!(point.freshness >= best - 1e-6, "{point:?} {best}");
            assert!(point.freshness <= best + 1e-3, "{point:?} {best}");
        }
    }

    #[test]
    fn many_hosts_are_the_same_in_any_order() {
        let groups: Vec<Group<Page>> = (0..50)
            .map(|host| Group {
                candidates: pages(&[0.1 * f64::from(host + 1), 0.7]),
                most: if host % 3 == 0 { 0.05 * f64::from(host + 1) } else { f64::INFINITY },
            })
            .collect();
        let turned: Vec<Group<Page>> = groups.iter().rev().cloned().collect();
        let prices = [0.5, 0.1, 0.01, 0.001];
        for (one, two) in polite_curve(&groups, &prices).iter().zip(polite_curve(&turned, &prices)) {
            assert!((one.rate - two.rate).abs() < 1e-9 && (one.freshness - two.freshness).abs() < 1e-12);
        }
    }

    #[test]
    fn nobody_at_all_is_no_trouble() {
        assert_eq!(polite_curve::<Page>(&[], &[1.0])[0].rate, 0.0);
    }
}
