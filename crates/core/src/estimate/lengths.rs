//! The lengths of the intervals in which a page changed, in a few numbers.
//!
//! The likelihood of a rate needs all of them: Σ φ(Δt). A crawler fetches a page at nearly regular intervals, so a few
//! lengths with weights say it all; where lengths differ, three neighbours are replaced by two that keep four sums:
//! how many, how long in all, Σ y and Σ y² with y = st/(1+st). (That is a two-point Gauss quadrature in y of the weights
//! times 1+st.) With a scale s near the rate itself, φ is close to a polynomial in y from the shortest interval to the
//! longest.

use super::bytes::{self, Reading};
use super::score::Weighted;

/// Lengths closer than this, relatively, count as the same: what that changes is of the order of its square.
const SAME: f64 = 0.01;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Node {
    length: f32,
    /// 0: unused.
    weight: f32,
}

/// At most `N` lengths with weights, in ascending order; `N` ≥ 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths<const N: usize>([Node; N]);

impl<const N: usize> Default for Lengths<N> {
    fn default() -> Self {
        Self([Node::default(); N])
    }
}

impl<const N: usize> Lengths<N> {
    pub(crate) fn write(&self, to: &mut Vec<u8>) {
        for node in &self.0 {
            bytes::write(to, &[node.length, node.weight]);
        }
    }

    /// Lengths in ascending order, the unused last.
    pub(crate) fn read(from: &mut Reading<'_>) -> Option<Self> {
        let mut nodes = [Node::default(); N];
        for node in &mut nodes {
            *node = Node { length: from.amount()?, weight: from.amount()? };
        }
        let sound = |pair: &[Node]| {
            pair[1].weight == 0.0 || (pair[0].weight > 0.0 && pair[0].length <= pair[1].length)
        };
        nodes.windows(2).all(sound).then_some(Self(nodes))
    }

    /// Counts an interval of this length. `scale` says near which rate the sums should be exact.
    pub fn add(&mut self, length: f64, scale: f64) {
        let near = |node: &&mut Node| (f64::from(node.length) - length).abs() <= SAME * length;
        if let Some(node) = self.0.iter_mut().filter(|node| node.weight > 0.0).find(near) {
            let (old, weight) = (f64::from(node.length), f64::from(node.weight) + 1.0);
            *node = Node { length: (old + (length - old) / weight) as f32, weight: weight as f32 };
            return;
        }
        let new = Node { length: length as f32, weight: 1.0 };
        if let Some(free) = self.0.iter().position(|node| node.weight == 0.0) {
            self.0[free] = new;
            self.0[..=free].sort_unstable_by(|a, b| a.length.total_cmp(&b.length));
            return;
        }
        self.make_room(new, scale);
    }

    /// Puts in one more than there is room for: of all neighbouring triples the one that loses least becomes a pair.
    fn make_room(&mut self, new: Node, scale: f64) {
        let place = self.0.partition_point(|node| node.length < new.length);
        let with_new = |index: usize| match index.cmp(&place) {
            std::cmp::Ordering::Less => self.0[index],
            std::cmp::Ordering::Equal => new,
            std::cmp::Ordering::Greater => self.0[index - 1],
        };
        let mut best: Option<(f64, usize, [Node; 2])> = None;
        for start in 0..N - 1 {
            let (loss, pair) = reduce([with_new(start), with_new(start + 1), with_new(start + 2)], scale);
            if best.is_none_or(|(least, _, _)| loss < least) {
                best = Some((loss, start, pair));
            }
        }
        if let Some((_, start, pair)) = best {
            let after = |index: usize| match index {
                i if i < start => with_new(i),
                i if i < start + 2 => pair[i - start],
                i => with_new(i + 1),
            };
            self.0 = std::array::from_fn(after);
        }
    }

    /// Everything counts so much of what it did.
    pub fn fade(&mut self, share: f32) {
        for node in &mut self.0 {
            node.weight *= share;
        }
    }

    /// The lengths and weights, unused ones with weight 0.
    pub fn weighted(&self) -> [Weighted; N] {
        self.0.map(|node| Weighted { length: f64::from(node.length), weight: f64::from(node.weight) })
    }

    /// How long the intervals were in all.
    pub fn span(&self) -> f64 {
        self.weighted().iter().map(|node| node.weight * node.length).sum()
    }
}

/// Two nodes for three, and what is lost: the squared orthogonal polynomial under the weights.
fn reduce(nodes: [Node; 3], scale: f64) -> (f64, [Node; 2]) {
    let ys = nodes.map(|node| {
        let x = scale * f64::from(node.length);
        x / (1.0 + x)
    });
    let weights: [f64; 3] =
        std::array::from_fn(|i| f64::from(nodes[i].weight) * (1.0 + scale * f64::from(nodes[i].length)));
    let total: f64 = weights.iter().sum();
    let moment = |power: i32, about: f64| -> f64 {
        let terms = ys.iter().zip(weights).map(|(y, w)| w * (y - about).powi(power));
        terms.sum::<f64>() / total
    };
    let mean = moment(1, 0.0);
    let (variance, third) = (moment(2, mean), moment(3, mean));
    if !(variance > 1e-16) {
        // All the same, as far as this scale can tell: the outer two share the middle one.
        let [a, b, c] = nodes;
        return (0.0, [merge(a, b), c]);
    }
    // The roots of the polynomial of degree two that is orthogonal to all of lower degree.
    let half = 0.5 * third / variance;
    let root = (half * half + variance).sqrt();
    // Without subtracting: the product of the roots is -variance.
    let (a, b) = if half > 0.0 {
        (-variance / (half + root), half + root)
    } else {
        (half - root, variance / (root - half))
    };
    let heavy = total * -a / (b - a);
    let node = |offset: f64, weight: f64| {
        let y = (mean + offset).clamp(ys[0], ys[2]);
        Node { length: (y / (1.0 - y) / scale) as f32, weight: (weight * (1.0 - y)) as f32 }
    };
    let loss = ys.iter().zip(weights).map(|(y, w)| w * ((y - mean - a) * (y - mean - b)).powi(2)).sum();
    (loss, [node(a, total - heavy), node(b, heavy)])
}

fn merge(a: Node, b: Node) -> Node {
    let weight = a.weight + b.weight;
    Node { length: (a.length * a.weight + b.length * b.weight) / weight, weight }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::score::Score;
    use proptest::prelude::*;

    #[test]
    fn few_lengths_are_kept_as_they_are() {
        let mut lengths = Lengths::<3>::default();
        for length in [5.0, 1.0, 5.0, 60.0, 1.0, 5.0] {
            lengths.add(length, 0.1);
        }
        let kept = lengths.weighted().map(|node| (node.length, node.weight));
        assert_eq!(kept, [(1.0, 2.0), (5.0, 3.0), (60.0, 1.0)]);
        assert_eq!(lengths.span(), 77.0);
        lengths.fade(0.5);
        assert_eq!(lengths.span(), 38.5);
    }

    #[test]
    fn jitter_does_not_matter() {
        let mut lengths = Lengths::<3>::default();
        for i in 0..1000 {
            lengths.add(100.0 * (1.0 + 0.001 * f64::from(i % 7)), 0.01);
        }
        assert_eq!(lengths.weighted().iter().filter(|node| node.weight > 0.0).count(), 1);
        assert!((lengths.span() / 100_300.0 - 1.0).abs() < 1e-4);
    }

    proptest! {
        /// Count and total length are kept, and the maximum-likelihood rate is that of all intervals within percents,
        /// whatever the lengths (here: five decades of them; the worst that was met differed by 12.3 %).
        #[test]
        fn the_likelihood_survives(
            exponents in proptest::collection::vec(-2.5f64..2.5, 4..200),
            unchanged in -1f64..3.0,
        ) {
            let all: Vec<f64> = exponents.iter().map(|e| 10f64.powf(*e)).collect();
            let exact: Vec<_> = all.iter().map(|t| Weighted { length: *t, weight: 1.0 }).collect();
            let unchanged = 10f64.powf(unchanged);
            let rate = Score { unchanged, instant: 0.0, changed: &exact }.maximum().unwrap();
            let mut lengths = Lengths::<3>::default();
            for length in &all {
                lengths.add(*length, rate);
            }
            let nodes = lengths.weighted();
            prop_assert!(nodes.windows(2).all(|pair| pair[0].length <= pair[1].length || pair[1].weight == 0.0));
            prop_assert!(nodes.iter().all(|node| node.weight >= 0.0 && node.length.is_finite()));
            let count: f64 = nodes.iter().map(|node| node.weight).sum();
            prop_assert!((count / all.len() as f64 - 1.0).abs() < 1e-4, "{count}");
            prop_assert!((lengths.span() / all.iter().sum::<f64>() - 1.0).abs() < 1e-2);
            let compact = Score { unchanged, instant: 0.0, changed: &nodes }.maximum().unwrap();
            prop_assert!((compact / rate - 1.0).abs() < 0.15, "{compact} {rate}");
        }
    }
}
