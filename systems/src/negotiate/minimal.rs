//! Which few of all that is demanded cannot be fulfilled together: forward until nothing is left,
//! back until nothing is left, then QuickXplain (U. Junker, 2004) on what is between.

use super::eliminate::{Joiner, Stop, eliminate};
use super::parts::{Parts, What};
use super::problem::Frame;
use super::rows::{Changed, Way};
use std::collections::{BTreeMap, BTreeSet};
use tickpipe_components::limits::LimitExceeded;

/// Parts that go together: all that one element demands of one wire is one member.
pub(super) type Member = Vec<usize>;

/// A minimal set of demands that cannot be fulfilled together.
pub(super) struct Minimal {
    /// The demands. Without any of them the others can be fulfilled.
    pub(super) demands: Vec<Member>,
    /// Converters that are a cause by what they take and make, not only by passing things on.
    pub(super) parties: Vec<usize>,
    /// The other converters between: what they take and make can be left out of it.
    pub(super) passing: Vec<usize>,
}

impl Minimal {
    /// All demands and parties.
    pub(super) fn parts(&self) -> Vec<usize> {
        let demands = self.demands.iter().flatten();
        demands.chain(&self.parties).copied().collect()
    }
}

/// Answers whether some parts can be fulfilled together.
pub(super) struct Checker<'a> {
    pub(super) parts: &'a Parts,
    pub(super) frame: &'a Frame,
    pub(super) joiner: &'a mut Joiner,
}

impl Checker<'_> {
    /// `None` if they can; else those of them that were looked at until nothing was left.
    pub(super) fn dead(
        &mut self,
        parts: &[usize],
        backwards: bool,
    ) -> Result<Option<Vec<usize>>, LimitExceeded> {
        let mut taken = vec![false; self.parts.parts.len()];
        parts.iter().for_each(|&p| taken[p] = true);
        let problem = self.frame.problem(self.parts, self.joiner, |p| taken[p])?;
        match eliminate(self.joiner, problem.relations(), problem.wires(), backwards) {
            Ok(_) => Ok(None),
            Err(Stop::Limit(limit)) => Err(limit),
            Err(Stop::Dead(factors)) => {
                let factors = factors.into_iter();
                let mut dead: Vec<usize> = factors.map(|f| problem.factors[f].part).collect();
                dead.sort_unstable();
                Ok(Some(dead))
            }
        }
    }

    /// A minimal set out of parts that cannot be fulfilled.
    pub(super) fn minimal(&mut self, dead: Vec<usize>) -> Result<Minimal, LimitExceeded> {
        let mut parts = dead;
        for backwards in [true, false, true] {
            match self.dead(&self.whole(&parts), backwards)? {
                Some(fewer) => {
                    let fewer = self.whole(&fewer);
                    if fewer.len() >= parts.len() {
                        break;
                    }
                    parts = fewer;
                }
                None => break,
            }
        }
        let mut ways: Vec<usize> = parts.iter().copied().filter(|&p| self.is_way(p)).collect();
        ways.sort_by_key(|&p| (self.parts.rank[self.parts.parts[p].node], p));
        let demands = self.members(&parts);
        let demands = self.few(&demands, &mut |checker, demands| {
            let all: Vec<usize> = demands.iter().flatten().chain(&ways).copied().collect();
            Ok(checker.dead(&all, false)?.is_some())
        })?;
        // Of the converters only those are a cause that the rest cannot do without.
        let bare = bare(self.parts, &ways);
        let fixed: Vec<usize> = demands.iter().flatten().copied().collect();
        let each: Vec<Member> = ways.iter().map(|&w| vec![w]).collect();
        let parties = self.few(&each, &mut |checker, kept| {
            let mut parts = bare.clone();
            for &way in kept.iter().flatten() {
                parts.parts[way] = checker.parts.parts[way].clone();
            }
            let mut checker = Checker {
                parts: &parts,
                frame: checker.frame,
                joiner: &mut *checker.joiner,
            };
            let all: Vec<usize> = fixed.iter().chain(&ways).copied().collect();
            Ok(checker.dead(&all, false)?.is_some())
        })?;
        let mut parties: Vec<usize> = parties.into_iter().flatten().collect();
        if demands.is_empty() && parties.is_empty() {
            // A converter that has no way at all, or none between wires that are one.
            parties.extend(
                ways.iter()
                    .copied()
                    .find(|&w| self.leads_nowhere(w))
                    .or(ways.first().copied()),
            );
        }
        let passing = ways.into_iter().filter(|w| !parties.contains(w)).collect();
        Ok(Minimal {
            demands,
            parties,
            passing,
        })
    }

    fn leads_nowhere(&self, part: usize) -> bool {
        matches!(&self.parts.parts[part].what, What::Ways { ways, .. } if ways.is_empty())
    }

    fn is_way(&self, part: usize) -> bool {
        matches!(self.parts.parts[part].what, What::Ways { .. })
    }

    /// The same with all parts of the members that are touched.
    fn whole(&self, parts: &[usize]) -> Vec<usize> {
        let mut whole: Vec<usize> = parts.to_vec();
        let keys: BTreeSet<_> = parts.iter().filter_map(|&p| self.key(p)).collect();
        let all = (0..self.parts.parts.len()).filter(|&p| self.parts.is_member(p));
        whole.extend(all.filter(|&p| self.key(p).is_some_and(|k| keys.contains(&k))));
        whole.sort_unstable();
        whole.dedup();
        whole
    }

    /// What of an element goes together: its demands on one wire.
    fn key(&self, part: usize) -> Option<(usize, u32)> {
        let p = self.parts.parts.get(part)?;
        match &p.what {
            What::Demand { link, .. } => Some((p.node, self.frame.wire_of[*link])),
            _ => None,
        }
    }

    fn members(&self, parts: &[usize]) -> Vec<Member> {
        let mut members: BTreeMap<(usize, usize, u32), Member> = BTreeMap::new();
        for &part in parts.iter().filter(|&&p| !self.is_way(p)) {
            let Some(p) = self.parts.parts.get(part) else {
                continue;
            };
            let rank = self.parts.rank[p.node];
            let key = match self.key(part) {
                Some((_, wire)) => (rank, 0, wire),
                None => (rank, part + 1, 0),
            };
            members.entry(key).or_default().push(part);
        }
        members.into_values().collect()
    }

    /// A minimal choice of candidates for which `fails` still answers true; all of them do fail.
    fn few(
        &mut self,
        candidates: &[Member],
        fails: &mut Fails<'_>,
    ) -> Result<Vec<Member>, LimitExceeded> {
        if fails(self, &[])? {
            return Ok(Vec::new());
        }
        self.explain(&[], false, candidates, fails)
    }

    fn explain(
        &mut self,
        background: &[Member],
        grew: bool,
        candidates: &[Member],
        fails: &mut Fails<'_>,
    ) -> Result<Vec<Member>, LimitExceeded> {
        if grew && fails(self, background)? {
            return Ok(Vec::new());
        }
        if candidates.len() <= 1 {
            return Ok(candidates.to_vec());
        }
        let (first, second) = candidates.split_at(candidates.len() / 2);
        let with_first = [background, first].concat();
        let found = self.explain(&with_first, true, second, fails)?;
        let with_found = [background, &found[..]].concat();
        let mut more = self.explain(&with_found, !found.is_empty(), first, fails)?;
        more.extend(found);
        Ok(more)
    }
}

/// Whether what is fixed and some members cannot be fulfilled together.
type Fails<'a> = dyn FnMut(&mut Checker<'_>, &[Member]) -> Result<bool, LimitExceeded> + 'a;

/// The parts with converters that say nothing of what they take and make, only what they tie.
fn bare(parts: &Parts, ways: &[usize]) -> Parts {
    let mut bare = parts.clone();
    let mut changed = Changed::default();
    for &at in ways {
        if let What::Ways { ways, .. } = &mut bare.parts[at].what {
            *ways = changed.of(ways, |all| all.iter().map(Way::bare).collect());
        }
    }
    bare
}
