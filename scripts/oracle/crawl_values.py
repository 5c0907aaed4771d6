#!/usr/bin/env python3
"""Crawl values to 17 digits at points where double precision is hard, by 120-digit arithmetic.

An independent check of crates/core/src/value: the textbook difference w - exp(-q) psi, summed term by term
with mpmath (PyPI), no series, no limits, no case distinctions except the exact ones (a rate that is 0).

    pip install mpmath && scripts/oracle/crawl_values.py > crates/core/tests/data/crawl_values_hard.csv

Columns: change_rate, recall, false_rate, elapsed, signals, then with importance 1: ncis, approx2, cis, psi, w.
The inputs are exact doubles; recall is stored as the double that 1 - unsignalled gives.
"""
import random
from mpmath import mp, mpf, exp, log, inf, floor

mp.dps = 120
EPS = mpf(10) ** -60


def regularized(order, x):
    """P(order, x) for integer order, from the finite sum: 120 digits leave room for its cancellation."""
    if x == inf:
        return mpf(1)
    # Chernoff: far above the mean the complement is below 10^-60, far below the mean P is.
    if x > order + 160 + 18 * (order + 60) ** mpf("0.5"):
        return mpf(1)
    term = exp(-x)
    total = term
    for j in range(1, order):
        term = term * x / j
        total += term
    if total < mpf("0.999999"):
        return 1 - total
    # the complementary series, all positive
    term = term * x / order
    total = mpf(0)
    j = order
    while True:
        total += term
        j += 1
        term = term * x / j
        if term < total * EPS:
            return total


def ncis(delta, recall, nu, tau, n, terms=None):
    """(V, psi, w) of the threshold policy at effective time tau + n beta; importance 1."""
    delta, recall, nu, tau = map(mpf, (delta, recall, nu, tau))
    alpha = (1 - recall) * delta
    gamma = recall * delta + nu
    c = delta + nu
    if delta == 0:
        return mpf(0), tau, tau
    if gamma == 0:
        return (1 - (1 + delta * tau) * exp(-delta * tau)) / delta, tau, (1 - exp(-delta * tau)) / delta
    b = inf if nu == 0 else log(gamma / nu)
    q = alpha * tau + (0 if n == 0 else n * b)
    psi = mpf(0)
    w = mpf(0)
    i = 0
    while terms is None or i < terms:
        if n > i:
            y = inf if alpha == 0 or b == inf else tau + (n - i) * b / alpha
        elif n == i:
            y = tau
        else:
            y = -inf if alpha == 0 or b == inf else tau - (i - n) * b / alpha
        if y <= 0:
            break
        pg = regularized(i + 1, gamma * y)
        pc = regularized(i + 1, c * y)
        psi += pg / gamma
        w += (nu / c) ** i / c * pc
        if pg < EPS and pc < EPS:
            break
        i += 1
    v = w - exp(-q) * psi
    # Where V is exactly 0 the difference is rounding of the 120 digits.
    return (v if v > w * EPS else mpf(0)), psi, w


def count(delta, recall, nu, tau, n):
    """How many terms the sums have at the most (before they become negligible)."""
    alpha = (1 - recall) * delta
    if recall * delta == 0:
        return 0 if nu == 0 else None
    if alpha == 0 or nu == 0:
        return n + 1
    b = float(log(mpf(recall * delta + nu) / mpf(nu)))
    if b == 0:
        return None
    return n + tau * alpha / b


def write(delta, recall, nu, tau, n):
    """One line of the table."""
    v, psi, w = ncis(delta, recall, nu, tau, n)
    v2, _, _ = ncis(delta, recall, nu, tau, n, terms=2)
    vc = ncis(delta, recall, 0.0, tau, 0)[0] if n == 0 else 1 / mpf(delta)
    row = [repr(delta), repr(recall), repr(nu), repr(tau), str(n)]
    row += [mp.nstr(x, 17, min_fixed=0, max_fixed=0) for x in (v, v2, vc, psi, w)]
    print(",".join(row), flush=True)


def floods():
    """Pages with thousands of weak signals since the last fetch: orders at which sums are too long."""
    for unsignalled, nu, tau, n in [
        (1e-2, 1e4, 0.5, 7000),
        (1e-3, 1e3, 3.0, 6000),
        (3e-3, 3e4, 0.05, 9000),
        (1e-2, 2e5, 0.02, 12000),
        (1e-4, 1e4, 1.0, 8000),
        (3e-2, 1e5, 0.3, 15000),
    ]:
        write(1.0, 1 - unsignalled, nu, tau, n)


def main():
    rng = random.Random(20240607)
    print("change_rate,recall,false_rate,elapsed,signals,ncis,approx2,cis,psi,w")
    recalls = [0.0, 1e-12, 1e-6, 1e-3, 0.02, 0.3, 0.5, 0.9, 0.999, 1 - 1e-6, 1 - 1e-12, 1.0]
    made = 0
    while made < 1000:
        delta = 10 ** rng.uniform(-7, 3)
        recall = rng.choice(recalls)
        nu = rng.choice([0.0, delta * 10 ** rng.uniform(-9, 5)])
        tau = 10 ** rng.uniform(-8, 2.3) / delta
        n = rng.choice([0, 0, 0, 1, 2, 3, 5, 12, 40, 300])
        c = delta + nu
        k = count(delta, recall, nu, tau, n)
        # keep the reference affordable: few orders, or a small argument
        if k is None or k > 3000:
            if c * tau > 400 or n > 12:
                continue
        elif k * min(c * tau + k, 3000) > 3e6:
            continue
        write(delta, recall, nu, tau, n)
        made += 1
    floods()


if __name__ == "__main__":
    main()
