//! Which few of all that is demanded cannot be fulfilled together: forward until nothing is left,
//! back until nothing is left, then QuickXplain (U. Junker, 2004) on what is between.

use super::eliminate::{Joiner, Stop, eliminate};
use super::parts::{Parts, What};
use super::problem::Frame;
use std::collections::BTreeMap;
use tickpipe_components::limits::LimitExceeded;

/// Parts that go together: all that one element demands of one wire is one member.
pub(super) type Member = Vec<usize>;

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
                let mut dead: Vec<usize> = factors
                    .into_iter()
                    .map(|f| problem.factors[f].part)
                    .collect();
                dead.sort_unstable();
                Ok(Some(dead))
            }
        }
    }

    fn fails(&mut self, members: &[&[Member]]) -> Result<bool, LimitExceeded> {
        let parts: Vec<usize> = members
            .iter()
            .flat_map(|m| m.iter().flatten())
            .copied()
            .collect();
        Ok(self.dead(&parts, false)?.is_some())
    }

    /// A minimal set of members that cannot be fulfilled together, out of parts that cannot.
    pub(super) fn minimal(&mut self, dead: Vec<usize>) -> Result<Vec<Member>, LimitExceeded> {
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
        let members = self.members(&parts);
        self.explain(&[], false, &members)
    }

    /// The same with all parts of the members that are touched.
    fn whole(&self, parts: &[usize]) -> Vec<usize> {
        let mut whole: Vec<usize> = parts.to_vec();
        let keys: std::collections::BTreeSet<_> =
            parts.iter().filter_map(|&p| self.key(p)).collect();
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
        for &part in parts {
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

    /// Those of `candidates` that, with `background`, cannot be fulfilled together.
    fn explain(
        &mut self,
        background: &[&[Member]],
        grew: bool,
        candidates: &[Member],
    ) -> Result<Vec<Member>, LimitExceeded> {
        if grew && self.fails(background)? {
            return Ok(Vec::new());
        }
        if candidates.len() <= 1 {
            return Ok(candidates.to_vec());
        }
        let (first, second) = candidates.split_at(candidates.len() / 2);
        let mut with_first = background.to_vec();
        with_first.push(first);
        let found = self.explain(&with_first, !first.is_empty(), second)?;
        let mut with_found = background.to_vec();
        with_found.push(&found);
        let mut more = self.explain(&with_found, !found.is_empty(), first)?;
        more.extend(found.iter().cloned());
        Ok(more)
    }
}
