//! Reading ahead: the disk, the pipe or the decompressor works while the parser does.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

const BLOCK: usize = 1 << 20;
/// Blocks under way, full or empty: what reading ahead may cost in memory.
const BLOCKS: usize = 4;

/// Bytes that another thread reads from a source, in order, a few blocks ahead.
pub(super) struct ReadAhead {
    full: Receiver<io::Result<Block>>,
    empty: SyncSender<Block>,
    current: Block,
    taken: usize,
}

#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    filled: usize,
}

impl ReadAhead {
    pub(super) fn new(source: impl Read + Send + 'static) -> Self {
        let (to_reader, full) = sync_channel(BLOCKS);
        let (empty, from_reader) = sync_channel::<Block>(BLOCKS);
        for _ in 0..BLOCKS {
            // There is room for all of them.
            let _ = empty.try_send(Block { bytes: vec![0; BLOCK], filled: 0 });
        }
        thread::spawn(move || fill_blocks(source, &from_reader, &to_reader));
        Self { full, empty, current: Block::default(), taken: 0 }
    }
}

/// Fills empty blocks until the source ends or fails, or nobody wants them any more.
fn fill_blocks(mut source: impl Read, empty: &Receiver<Block>, full: &SyncSender<io::Result<Block>>) {
    while let Ok(mut block) = empty.recv() {
        let result = loop {
            match source.read(&mut block.bytes) {
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        let ended = matches!(result, Ok(0) | Err(_));
        let message = result.map(|filled| Block { filled, ..block });
        if full.send(message).is_err() || ended {
            return;
        }
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.current.filled {
            let Ok(next) = self.full.recv() else {
                return Ok(0);
            };
            // An empty block is the end; after it the channel is closed.
            let used = std::mem::replace(&mut self.current, next?);
            self.taken = 0;
            if !used.bytes.is_empty() {
                // If the reader has ended, nobody needs it.
                let _ = self.empty.try_send(Block { filled: 0, ..used });
            }
        }
        let waiting = &self.current.bytes[self.taken..self.current.filled];
        let count = waiting.len().min(buffer.len());
        buffer[..count].copy_from_slice(&waiting[..count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes in odd portions, is interrupted in between, and fails at the end if told to.
    struct Moody {
        left: Vec<u8>,
        calls: usize,
        fails: bool,
    }

    impl Read for Moody {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.calls += 1;
            if self.calls.is_multiple_of(3) {
                return Err(ErrorKind::Interrupted.into());
            }
            if self.left.is_empty() && self.fails {
                return Err(io::Error::other("gone"));
            }
            let count = self.left.len().min(buffer.len()).min(70_001 * self.calls);
            let rest = self.left.split_off(count);
            buffer[..count].copy_from_slice(&std::mem::replace(&mut self.left, rest));
            Ok(count)
        }
    }

    #[test]
    fn all_bytes_arrive_in_order() {
        let bytes: Vec<u8> = (0..9_000_000u32).map(|i| (i % 251) as u8).collect();
        let mut arrived = Vec::new();
        let source = Moody { left: bytes.clone(), calls: 0, fails: false };
        ReadAhead::new(source).read_to_end(&mut arrived).unwrap();
        assert!(arrived == bytes);
    }

    #[test]
    fn a_failure_comes_after_what_was_read() {
        let source = Moody { left: vec![7; 100_000], calls: 0, fails: true };
        let mut arrived = Vec::new();
        let why = ReadAhead::new(source).read_to_end(&mut arrived).unwrap_err();
        assert_eq!((why.to_string().as_str(), arrived.len()), ("gone", 100_000));
    }

    #[test]
    fn leaving_early_is_fine() {
        let mut ahead = ReadAhead::new(io::repeat(1));
        let mut first = [0; 10];
        ahead.read_exact(&mut first).unwrap();
        assert_eq!(first, [1; 10]);
    }
}
