//! Work that is done on all processors at once.

use std::num::NonZero;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// The stack of each thread, in bytes: answers are nested as deeply as on the thread that the program begins with.
const STACK: usize = 8 * 1024 * 1024;

/// Does a piece of work for each number below `count`, and returns what came of each, in their order.
///
/// # Panics
///
/// When a piece of work does.
pub fn at_once<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take_turns = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let numbers = numbers.take_while(|it| *it < count);
        numbers.map(|it| (it, work(it))).collect::<Vec<_>>()
    };
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let mut done = thread::scope(|scope| {
        let helping = (1..processors.min(count)).map_while(|_| {
            let thread = Builder::new().stack_size(STACK);
            // Without it, the others do its work.
            thread.spawn_scoped(scope, take_turns).ok()
        });
        let helping: Vec<_> = helping.collect();
        let mut done = take_turns();
        for it in helping {
            done.extend(it.join().unwrap_or_else(|it| panic::resume_unwind(it)));
        }
        done
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, it)| it).collect()
}

#[cfg(test)]
mod tests {
    use super::at_once;

    #[test]
    fn what_came_of_the_work_is_in_the_order_of_the_numbers() {
        for count in [0, 1, 1000] {
            let expected: Vec<usize> = (0..count).map(|it| it * it).collect();
            assert_eq!(at_once(count, |it| it * it), expected);
        }
    }

    #[test]
    #[should_panic(expected = "one of them")]
    fn a_panic_is_passed_on() {
        at_once(100, |it| assert!(it != 50, "one of them"));
    }
}
