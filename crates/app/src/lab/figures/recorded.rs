//! Real histories that are in the binary.

use refrain_lab::figures::Recorded;

use crate::failure::Failure;
use crate::input::NamedTrace;

/// All of them.
pub(super) fn recorded() -> Result<Recorded, Failure> {
    Ok(Recorded { trace: Some(NamedTrace::example()?.trace), ..Recorded::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_is_that_of_the_examples() {
        let trace = recorded().unwrap().trace.unwrap();
        let changes: usize = trace.pages.iter().map(|page| page.changes.len()).sum();
        assert_eq!((trace.pages.len(), changes, trace.announcements.len()), (150, 1245, 1328));
    }
}
