//! A server in a process of its own, to be measured.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::chart::grouped;
use crate::failure::Failure;
use crate::stopwatch::{cpu_seconds_of, memory_of};

/// A server, ended with this.
pub(super) struct Server {
    child: Child,
    says: BufReader<ChildStdout>,
    pub(super) address: String,
}

impl Server {
    /// Starts it, with these options beside the usual ones.
    pub(super) fn start(data: &Path, options: &[&str]) -> Result<Self, Failure> {
        let failed = |why| Failure::system("the server cannot be started", why);
        let own = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(own)
            .args([
                "serve",
                "--no-fetch",
                "--allow-private",
                "--listen",
                "127.0.0.1:0",
                "--rate",
                "1000000/s",
            ])
            .args(["--gap", "0s", "--patience", "0", "--log-level", "warn"])
            .args(options)
            .arg("--data")
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let says = child.stdout.take().map(BufReader::new);
        let says = says.ok_or_else(|| Failure::OnTheWay("the server says nothing".to_owned()))?;
        let mut server = Self { child, says, address: String::new() };
        server.address = server.said("http://")?;
        Ok(server)
    }

    /// What comes after this in the next line that it says.
    pub(super) fn said(&mut self, before: &str) -> Result<String, Failure> {
        let mut line = String::new();
        let failed = |why| Failure::system("the server cannot be started", why);
        self.says.read_line(&mut line).map_err(failed)?;
        match line.trim().split_once(before) {
            Some((_, after)) => Ok(after.to_owned()),
            None => Err(Failure::OnTheWay(format!("the server says {line:?}; expected where it listens"))),
        }
    }

    /// The memory that it uses, in bytes, where the system tells.
    pub(super) fn bytes(&self) -> Option<u64> {
        memory_of(self.child.id())
    }

    pub(super) fn memory(&self) -> String {
        self.bytes().map_or_else(String::new, |bytes| format!(", {} MB", bytes >> 20))
    }

    /// What the server's processors have worked so far, in seconds.
    pub(super) fn worked(&self) -> f64 {
        cpu_seconds_of(&self.child.id().to_string()).unwrap_or(0.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // If it is over already, so much the better.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// So many in a second, and the server's own work for one.
pub(super) struct Pace {
    pub(super) each_second: f64,
    pub(super) micros: f64,
}

impl std::fmt::Display for Pace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/s, {:.1} µs of a core each", grouped(self.each_second as usize), self.micros)
    }
}
