#![allow(clippy::all, missing_docs, clippy::pedantic, clippy::disallowed_methods)]
use rand::{RngExt, SeedableRng};
use rand_distr::{Beta, Distribution, Poisson};
use refrain_core::page::Belief;
use refrain_core::value::{CrawlValue, GreedyNcis};
fn main() {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let beta = Beta::new(0.25, 0.25).unwrap();
    for scale in [1.0, 5.0, 20.0, 100.0] {
        let pts: Vec<(Belief, f64, u32, f64)> = (0..200_000).map(|_| {
            let d: f64 = rng.random(); let mu: f64 = rng.random();
            let b = Belief::new(d, mu).unwrap().with_signals(beta.sample(&mut rng), rng.random_range(0.1..0.6)).unwrap();
            let tau = scale * rng.random_range(0.0..2.0);
            let g = b.recall()*d + b.false_rate();
            let n: f64 = Poisson::new(g*tau).unwrap().sample(&mut rng);
            let v = rng.random::<f64>() * mu / d;
            (b, tau, n as u32, v)
        }).collect();
        let t = std::time::Instant::now();
        let mut s = 0.0;
        for (b, tau, n, _) in &pts { s += GreedyNcis::new(b).value(*tau, *n); }
        let a = t.elapsed().as_nanos() as f64 / pts.len() as f64;
        let t = std::time::Instant::now();
        if false { for (b, tau, n, _) in &pts { let v = GreedyNcis::new(b).value(*tau, *n); std::hint::black_box(v); } }
        let t2 = std::time::Instant::now();
        for (b, _, n, v) in &pts { s += GreedyNcis::new(b).moment(*v, *n).unwrap_or(0.0); }
        let c = t2.elapsed().as_nanos() as f64 / pts.len() as f64;
        println!("scale {scale}: value {a:.0} ns, inverse {c:.0} ns  ({s:.3})");
        let _ = t;
    }
}
