//! k-means: points in groups around their means. (Lloyd's algorithm, begun as k-means++ does, the best of a few starts.)

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Groups of points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clusters {
    /// Their means, the largest group first.
    pub(super) centres: Vec<Vec<f64>>,
    /// How many points are in each.
    pub(super) sizes: Vec<usize>,
    /// The sum of squared distances to the centres.
    pub(super) error: f64,
}

const STARTS: u64 = 8;
const ROUNDS: usize = 100;

/// At most `count` groups; fewer if there are not so many different points. All points have the same length.
pub(super) fn kmeans(points: &[Vec<f64>], count: usize, seed: u64) -> Clusters {
    let starts = (0..STARTS).map(|start| settle(points, begin(points, count, seed.wrapping_add(start))));
    let best = starts.min_by(|a, b| a.error.total_cmp(&b.error));
    best.unwrap_or(Clusters { centres: Vec::new(), sizes: Vec::new(), error: 0.0 })
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The nearest centre, and how far it is (squared).
fn nearest(point: &[f64], centres: &[Vec<f64>]) -> (usize, f64) {
    let all = centres.iter().enumerate().map(|(k, centre)| (k, distance(point, centre)));
    all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::INFINITY))
}

/// Points as first centres: each with a probability that grows with the square of its distance to those chosen before.
fn begin(points: &[Vec<f64>], count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut centres: Vec<Vec<f64>> = Vec::new();
    while centres.len() < count.min(points.len()) {
        let weights: Vec<f64> = points
            .iter()
            .map(|point| if centres.is_empty() { 1.0 } else { nearest(point, &centres).1 })
            .collect();
        let total: f64 = weights.iter().sum();
        if !(total > 0.0) {
            break;
        }
        let mut left = random.random::<f64>() * total;
        let chosen = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        // Rounding may leave a little.
        let last = weights.iter().rposition(|weight| *weight > 0.0);
        if let Some(chosen) = chosen.or(last) {
            centres.push(points[chosen].clone());
        }
    }
    centres
}

fn settle(points: &[Vec<f64>], mut centres: Vec<Vec<f64>>) -> Clusters {
    let mut belongs: Vec<usize> = Vec::new();
    for _ in 0..ROUNDS {
        let now: Vec<usize> = points.iter().map(|point| nearest(point, &centres).0).collect();
        if now == belongs {
            break;
        }
        belongs = now;
        for (k, centre) in centres.iter_mut().enumerate() {
            let own: Vec<&Vec<f64>> =
                points.iter().zip(&belongs).filter(|(_, of)| **of == k).map(|(point, _)| point).collect();
            if own.is_empty() {
                continue;
            }
            for (i, number) in centre.iter_mut().enumerate() {
                *number = own.iter().map(|point| point[i]).sum::<f64>() / own.len() as f64;
            }
        }
    }
    let error = points.iter().map(|point| nearest(point, &centres).1).sum();
    let size = |k: usize| belongs.iter().filter(|of| **of == k).count();
    let mut groups: Vec<(usize, Vec<f64>)> =
        centres.into_iter().enumerate().map(|(k, centre)| (size(k), centre)).collect();
    groups.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let (sizes, centres) = groups.into_iter().unzip();
    Clusters { centres, sizes, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heaps() -> Vec<Vec<f64>> {
        let wobble = |k: u32| f64::from(k * 7919 % 11) / 100.0;
        let heap =
            |count: u32, x: f64, y: f64| (0..count).map(move |k| vec![x + wobble(k), y + wobble(k + 3)]);
        heap(30, 0.0, 0.0).chain(heap(20, 5.0, 0.0)).chain(heap(10, 0.0, 5.0)).collect()
    }

    #[test]
    fn heaps_are_found_the_same_way_each_time() {
        let found = kmeans(&heaps(), 3, 1);
        assert_eq!(found.sizes, [30, 20, 10]);
        assert!(distance(&found.centres[1], &[5.05, 0.05]) < 0.01, "{:?}", found.centres);
        assert_eq!(found, kmeans(&heaps(), 3, 1));
        assert_eq!(kmeans(&heaps(), 3, 2).sizes, found.sizes);
        assert!(kmeans(&heaps(), 2, 1).error > found.error);
    }

    #[test]
    fn no_more_groups_than_points() {
        assert_eq!(kmeans(&vec![vec![1.0]; 5], 3, 1).sizes, [5]);
        assert!(kmeans(&[], 3, 1).centres.is_empty());
    }
}
