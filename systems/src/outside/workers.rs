//! The workers: threads that do items of work outside the tick, shared by all pipelines of an engine.
//!
//! The most urgent item goes first, of equals the one that was handed over first. It may touch nothing
//! but what an item brings along.

use super::{Item, ItemPanicked, Output, Waker};
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// What became of an item.
enum Fate {
    /// It waits for a worker, at this place of the queue.
    Waits(u8, u64),
    /// A worker is at it.
    Runs,
    /// It is done, as the so manieth of all.
    Done(u64, Result<Output, ItemPanicked>),
    /// Nobody wants it any more, or its result was taken.
    Gone,
}

/// An item from the hand-over to its result.
pub(super) struct Ticket {
    fate: Mutex<Fate>,
    done: Condvar,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ticket {
    /// Which of all items it was that was done, if it is.
    pub(super) fn finished(&self) -> Option<u64> {
        match &*locked(&self.fate) {
            Fate::Done(order, _) => Some(*order),
            _ => None,
        }
    }

    /// Its result; waits for it.
    fn wait(&self) -> Result<Output, ItemPanicked> {
        let mut fate = locked(&self.fate);
        loop {
            match core::mem::replace(&mut *fate, Fate::Gone) {
                Fate::Done(_, result) => return result,
                // It was taken or given up before: by nobody, as a ticket is not shared.
                Fate::Gone => return Err(ItemPanicked("it was given up".to_owned())),
                other => *fate = other,
            }
            fate = self.done.wait(fate).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// An item in the queue.
struct Queued {
    item: Item,
    ticket: Arc<Ticket>,
}

#[derive(Default)]
struct Queue {
    /// By priority, and then by when it came.
    items: BTreeMap<(u8, u64), Queued>,
    came: u64,
    finished: u64,
    /// Workers that have nothing to do.
    idle: usize,
    closed: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    /// An item came, or the end.
    comes: Condvar,
    /// Told when an item is done.
    waker: Arc<Waker>,
}

/// How many workers there may be, and what each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerTerms {
    /// Threads at most. They are made when there is work for them.
    pub workers: usize,
    /// Bytes of the stack of each.
    pub stack: usize,
    /// How many priorities there are: 0 is the most urgent.
    pub priorities: u8,
}

/// The workers of an engine.
pub struct Workers {
    shared: Arc<Shared>,
    terms: WorkerTerms,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl core::fmt::Debug for Workers {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Workers")
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

impl Workers {
    /// None yet: the first item makes the first. Each item that is done wakes `waker`.
    pub fn new(terms: WorkerTerms, waker: Arc<Waker>) -> Workers {
        Workers {
            shared: Arc::new(Shared {
                queue: Mutex::new(Queue::default()),
                comes: Condvar::new(),
                waker,
            }),
            terms,
            threads: Mutex::new(Vec::new()),
        }
    }

    /// What they are.
    pub fn terms(&self) -> WorkerTerms {
        self.terms
    }

    /// Threads that were made so far.
    pub fn started(&self) -> usize {
        locked(&self.threads).len()
    }

    /// Items that were done so far.
    pub fn finished(&self) -> u64 {
        locked(&self.shared.queue).finished
    }

    /// Takes an item over. Another worker is made if all are busy and there may be more.
    ///
    /// # Errors
    /// No thread can be had, and there is none.
    pub(super) fn hand(&self, priority: u8, item: Item) -> io::Result<Arc<Ticket>> {
        let mut threads = locked(&self.threads);
        let mut queue = locked(&self.shared.queue);
        if queue.idle <= queue.items.len() && threads.len() < self.terms.workers {
            let shared = Arc::clone(&self.shared);
            let name = format!("tickpipe-work-{}", threads.len());
            let thread = std::thread::Builder::new()
                .name(name)
                .stack_size(self.terms.stack);
            match thread.spawn(move || work(&shared)) {
                Ok(thread) => threads.push(thread),
                Err(error) if threads.is_empty() => return Err(error),
                Err(_) => {}
            }
        }
        let place = (priority, queue.came);
        queue.came += 1;
        let ticket = Arc::new(Ticket {
            fate: Mutex::new(Fate::Waits(place.0, place.1)),
            done: Condvar::new(),
        });
        let queued = Queued {
            item,
            ticket: Arc::clone(&ticket),
        };
        queue.items.insert(place, queued);
        self.shared.comes.notify_one();
        Ok(ticket)
    }

    /// The result of an item; waits for it. One that no worker has begun is done here and now.
    pub(super) fn take(&self, ticket: &Ticket) -> Result<Output, ItemPanicked> {
        let place = match &*locked(&ticket.fate) {
            Fate::Waits(priority, came) => Some((*priority, *came)),
            _ => None,
        };
        let own = place.and_then(|place| locked(&self.shared.queue).items.remove(&place));
        if let Some(queued) = own {
            run(&self.shared, queued);
        }
        ticket.wait()
    }

    /// Nobody wants an item any more. One that is being done goes on to its end; its result is
    /// dropped.
    pub(super) fn give_up(&self, ticket: &Ticket) {
        let before = core::mem::replace(&mut *locked(&ticket.fate), Fate::Gone);
        if let Fate::Waits(priority, came) = before {
            // What it brought along goes with it, outside of the lock.
            let queued = locked(&self.shared.queue).items.remove(&(priority, came));
            drop(queued);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let left = {
            let mut queue = locked(&self.shared.queue);
            queue.closed = true;
            core::mem::take(&mut queue.items)
        };
        drop(left);
        self.shared.comes.notify_all();
        let threads = core::mem::take(&mut *locked(&self.threads));
        for thread in threads {
            // A worker catches what its items do.
            let _ = thread.join();
        }
    }
}

/// What a worker does until the end.
fn work(shared: &Shared) {
    let mut queue = locked(&shared.queue);
    loop {
        if let Some((_, queued)) = queue.items.pop_first() {
            drop(queue);
            run(shared, queued);
            queue = locked(&shared.queue);
            continue;
        }
        if queue.closed {
            return;
        }
        queue.idle += 1;
        queue = shared
            .comes
            .wait(queue)
            .unwrap_or_else(PoisonError::into_inner);
        queue.idle -= 1;
    }
}

/// Does an item, unless nobody wants it any more.
fn run(shared: &Shared, queued: Queued) {
    let Queued { item, ticket } = queued;
    {
        let mut fate = locked(&ticket.fate);
        if matches!(*fate, Fate::Gone) {
            return;
        }
        *fate = Fate::Runs;
    }
    let outcome = catch_unwind(AssertUnwindSafe(item));
    let result = outcome.map_err(|panic| ItemPanicked::new(&*panic));
    let mut queue = locked(&shared.queue);
    let order = queue.finished;
    queue.finished += 1;
    let unwanted = {
        let mut fate = locked(&ticket.fate);
        match *fate {
            Fate::Gone => Some(result),
            _ => {
                *fate = Fate::Done(order, result);
                None
            }
        }
    };
    ticket.done.notify_all();
    drop(queue);
    shared.waker.wake();
    drop(unwanted);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn workers(workers: usize) -> Workers {
        let terms = WorkerTerms {
            workers,
            stack: 1 << 16,
            priorities: 4,
        };
        Workers::new(terms, Arc::default())
    }

    fn number(result: Result<Output, ItemPanicked>) -> Result<u32, String> {
        let output = result.map_err(|e| e.to_string())?;
        let number = output.downcast::<u32>();
        number.map(|n| *n).map_err(|_| "no number".to_owned())
    }

    #[test]
    fn the_most_urgent_goes_first_and_of_equals_the_first() {
        let one = workers(1);
        let (open, gate) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel::<u32>();
        let (began, begun) = mpsc::channel::<()>();
        let block = one.hand(
            0,
            Box::new(move || {
                let _ = began.send(());
                let _ = gate.recv();
                Box::new(0u32)
            }),
        );
        begun.recv().expect("it began");
        let order = [(3, 1), (1, 2), (2, 3), (1, 4), (0, 5)];
        let tickets: Vec<_> = order
            .into_iter()
            .map(|(priority, n)| {
                let tell = tell.clone();
                let item = move || -> Output {
                    let _ = tell.send(n);
                    Box::new(n)
                };
                one.hand(priority, Box::new(item)).expect("a thread")
            })
            .collect();
        open.send(()).expect("it waits");
        let done: Vec<u32> = told.iter().take(5).collect();
        assert_eq!(done, [5, 2, 4, 3, 1]);
        assert_eq!(one.started(), 1);
        let results: Vec<_> = tickets.iter().map(|t| number(one.take(t))).collect();
        assert_eq!(results, [Ok(1), Ok(2), Ok(3), Ok(4), Ok(5)]);
        assert_eq!(number(one.take(&block.expect("a thread"))), Ok(0));
    }

    #[test]
    fn one_that_nobody_has_begun_is_done_by_who_wants_it() {
        let one = workers(1);
        let (open, gate) = mpsc::channel::<()>();
        let block = move || -> Output {
            let _ = gate.recv();
            Box::new(0u32)
        };
        let block = one.hand(0, Box::new(block)).expect("a thread");
        let thread = |()| -> Output { Box::new(std::thread::current().id()) };
        let own = one.hand(0, Box::new(move || thread(()))).expect("a thread");
        let id = one.take(&own).map_err(|e| e.to_string());
        let id = id.map(|o| o.downcast::<std::thread::ThreadId>().ok().map(|i| *i));
        assert_eq!(id, Ok(Some(std::thread::current().id())));
        open.send(()).expect("it waits");
        assert_eq!(number(one.take(&block)), Ok(0));
    }

    #[test]
    fn a_panic_is_told_and_the_worker_goes_on() {
        let one = workers(1);
        let bad = one.hand(0, Box::new(|| panic!("no {}", 7)));
        let good = one.hand(0, Box::new(|| Box::new(8u32)));
        let (bad, good) = (bad.expect("a thread"), good.expect("a thread"));
        assert_eq!(
            number(one.take(&bad)),
            Err("the item of work panicked: no 7".to_owned())
        );
        assert_eq!(number(one.take(&good)), Ok(8));
    }

    #[test]
    fn what_is_given_up_is_not_done_and_what_it_brought_is_dropped() {
        let one = workers(1);
        let (open, gate) = mpsc::channel::<()>();
        let (began, begun) = mpsc::channel::<()>();
        let block = move || -> Output {
            let _ = began.send(());
            let _ = gate.recv();
            Box::new(0u32)
        };
        let block = one.hand(0, Box::new(block)).expect("a thread");
        begun.recv().expect("it began");
        let brought = Arc::new(());
        let with = Arc::clone(&brought);
        let item = move || -> Output { Box::new(Arc::strong_count(&with) as u32) };
        let given_up = one.hand(0, Box::new(item)).expect("a thread");
        one.give_up(&given_up);
        assert_eq!(Arc::strong_count(&brought), 1);
        one.give_up(&block);
        open.send(()).expect("it waits");
        assert!(one.shared.waker.wait_for_more(0, None));
        assert_eq!(one.finished(), 1);
        drop(one);
    }

    #[test]
    fn an_engine_that_goes_drops_what_waits_and_joins_what_runs() {
        let brought = Arc::new(());
        {
            let two = workers(2);
            for _ in 0..50 {
                let with = Arc::clone(&brought);
                let item = move || -> Output { Box::new(Arc::strong_count(&with)) };
                let _ = two.hand(1, Box::new(item));
            }
            assert!(two.started() <= 2, "{}", two.started());
        }
        assert_eq!(Arc::strong_count(&brought), 1);
    }
}
