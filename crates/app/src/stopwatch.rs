//! How long things take: the only clock in this crate, for people to read; no decision depends on it.

use std::time::{Duration, Instant};

/// Measures from its creation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

#[expect(clippy::disallowed_methods, reason = "measures, decides nothing")]
impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// The most memory this process has used so far, in megabytes, where the system tells.
pub(crate) fn peak_memory_mb() -> Option<u64> {
    Some(status_kilobytes("self", "VmHWM:")? / 1024)
}

/// The memory this process uses now, in bytes, where the system tells.
pub(crate) fn memory_bytes() -> Option<u64> {
    Some(status_kilobytes("self", "VmRSS:")? * 1024)
}

/// The memory that another process uses now, in bytes, where the system tells.
pub(crate) fn memory_of(process: u32) -> Option<u64> {
    Some(status_kilobytes(&process.to_string(), "VmRSS:")? * 1024)
}

/// The time that processors have worked for this process so far, where the system tells.
pub(crate) fn cpu_seconds() -> Option<f64> {
    cpu_seconds_of("self")
}

/// The same for another process, by its number.
pub(crate) fn cpu_seconds_of(process: &str) -> Option<f64> {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in brackets, may hold anything; what follows it is numbers.
    let mut fields = line.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    // Linux counts hundredths of seconds here, whatever its own clock does.
    Some(ticks / 100.0)
}

fn status_kilobytes(process: &str, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// A duration as a person says it: `1 h 20 min`, `3 min 20 s`, `3.2 s`, `18 ms`.
pub(crate) fn spoken(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let whole = seconds.round() as u64;
    if whole >= 6000 {
        format!("{} h {} min", whole / 3600, whole % 3600 / 60)
    } else if whole >= 100 {
        format!("{} min {} s", whole / 60, whole % 60)
    } else if seconds >= 1.0 {
        format!("{seconds:.1} s")
    } else if seconds >= 1e-3 {
        format!("{:.0} ms", seconds * 1e3)
    } else {
        format!("{:.0} µs", seconds * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_said_as_people_say_them() {
        let said = [2e-5, 0.0184, 3.24, 99.4, 130.4, 5999.0, 6000.0, 9015.0]
            .map(Duration::from_secs_f64)
            .map(spoken);
        let expected =
            ["20 µs", "18 ms", "3.2 s", "99.4 s", "2 min 10 s", "99 min 59 s", "1 h 40 min", "2 h 30 min"];
        assert_eq!(said, expected);
    }
}
