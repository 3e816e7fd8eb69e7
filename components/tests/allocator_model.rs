//! Random calls of a pool against a model that is written from the rules of allocators.

mod pool_support;

use pool_support::{Script, asked, scripted};
use proptest::prelude::*;
use tickpipe_components::fabric::BufferTable;
use tickpipe_components::id::{BufferId, LaneId};
use tickpipe_components::pool::{MAX_ALIGN, PoolConfig, PoolUseError, Refused};

const A: LaneId = LaneId(1);
const B: LaneId = LaneId(2);

/// What the rules say a pool is, without buffers' numbers and memory.
#[derive(Clone, Debug, Default)]
struct Model {
    requested: PoolConfig,
    live: PoolConfig,
    allocated: Option<PoolConfig>,
    committed: bool,
    started_by: Option<LaneId>,
    /// Slots that are out.
    out: Vec<u32>,
    waiting: Vec<LaneId>,
}

impl Model {
    fn pending(&self) -> bool {
        !self.committed && !self.out.is_empty()
    }

    fn settable(&self, c: PoolConfig) -> Result<(), PoolUseError> {
        if c.align == 0 || c.align > MAX_ALIGN {
            return Err(PoolUseError::BadAlign { align: c.align });
        }
        if self.committed {
            return Err(PoolUseError::AlreadyCommitted);
        }
        if !self.out.is_empty() {
            return Err(PoolUseError::BuffersOutstanding {
                out: self.out.len() as u32,
                count: self.allocated.map_or(0, |a| a.count),
            });
        }
        Ok(())
    }

    fn set(
        &mut self,
        c: PoolConfig,
        script: Script,
        all_runs: bool,
    ) -> Result<PoolConfig, PoolUseError> {
        self.settable(c)?;
        if script.refuse_above.is_some_and(|most| c.size > most) {
            return Err(Script::refused(c, script).into());
        }
        let mut got = c;
        if !all_runs && let Some(most) = script.clamp {
            got.count = got.count.min(most);
        }
        let bytes = (got.prefix + got.size).next_multiple_of(got.align);
        if got.size > 0 {
            got.size = bytes - got.prefix;
        }
        self.live = got;
        if all_runs {
            self.requested = got;
        }
        Ok(got)
    }

    fn commit(&mut self, script: Script) -> Result<(), PoolUseError> {
        if self.committed {
            return Ok(());
        }
        if self.pending() {
            self.live = self.allocated.unwrap_or_default();
        } else if self.allocated != Some(self.live) {
            let live = self.live;
            let parts = [live.size, live.count as usize, live.align];
            if let Some(at) = parts.iter().position(|p| *p == 0) {
                let what = ["size", "count", "alignment"][at];
                return Err(PoolUseError::SizeNotSet { what });
            }
            self.allocated = None;
            let made = script.makes.map_or(live.count, |m| m.min(live.count));
            if made == 0 {
                let none = "none of its buffers could be made".to_owned();
                return Err(Refused::Memory(none).into());
            }
            self.live.count = made;
            self.allocated = Some(self.live);
        }
        self.committed = true;
        Ok(())
    }

    fn decommit(&mut self) -> Vec<LaneId> {
        self.committed = false;
        core::mem::take(&mut self.waiting)
    }

    fn acquire(&mut self) -> Result<u32, PoolUseError> {
        if !self.committed {
            return Err(PoolUseError::NotCommitted);
        }
        let count = self.live.count;
        let free = (0..count).find(|s| !self.out.contains(s));
        let slot = free.ok_or(PoolUseError::NoneFree { count })?;
        self.out.push(slot);
        Ok(slot)
    }
}

#[derive(Clone, Debug)]
enum Op {
    Configure(PoolConfig),
    SetConfig(PoolConfig),
    Commit,
    Decommit,
    Acquire,
    Release(usize),
    Wait(u32),
    Start(u32),
    Stop(u32),
    Drop,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let config =
        (0usize..40, 0usize..9, 0usize..4, 0u32..5).prop_map(|(size, align, prefix, n)| {
            PoolConfig {
                prefix,
                ..asked(size, align, n)
            }
        });
    let op = prop_oneof![
        2 => config.clone().prop_map(Op::Configure),
        4 => config.prop_map(Op::SetConfig),
        3 => Just(Op::Commit),
        3 => Just(Op::Decommit),
        8 => Just(Op::Acquire),
        8 => (0usize..4).prop_map(Op::Release),
        3 => (0u32..3).prop_map(Op::Wait),
        3 => (0u32..3).prop_map(Op::Start),
        2 => (0u32..3).prop_map(Op::Stop),
        1 => Just(Op::Drop),
    ];
    prop::collection::vec(op, 0..80)
}

fn scripts() -> impl Strategy<Value = Script> {
    let few = || prop::option::of(0u32..4);
    (few(), few(), prop::option::of(0usize..40)).prop_map(|(clamp, makes, refuse_above)| Script {
        clamp,
        makes,
        refuse_above,
        ..Script::default()
    })
}

proptest! {
    #[test]
    fn any_calls_do_what_the_rules_say(ops in ops(), script in scripts()) {
        let (backing, seen) = scripted(Script { follow: true, ..script });
        let mut table = BufferTable::default();
        let id = table.add_pool(A, backing);
        let mut model = Model::default();
        for op in ops {
            let mut woken = Vec::new();
            let mut told = Vec::new();
            match op {
                Op::Configure(c) => {
                    prop_assert_eq!(table.configure(id, c), model.set(c, script, true));
                }
                Op::SetConfig(c) => {
                    prop_assert_eq!(table.set_config(id, c), model.set(c, script, false));
                }
                Op::Commit => prop_assert_eq!(table.commit(id), model.commit(script)),
                Op::Decommit => {
                    prop_assert_eq!(table.decommit(id, |l| woken.push(l)), Ok(()));
                    told = model.decommit();
                }
                Op::Acquire => {
                    let first = table.pools[id.index()].first.0;
                    let got = table.acquire(id, B, 1).map(|b| b.0 - first);
                    prop_assert_eq!(got, model.acquire());
                }
                Op::Release(which) => {
                    let first = table.pools[id.index()].first.0;
                    if which < model.out.len() {
                        let slot = model.out.remove(which);
                        let buffer = BufferId(first + slot);
                        prop_assert_eq!(table.release(buffer, |l| woken.push(l)), Ok(()));
                        told = core::mem::take(&mut model.waiting);
                    }
                }
                Op::Wait(lane) => {
                    let lane = LaneId(lane);
                    let want = if model.committed { Ok(()) } else { Err(PoolUseError::NotCommitted) };
                    if model.committed && !model.waiting.contains(&lane) {
                        model.waiting.push(lane);
                    }
                    prop_assert_eq!(table.wait(id, lane), want);
                }
                Op::Start(lane) => {
                    let want = model.commit(script);
                    if want.is_ok() {
                        model.started_by = model.started_by.or(Some(LaneId(lane)));
                    }
                    prop_assert_eq!(table.start(id, LaneId(lane)), want);
                }
                Op::Stop(lane) => {
                    let by = LaneId(lane);
                    let want = match model.started_by {
                        Some(started_by) if started_by != by => {
                            Err(PoolUseError::NotYours { by, started_by })
                        }
                        _ => {
                            told = model.decommit();
                            model.live = model.requested;
                            model.started_by = None;
                            Ok(())
                        }
                    };
                    prop_assert_eq!(table.stop(id, by, |l| woken.push(l)), want);
                }
                Op::Drop => {
                    let can = !model.committed && model.out.is_empty();
                    prop_assert_eq!(table.drop_memory(id), can);
                    if can {
                        model.allocated = None;
                    }
                }
            }
            told.sort();
            prop_assert_eq!(woken, told);
            let pool = &table.pools[id.index()];
            let state = (pool.requested, pool.live, pool.committed, pool.decommitting);
            let want = (model.requested, model.live, model.committed, model.pending());
            prop_assert_eq!(state, want);
            prop_assert_eq!(pool.started_by, model.started_by);
            prop_assert_eq!(pool.out() as usize, model.out.len());
            prop_assert_eq!(seen.out(), model.out.len());
            if model.committed {
                prop_assert_eq!(pool.free.len() + pool.out(), pool.count);
                prop_assert_eq!(pool.count, model.live.count);
            }
            for slot in &model.out {
                let buffer = BufferId(pool.first.0 + slot);
                let size = model.allocated.map_or(0, |a| a.size);
                prop_assert_eq!(table.memory[buffer.index()].as_ref().map(|m| m.len()), Some(size));
            }
        }
    }
}
