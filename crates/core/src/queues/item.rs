//! One address.

use super::{PARKED, QueueId, Seconds};

/// An address, by its number. Used again when the address is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(pub u32);

/// What is kept of an address: 24 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) print: u64,
    /// [`GONE`](Self::GONE) if there is no such address.
    pub(super) queue: u32,
    /// 0: completed.
    pub(super) due: Seconds,
    pub(super) created: Seconds,
    /// Until when somebody has it; 0: nobody.
    pub(super) lease: Seconds,
}

impl Item {
    /// The place of an address that is not there.
    pub(super) const GONE: Self = Self { print: 0, queue: u32::MAX, due: 0, created: 0, lease: 0 };

    pub(super) fn is_there(&self) -> bool {
        self.queue != u32::MAX
    }

    pub(super) fn whole(&self, id: ItemId) -> Whole {
        Whole {
            id,
            queue: QueueId(self.queue),
            due: self.due,
            is_parked: self.due == PARKED,
            created: self.created,
            lease: (self.lease != 0).then_some(self.lease),
        }
    }
}

/// What is known of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Its number.
    pub id: ItemId,
    /// Where it is.
    pub queue: QueueId,
    /// From when on it is due; 0: it is completed.
    pub due: Seconds,
    /// Whether somebody else decides when it is due.
    pub is_parked: bool,
    /// When it came.
    pub created: Seconds,
    /// Until when somebody has it.
    pub lease: Option<Seconds>,
}
