//! How a command fails: one sentence on stderr, and an exit code. The codes are documented in docs/crawl.md: 0 (it did what it was asked to),
//! [`FAILED`], [`UNUSABLE`] and [`STOPPED_AT_ONCE`].

use std::io;
use std::process::ExitCode;

/// Something failed on the way: the disk or the network, every page of a crawl, a part of Refrain by a panic; or `refrain check` found damage.
pub(crate) const FAILED: u8 = 1;
/// What was given cannot be used: options, files, settings, the data directory. Nothing was done.
pub(crate) const UNUSABLE: u8 = 2;
/// A crawl was asked twice to stop, and did not wait for visits under way.
pub(crate) const STOPPED_AT_ONCE: i32 = 130;

/// Why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// What the user gave cannot be used; the sentence says what, where, and what was expected.
    #[error("{0}")]
    Input(String),
    /// Something went wrong on the way, and says so itself in a sentence.
    #[error("{0}")]
    OnTheWay(String),
    /// The world did not cooperate: a disk, a pipe.
    #[error("{what}: {why}")]
    System {
        /// What was attempted, on what.
        what: String,
        /// What the system said.
        why: io::Error,
    },
}

impl Failure {
    pub(crate) fn input(sentence: impl Into<String>) -> Self {
        Self::Input(sentence.into())
    }

    pub(crate) fn system(what: impl Into<String>, why: io::Error) -> Self {
        Self::System { what: what.into(), why }
    }

    /// Says it, and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            // Whoever reads us has had enough (`refrain … | head`): not an error.
            Self::System { why, .. } if why.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Self::Input(_) => {
                eprintln!("refrain: {self}");
                ExitCode::from(UNUSABLE)
            }
            Self::System { .. } | Self::OnTheWay(_) => {
                eprintln!("refrain: {self}");
                ExitCode::from(FAILED)
            }
        }
    }
}
