//! Work on a long list, spread over the cores of the machine.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// Fewer items are not worth a thread.
const FEWEST: usize = 64;

/// Does the work on every part of a list, in order; `work` gets the position of the part's first item as well. How many parts there
/// are depends on the machine, so nothing may depend on it.
pub(super) fn parts<'i, T: Sync, R: Send>(
    items: &'i [T],
    work: impl Fn(usize, &'i [T]) -> R + Sync,
) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let size = items.len().div_ceil(cores).max(FEWEST);
    if items.len() <= size {
        return vec![work(0, items)];
    }
    let work = &work;
    thread::scope(|scope| {
        let begin = |(index, part)| scope.spawn(move || work(index * size, part));
        let threads: Vec<_> = items.chunks(size).enumerate().map(begin).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, R>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_and_in_order() {
        for length in [0, 1, FEWEST, FEWEST + 1, 10 * FEWEST + 3] {
            let items: Vec<usize> = (0..length).collect();
            let seen = parts(&items, |offset, part| {
                assert_eq!(part.first().copied().unwrap_or(offset), offset);
                part.to_vec()
            });
            assert_eq!(seen.concat(), items);
        }
    }
}
