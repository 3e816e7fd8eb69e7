//! DirectShow's rules of an allocator, one test each, and random calls against a model of them.

mod pool_support;

use pool_support::{Script, Seen, asked, pool, scripted};
use tickpipe_components::buffer::{BufferFlags, BufferMeta, LengthError, Span, SpanError};
use tickpipe_components::fabric::BufferTable;
use tickpipe_components::id::{BufferId, LaneId, PoolId};
use tickpipe_components::pool::{MAX_ALIGN, PoolConfig, PoolUseError};
use tickpipe_components::time::TimeBase;

const A: LaneId = LaneId(1);
const B: LaneId = LaneId(2);

fn acquire(table: &mut BufferTable, pool: PoolId) -> Result<BufferId, PoolUseError> {
    table.acquire(pool, A, 7)
}

/// Lets go of a buffer; who was woken.
fn release(table: &mut BufferTable, buffer: BufferId) -> Vec<LaneId> {
    let mut woken = Vec::new();
    table.release(buffer, |l| woken.push(l)).expect("it is out");
    woken
}

fn decommit(table: &mut BufferTable, pool: PoolId) -> Vec<LaneId> {
    let mut woken = Vec::new();
    table.decommit(pool, |l| woken.push(l)).expect("a pool");
    woken
}

/// A committed pool of `count` buffers of 100 bytes.
fn committed(count: u32) -> (BufferTable, PoolId) {
    let (mut table, id) = pool();
    table.set_config(id, asked(100, 1, count)).expect("heap");
    table.commit(id).expect("heap");
    (table, id)
}

fn address(table: &BufferTable, buffer: BufferId) -> *const u8 {
    let memory = table.memory[buffer.index()].as_ref().expect("memory");
    memory.as_slice().as_ptr()
}

#[test]
fn a1_nothing_is_set_in_a_new_pool() {
    let (table, id) = pool();
    let pool = &table.pools[id.index()];
    assert_eq!(pool.live, PoolConfig::default());
    assert_eq!(pool.requested, PoolConfig::default());
    assert_eq!((pool.count, pool.out(), pool.free_count()), (0, 0, 0));
    assert!(!pool.committed && !pool.decommitting);
}

#[test]
fn a2_an_alignment_of_zero_is_refused_before_anything_else() {
    let (mut table, id) = pool();
    for align in [0, MAX_ALIGN + 1, usize::MAX] {
        let bad = Err(PoolUseError::BadAlign { align });
        assert_eq!(table.set_config(id, asked(0, align, 0)), bad);
        assert_eq!(table.configure(id, asked(0, align, 0)), bad);
    }
    let text = PoolUseError::BadAlign { align: 65_537 }.to_string();
    assert_eq!(text, "alignment 65537 is outside of 1..=65536");
    // Also of a committed pool with buffers out.
    let (mut table, id) = committed(1);
    acquire(&mut table, id).expect("free");
    let bad = Err(PoolUseError::BadAlign { align: 0 });
    assert_eq!(table.set_config(id, asked(1, 0, 1)), bad);
    for align in [1, 3, 48, MAX_ALIGN] {
        let (mut table, id) = pool();
        let granted = table.set_config(id, asked(1, align, 1)).expect("heap");
        assert_eq!((granted.align, granted.size), (align, align));
    }
}

#[test]
fn a3_what_is_not_set_is_told_at_the_commit() {
    for (config, what) in [
        (asked(0, 1, 3), "size"),
        (asked(8, 1, 0), "count"),
        (PoolConfig::default(), "size"),
    ] {
        let (mut table, id) = pool();
        if config.align > 0 {
            assert_eq!(table.set_config(id, config), Ok(config));
        }
        let unset = PoolUseError::SizeNotSet { what };
        assert_eq!(table.commit(id), Err(unset.clone()));
        assert_eq!(unset.to_string(), format!("the pool's {what} is not set"));
        assert!(!table.pools[id.index()].committed);
        assert_eq!(acquire(&mut table, id), Err(PoolUseError::NotCommitted));
        // It can be said now.
        table.set_config(id, asked(8, 1, 3)).expect("heap");
        assert_eq!(table.commit(id), Ok(()));
    }
}

#[test]
fn a4_a_second_commit_changes_nothing() {
    let (mut table, id) = committed(2);
    let buffer = acquire(&mut table, id).expect("free");
    let at = address(&table, buffer);
    assert_eq!(table.commit(id), Ok(()));
    assert_eq!(address(&table, buffer), at);
    assert_eq!(table.pools[id.index()].out(), 1);
    assert_eq!(table.pools[id.index()].free_count(), 1);
}

#[test]
fn a5_a_committed_pool_keeps_its_configuration() {
    let (mut table, id) = committed(2);
    let before = table.pools[id.index()].live;
    let refused = Err(PoolUseError::AlreadyCommitted);
    assert_eq!(table.set_config(id, asked(200, 1, 4)), refused);
    assert_eq!(table.configure(id, asked(200, 1, 4)), refused);
    // Being committed is told before a buffer that is out.
    acquire(&mut table, id).expect("free");
    assert_eq!(table.set_config(id, asked(200, 1, 4)), refused);
    assert_eq!(table.pools[id.index()].live, before);
}

#[test]
fn a6_decommit_with_a_sample_out() {
    let (mut table, id) = committed(2);
    let buffer = acquire(&mut table, id).expect("free");
    let memory = table.memory[buffer.index()].as_mut().expect("memory");
    memory.as_mut_slice().fill(9);
    decommit(&mut table, id);
    assert!(table.pools[id.index()].decommitting);
    assert_eq!(acquire(&mut table, id), Err(PoolUseError::NotCommitted));
    let out = PoolUseError::BuffersOutstanding { out: 1, count: 2 };
    assert_eq!(
        out.to_string(),
        "1 of 2 buffers are out; the configuration can change when all are home"
    );
    assert_eq!(table.set_config(id, asked(9, 1, 9)), Err(out.clone()));
    assert_eq!(table.configure(id, asked(9, 1, 9)), Err(out));
    assert!(!table.drop_memory(id));
    assert_eq!(table.bytes(buffer), [9; 100]);
    // A second decommit is as good as one.
    decommit(&mut table, id);
    assert!(table.pools[id.index()].decommitting);
    release(&mut table, buffer);
    assert!(!table.pools[id.index()].decommitting);
    assert_eq!(table.set_config(id, asked(9, 1, 9)), Ok(asked(9, 1, 9)));
    table.commit(id).expect("heap");
    assert_eq!(table.pools[id.index()].free_count(), 9);
}

#[test]
fn a7_commit_before_the_last_sample_is_home_makes_nothing_anew() {
    let (script, seen) = scripted(Script::default());
    let mut table = BufferTable::default();
    let id = table.add_pool(A, script);
    table.set_config(id, asked(100, 1, 2)).expect("script");
    table.start(id, A).expect("script");
    let buffer = acquire(&mut table, id).expect("free");
    let at = address(&table, buffer);
    for stops in [false, true] {
        if stops {
            // What was asked for all runs says no count; the memory is still that of the run.
            table.stop(id, A, |_| {}).expect("started by it");
            assert_eq!(table.pools[id.index()].live, PoolConfig::default());
        } else {
            decommit(&mut table, id);
        }
        assert_eq!(table.start(id, A), Ok(()));
        let pool = &table.pools[id.index()];
        assert!(pool.committed && !pool.decommitting);
        assert_eq!((pool.live, pool.out()), (asked(100, 1, 2), 1));
        assert_eq!(address(&table, buffer), at);
    }
    let second = acquire(&mut table, id).expect("free");
    assert_eq!(
        acquire(&mut table, id),
        Err(PoolUseError::NoneFree { count: 2 })
    );
    release(&mut table, buffer);
    assert_eq!(acquire(&mut table, id), Ok(buffer));
    assert_ne!(second, buffer);
    assert_eq!(seen.calls(), ["set 2", "start 2"]);
}

#[test]
fn a8_who_waits_is_told_of_a_decommit() {
    let (mut table, id) = committed(1);
    let buffer = acquire(&mut table, id).expect("free");
    for lane in [B, A, B] {
        table.wait(id, lane).expect("committed");
    }
    assert_eq!(decommit(&mut table, id), [A, B]);
    assert_eq!(table.acquire(id, B, 8), Err(PoolUseError::NotCommitted));
    assert_eq!(table.wait(id, B), Err(PoolUseError::NotCommitted));
    assert_eq!(release(&mut table, buffer), []);
}

#[test]
fn a9_who_waits_gets_what_comes_home() {
    let (mut table, id) = committed(1);
    let buffer = acquire(&mut table, id).expect("free");
    table.wait(id, B).expect("committed");
    // One of two references: nothing is home yet.
    table.refs[buffer.index()] += 1;
    assert_eq!(release(&mut table, buffer), []);
    assert_eq!(release(&mut table, buffer), [B]);
    assert_eq!(table.acquire(id, B, 9), Ok(buffer));
    assert_eq!(table.refs[buffer.index()], 1);
    let held = table.held[buffer.index()];
    assert_eq!((held.by, held.since), (B, 9));
    // It was told once.
    assert_eq!(release(&mut table, buffer), []);
}

#[test]
fn a10_acquisition_does_not_wait() {
    let (mut table, id) = committed(2);
    assert_eq!(acquire(&mut table, id).map(|b| b.0), Ok(0));
    assert_eq!(acquire(&mut table, id).map(|b| b.0), Ok(1));
    let none = PoolUseError::NoneFree { count: 2 };
    assert_eq!(acquire(&mut table, id), Err(none.clone()));
    assert_eq!(none.to_string(), "none of the pool's 2 buffers is free");
    // Who does not wait is not told: there is no spare wake-up.
    assert_eq!(release(&mut table, BufferId(1)), []);
    assert_eq!(acquire(&mut table, id), Ok(BufferId(1)));
    let missing = PoolId(4);
    assert_eq!(acquire(&mut table, missing), Err(PoolUseError::NoPool));
}

#[test]
fn a11_a_return_resets_all_but_the_length() {
    let (mut table, id) = committed(1);
    let buffer = acquire(&mut table, id).expect("free");
    let at = buffer.index();
    let fresh = BufferMeta {
        len: 100,
        ..BufferMeta::default()
    };
    assert_eq!(table.meta[at], fresh, "never used: valid as a whole");
    let used = BufferMeta {
        pts: Some(5),
        dts: Some(4),
        duration: Some(1),
        time_base: TimeBase::MICROSECONDS,
        index: 3,
        len: 12,
        flags: BufferFlags::KEY | BufferFlags::DISCONTINUITY | BufferFlags::GAP,
        untimed_by: None,
    };
    table.meta[at] = used;
    let memory = table.memory[at].as_mut().expect("memory");
    memory.as_mut_slice().fill(7);
    release(&mut table, buffer);
    assert_eq!(acquire(&mut table, id), Ok(buffer));
    let reset = BufferMeta { len: 12, ..fresh };
    assert_eq!(table.meta[at], reset);
    assert_eq!(table.bytes(buffer), [7; 12], "bytes stay");
    // Over a decommit too, as long as the configuration stays.
    release(&mut table, buffer);
    decommit(&mut table, id);
    table.commit(id).expect("heap");
    assert_eq!(table.meta[at], reset);
    // Memory that is made anew was never used.
    decommit(&mut table, id);
    table.set_config(id, asked(40, 1, 1)).expect("heap");
    table.commit(id).expect("heap");
    assert_eq!(table.meta[at], BufferMeta { len: 40, ..fresh });
    assert_eq!(table.bytes(buffer), [0; 40]);
}

#[test]
fn a12_times_of_a_sample() {
    let mut meta = BufferMeta::default();
    // 1. Nothing is set.
    assert_eq!(meta.span(), Err(SpanError::NotSet));
    assert_eq!(SpanError::NotSet.to_string(), "the buffer has no time");
    // 2. A start only: the stop is one later, and the answer says that nobody said so.
    assert_eq!(meta.set_span(Some(123), None), Ok(()));
    let span = Span {
        start: 123,
        stop: 124,
        has_stop: false,
    };
    assert_eq!(meta.span(), Ok(span));
    // 3. Both, in any order of the two.
    for stop in [456, 123, 100] {
        assert_eq!(meta.set_span(Some(123), Some(stop)), Ok(()));
        let span = Span {
            start: 123,
            stop,
            has_stop: true,
        };
        assert_eq!(meta.span(), Ok(span));
        assert_eq!(meta.duration, Some(stop - 123));
    }
    // 4. No start: cleared, whatever the stop.
    for stop in [None, Some(456)] {
        meta.set_span(Some(1), Some(2)).expect("near");
        assert_eq!(meta.set_span(None, stop), Ok(()));
        assert_eq!(meta.span(), Err(SpanError::NotSet));
        assert_eq!((meta.pts, meta.duration), (None, None));
    }
    let far = SpanError::TooFar {
        start: i64::MIN,
        what: "stop",
        value: i64::MAX,
    };
    assert_eq!(meta.set_span(Some(i64::MIN), Some(i64::MAX)), Err(far));
    assert_eq!(meta, BufferMeta::default());
    meta.set_span(Some(i64::MAX), None).expect("a start");
    let text = meta.span().expect_err("no later").to_string();
    assert_eq!(
        text,
        "start 9223372036854775807 and duration 1 are too far apart for a time of 64 bits"
    );
}

#[test]
fn a13_a_length_beyond_the_buffer() {
    let mut meta = BufferMeta::default();
    for (len, want) in [(0, 0), (65_536, 65_536), (123, 123)] {
        assert_eq!(meta.set_len(len, 65_536), Ok(()));
        assert_eq!(meta.len, want);
    }
    for len in [-1, 65_537, i64::MIN, i64::MAX] {
        let error = LengthError { len, size: 65_536 };
        assert_eq!(meta.set_len(len, 65_536), Err(error));
        assert_eq!(meta.len, 123, "kept");
    }
    let error = meta.set_len(-1, 10).expect_err("negative");
    let text = "length -1 is outside of 0..=10, the size of the buffer";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a14_data_is_aligned_behind_its_prefix() {
    for align in [16, 32, 64] {
        for (prefix, size, rounded) in [(0, 64, 64), (1, 64, align * (64 / align + 1) - 1)] {
            let (mut table, id) = pool();
            let wanted = PoolConfig {
                prefix,
                ..asked(size, align, 3)
            };
            let granted = table.set_config(id, wanted).expect("heap");
            assert_eq!(granted.size, rounded, "{align} {prefix}");
            table.commit(id).expect("heap");
            for _ in 0..3 {
                let buffer = acquire(&mut table, id).expect("free");
                assert_eq!(address(&table, buffer) as usize % align, 0);
                let memory = table.memory[buffer.index()].as_mut().expect("memory");
                assert_eq!((memory.len(), memory.prefix().len()), (rounded, prefix));
                memory.prefix_mut().fill(1);
                assert!(memory.as_slice().iter().all(|b| *b == 0));
                let front = memory.prefix().as_ptr() as usize + prefix;
                assert_eq!(front, memory.as_slice().as_ptr() as usize);
            }
        }
    }
}

#[test]
fn a_buffer_that_nobody_holds_is_not_released() {
    let (mut table, id) = committed(2);
    let buffer = acquire(&mut table, id).expect("free");
    release(&mut table, buffer);
    for buffer in [buffer, BufferId(1), BufferId(77)] {
        let error = PoolUseError::NotOut { buffer };
        assert_eq!(table.release(buffer, |_| {}), Err(error));
    }
    assert_eq!(table.pools[id.index()].free_count(), 2);
}

#[test]
fn memory_of_a_committed_pool_is_not_dropped() {
    let (mut table, id) = committed(2);
    assert!(!table.drop_memory(id));
    assert_eq!(
        acquire(&mut table, id).map(|b| table.bytes(b).len()),
        Ok(100)
    );
}

#[test]
fn fewer_are_left_when_fewer_are_asked_for() {
    let (mut table, id) = committed(4);
    decommit(&mut table, id);
    table.set_config(id, asked(100, 1, 3)).expect("heap");
    assert_eq!(table.pools[id.index()].free_count(), 3);
}

#[test]
fn the_calls_that_a_backing_sees() {
    let (script, seen): (_, Seen) = scripted(Script {
        follow: true,
        ..Script::default()
    });
    let mut table = BufferTable::default();
    let id = table.add_pool(A, script);
    table.configure(id, asked(8, 1, 0)).expect("script");
    table.set_config(id, asked(8, 1, 2)).expect("script");
    table.start(id, A).expect("script");
    let buffer = acquire(&mut table, id).expect("free");
    table.refs[buffer.index()] += 1;
    release(&mut table, buffer);
    release(&mut table, buffer);
    table.stop(id, A, |_| {}).expect("its own");
    table.set_config(id, asked(16, 1, 2)).expect("script");
    table.start(id, A).expect("script");
    table.stop(id, A, |_| {}).expect("its own");
    assert!(table.drop_memory(id) && table.drop_memory(id));
    let want = [
        "configure 0",
        "set 2",
        "start 2",
        "acquire 0",
        "release 0",
        "set 2",
        "stop",
        "start 2",
        "stop",
    ];
    assert_eq!(seen.calls(), want);
}
