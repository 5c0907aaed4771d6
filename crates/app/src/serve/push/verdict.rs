//! What became of what was pushed, for those who count.

/// What became of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Verdict {
    /// It was handed to the crawl.
    Taken,
    /// It was there before, and changes nothing.
    Replayed,
    /// It will be known later whether its sender may speak.
    Pending,
    /// Its sender may not speak, or nobody knows.
    Unverified,
    /// It cannot be read, or does not fit.
    Malformed,
    /// It is too large, or too slow.
    Oversized,
    /// It came too often.
    TooMany,
    /// It speaks of nothing that is known here.
    Stranger,
    /// The crawl was over.
    Lost,
}

impl Verdict {
    /// As a label.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Replayed => "replayed",
            Self::Pending => "pending",
            Self::Unverified => "unverified",
            Self::Malformed => "malformed",
            Self::Oversized => "oversized",
            Self::TooMany => "too-many",
            Self::Stranger => "stranger",
            Self::Lost => "lost",
        }
    }

    /// By the status that a push was refused with.
    pub(crate) fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::Unverified,
            404 | 410 => Self::Stranger,
            408 | 413 => Self::Oversized,
            429 => Self::TooMany,
            500.. => Self::Lost,
            _ => Self::Malformed,
        }
    }
}
