//! mpipe's rules of pools: two configurations, the owner's check, who starts and stops, merging.

mod pool_support;

use pool_support::{Script, asked, pool, scripted};
use proptest::prelude::*;
use tickpipe_components::fabric::BufferTable;
use tickpipe_components::id::{LaneId, PoolId};
use tickpipe_components::pool::{PoolConfig, PoolUseError, Refused};

const A: LaneId = LaneId(1);
const B: LaneId = LaneId(2);

fn with(script: Script) -> (BufferTable, PoolId) {
    let mut table = BufferTable::default();
    let id = table.add_pool(A, scripted(script).0);
    (table, id)
}

fn both(table: &BufferTable, id: PoolId) -> (PoolConfig, PoolConfig) {
    let pool = &table.pools[id.index()];
    (pool.requested, pool.live)
}

#[test]
fn what_is_asked_for_all_runs_is_what_holds_first() {
    let (mut table, id) = pool();
    table.configure(id, asked(10, 4, 2)).expect("heap");
    let rounded = asked(12, 4, 2);
    assert_eq!(both(&table, id), (rounded, rounded));
    table.set_config(id, asked(20, 4, 3)).expect("heap");
    assert_eq!(both(&table, id), (rounded, asked(20, 4, 3)));
}

#[test]
fn a_started_pool_is_busy() {
    let (mut table, id) = pool();
    table.configure(id, asked(8, 1, 2)).expect("heap");
    table.start(id, A).expect("heap");
    let busy = Err(PoolUseError::AlreadyCommitted);
    assert_eq!(table.configure(id, asked(9, 1, 2)), busy);
    assert_eq!(table.set_config(id, asked(9, 1, 2)), busy);
    assert_eq!(both(&table, id), (asked(8, 1, 2), asked(8, 1, 2)));
}

#[test]
fn the_owner_may_grant_other_values() {
    let (mut table, id) = with(Script {
        clamp: Some(3),
        ..Script::default()
    });
    assert_eq!(table.configure(id, asked(8, 1, 5)), Ok(asked(8, 1, 5)));
    assert_eq!(table.set_config(id, asked(8, 1, 5)), Ok(asked(8, 1, 3)));
    assert_eq!(both(&table, id), (asked(8, 1, 5), asked(8, 1, 3)));
}

#[test]
fn a_refusal_leaves_what_was() {
    let (mut table, id) = with(Script {
        refuse_above: Some(16),
        ..Script::default()
    });
    table.configure(id, asked(8, 1, 1)).expect("small");
    table.set_config(id, asked(16, 1, 2)).expect("small");
    let before = both(&table, id);
    let refused = Err(PoolUseError::from(Refused::Value {
        what: "size",
        value: 17,
        min: 0,
        max: 16,
    }));
    assert_eq!(table.configure(id, asked(17, 1, 4)), refused);
    assert_eq!(table.set_config(id, asked(17, 1, 4)), refused);
    let text = refused.map_err(|e| e.to_string());
    assert_eq!(text, Err("size 17 is outside of 0..=16".to_owned()));
    assert_eq!(both(&table, id), before);
    assert_eq!(table.start(id, A), Ok(()));
    assert_eq!(table.pools[id.index()].count, 2);
}

#[test]
fn a_stop_goes_back_to_what_was_asked_in_every_run() {
    let (mut table, id) = pool();
    table.configure(id, asked(8, 1, 1)).expect("heap");
    for run in 2..5 {
        table.set_config(id, asked(8, 1, run)).expect("heap");
        table.start(id, A).expect("heap");
        assert_eq!(table.pools[id.index()].count, run);
        assert_eq!(table.stop(id, A, |_| {}), Ok(()));
        assert_eq!(both(&table, id), (asked(8, 1, 1), asked(8, 1, 1)));
    }
}

#[test]
fn a_stop_goes_back_also_of_a_pool_that_never_started() {
    let (mut table, id) = pool();
    table.configure(id, asked(8, 1, 1)).expect("heap");
    table.set_config(id, asked(9, 1, 9)).expect("heap");
    assert_eq!(table.stop(id, B, |_| {}), Ok(()));
    assert_eq!(both(&table, id), (asked(8, 1, 1), asked(8, 1, 1)));
    assert!(!table.pools[id.index()].committed);
}

#[test]
fn who_starts_stops() {
    let (mut table, id) = pool();
    table.configure(id, asked(8, 1, 1)).expect("heap");
    table.start(id, A).expect("heap");
    assert_eq!(table.start(id, B), Ok(()), "started already");
    let not_yours = PoolUseError::NotYours {
        by: B,
        started_by: A,
    };
    assert_eq!(table.stop(id, B, |_| {}), Err(not_yours.clone()));
    assert_eq!(
        not_yours.to_string(),
        "element 1 started the pool, and 2 cannot stop it"
    );
    assert!(table.pools[id.index()].committed);
    assert_eq!(table.stop(id, A, |_| {}), Ok(()));
    assert_eq!(table.stop(id, A, |_| {}), Ok(()), "stopped already");
    // The next run may be another's.
    table.start(id, B).expect("heap");
    assert_eq!(table.stop(id, B, |_| {}), Ok(()));
}

#[test]
fn a_start_that_fails_starts_nothing() {
    let (mut table, id) = with(Script {
        makes: Some(0),
        ..Script::default()
    });
    table.configure(id, asked(8, 1, 1)).expect("script");
    let error = table.start(id, A).expect_err("no memory");
    assert_eq!(error.to_string(), "none of its buffers could be made");
    let pool = &table.pools[id.index()];
    assert_eq!(
        (pool.committed, pool.started_by, pool.count),
        (false, None, 0)
    );
    assert_eq!(table.stop(id, B, |_| {}), Ok(()), "it is nobody's");
}

#[test]
fn an_owner_that_makes_other_buffers_than_it_granted() {
    let made = |script| {
        let (mut table, id) = with(script);
        table.configure(id, asked(8, 1, 4)).expect("script");
        let started = table.start(id, A).map_err(|e| e.to_string());
        let pool = &table.pools[id.index()];
        (started, pool.count, pool.live.count, table.len())
    };
    let fewer = Script {
        makes: Some(3),
        ..Script::default()
    };
    assert_eq!(made(fewer), (Ok(()), 3, 3, 3));
    let more = Script {
        beyond: 2,
        ..Script::default()
    };
    assert_eq!(made(more), (Ok(()), 4, 4, 4));
    let short = Script {
        short: 1,
        ..Script::default()
    };
    let text = "bytes of a buffer that was made 7 is outside of 8..=2305843009213693951";
    assert_eq!(made(short), (Err(text.to_owned()), 0, 4, 0));
}

#[test]
fn buffers_are_exported_where_they_can_be() {
    let (table, id) = with(Script {
        exports: true,
        ..Script::default()
    });
    assert!(table.pools[id.index()].backing().export(0).is_ok());
    let refused = table.pools[id.index()].backing().export(1).map(|_| ());
    let text = refused.map_err(|e| e.to_string());
    assert_eq!(text, Err("scripted memory cannot be exported".to_owned()));
    let (table, id) = pool();
    let refused = table.pools[id.index()].backing().export(0).map(|_| ());
    let text = refused.map_err(|e| e.to_string());
    assert_eq!(text, Err("heap memory cannot be exported".to_owned()));
}

#[test]
fn sizes_that_no_memory_has_are_refused() {
    let (mut table, id) = pool();
    let wanted = PoolConfig {
        prefix: usize::MAX,
        ..asked(1, 1, 1)
    };
    for wanted in [wanted, asked(usize::MAX / 4, 1, 1)] {
        let error = table.set_config(id, wanted).expect_err("too much");
        let PoolUseError::Refused(refused) = error else {
            panic!("{error}");
        };
        assert!(matches!(*refused, Refused::Value { .. }), "{refused}");
    }
    assert_eq!(both(&table, id), Default::default());
}

fn configs() -> impl Strategy<Value = PoolConfig> {
    let align = || {
        prop_oneof![
            4 => 0usize..100,
            1 => any::<usize>(),
            1 => Just(usize::MAX),
        ]
    };
    (
        0usize..9,
        align(),
        0usize..9,
        align(),
        0u32..9,
        0u32..9,
        0u32..9,
    )
        .prop_map(
            |(size, align, prefix, stride_align, min, max, count)| PoolConfig {
                size,
                align,
                prefix,
                stride_align,
                min,
                max,
                count,
            },
        )
}

/// The least common multiple by counting, where 0 is none.
fn multiple(a: usize, b: usize) -> usize {
    match (a, b) {
        (0, n) | (n, 0) => n,
        (a, b) => (1..=b)
            .map(|k| a * k)
            .find(|m| m % b == 0)
            .expect("a * b is one"),
    }
}

proptest! {
    #[test]
    fn merging_has_no_order(a in configs(), b in configs(), c in configs()) {
        prop_assert_eq!(a.merge(b), b.merge(a));
        prop_assert_eq!(a.merge(b).merge(c), a.merge(b.merge(c)));
        prop_assert_eq!(a.merge(a), a);
        prop_assert_eq!(a.merge(PoolConfig::default()), a);
    }

    #[test]
    fn what_is_merged_satisfies_both(a in configs(), b in configs()) {
        let m = a.merge(b);
        prop_assert_eq!(m.size, a.size.max(b.size));
        prop_assert_eq!(m.prefix, a.prefix.max(b.prefix));
        prop_assert_eq!((m.min, m.count), (a.min.max(b.min), a.count.max(b.count)));
        for one in [a, b] {
            prop_assert!(one.max == 0 || (m.max > 0 && m.max <= one.max));
        }
        prop_assert_eq!(m.max == 0, a.max == 0 && b.max == 0);
        if a.align < 100 && b.align < 100 {
            prop_assert_eq!(m.align, multiple(a.align, b.align));
        } else if m.align != usize::MAX {
            prop_assert!(m.align.is_multiple_of(a.align.max(1)) && m.align.is_multiple_of(b.align.max(1)));
        }
    }
}

#[test]
fn an_alignment_that_no_number_says_is_refused_by_every_pool() {
    let merged = asked(8, usize::MAX - 1, 1).merge(asked(8, usize::MAX - 2, 1));
    let (mut table, id) = pool();
    let align = usize::MAX;
    let refused = PoolUseError::BadAlign { align };
    assert_eq!(table.configure(id, merged), Err(refused));
    assert_eq!(both(&table, id), Default::default());
}
