//! A graph with changes made to it, and the search for changes that settle a conflict.

use super::conflict::Change;
use super::eliminate::{Bounds, Joiner};
use super::explain::Teller;
use super::minimal::{Checker, Minimal};
use super::parts::Parts;
use super::problem::Frame;
use super::repair::{Catalogue, Entry, without, works};
use super::solve::Search;
use crate::element::Flow;
use std::rc::Rc;
use tickpipe_components::limits::LimitExceeded;

/// Links of a path that are tried, from its end, for a change.
const MOST_LINKS: usize = 8;

/// A graph in which some things were changed.
#[derive(Clone)]
pub(super) struct Tried {
    pub(super) parts: Parts,
    pub(super) frame: Frame,
    /// Elements that were put in: their node, their number in the catalogue, the link.
    pub(super) inserts: Vec<(usize, usize, usize)>,
    /// Elements that were taken out.
    removed: Vec<usize>,
}

impl Tried {
    pub(super) fn new(parts: Parts) -> Tried {
        let frame = Frame::new(&parts);
        Tried {
            parts,
            frame,
            inserts: Vec::new(),
            removed: Vec::new(),
        }
    }

    pub(super) fn with(&self, parts: Parts) -> Tried {
        Tried {
            inserts: self.inserts.clone(),
            removed: self.removed.clone(),
            ..Tried::new(parts)
        }
    }

    /// The same with an element of the catalogue put into a link.
    fn with_insert(&self, link: usize, feeder: usize, number: usize, entry: &Entry) -> Tried {
        let node = self.parts.rank.len();
        let ways = Rc::clone(&entry.ways);
        let mut tried = self.with(self.parts.with_insert(link, feeder, node, ways));
        tried.inserts.push((node, number, link));
        tried
    }

    pub(super) fn checker<'a>(&'a self, joiner: &'a mut Joiner) -> Checker<'a> {
        Checker {
            parts: &self.parts,
            frame: &self.frame,
            joiner,
        }
    }

    pub(super) fn all(&self) -> Vec<usize> {
        (0..self.parts.parts.len()).collect()
    }
}

impl Teller<'_> {
    /// Changes that settle a conflict, and the graph with them made. Where they settle all there is,
    /// every element accepts what comes of it; `whole` says that nothing was left out before.
    pub(super) fn mend(
        &self,
        tried: &Tried,
        minimal: &Minimal,
        path: &[usize],
        catalogue: &Catalogue,
        search: &Search<'_>,
        whole: bool,
    ) -> Result<Option<(Vec<Change>, Tried)>, LimitExceeded> {
        let mut subset = vec![false; tried.parts.parts.len()];
        let between = minimal.passing.iter().copied();
        let all = minimal.parts().into_iter().chain(between);
        all.for_each(|p| subset[p] = true);
        let accepted = |tried: &Tried| -> Result<bool, LimitExceeded> {
            Ok(!whole || works(search, tried, catalogue)? != Some(false))
        };
        let settles = |tried: &Tried| -> Result<bool, LimitExceeded> {
            let mut joiner = Joiner::new(Bounds::of(search.limits), tried.frame.fields.len());
            let chosen: Vec<usize> = (0..tried.parts.parts.len())
                .filter(|&p| p >= subset.len() || subset[p])
                .collect();
            let left = tried.checker(&mut joiner).dead(&chosen, false)?;
            Ok(left.is_none() && accepted(tried)?)
        };
        let links = self.links(path);
        let insert = |tried: &Tried, link: usize, number: usize| {
            let feeder = self.topology.links[link].from.node;
            tried.with_insert(link, feeder, number, &catalogue.entries[number])
        };
        let change = |link: usize, number: usize| {
            let (from, to) = self.ends(link, &tried.removed);
            Change::Insert {
                class: catalogue.entries[number].class.name.to_owned(),
                from,
                to,
            }
        };
        let numbers = 0..catalogue.entries.len();
        for first in numbers.clone() {
            for &link in &links {
                let mended = insert(tried, link, first);
                if settles(&mended)? {
                    return Ok(Some((vec![change(link, first)], mended)));
                }
            }
        }
        for first in numbers.clone() {
            for second in numbers.clone().filter(|s| *s != first) {
                for &link in &links {
                    // The second one stands before the first.
                    let mended = insert(&insert(tried, link, first), link, second);
                    if settles(&mended)? {
                        let changes = vec![change(link, second), change(link, first)];
                        return Ok(Some((changes, mended)));
                    }
                }
            }
        }
        for member in minimal.demands.iter().rev() {
            let node = tried.parts.parts[member[0]].node;
            let filter = self.topology.nodes.get(node).is_some_and(|n| {
                n.class.terms.flow == Flow::Wire && n.inputs.len() == 1 && n.outputs.len() == 1
            });
            if !filter {
                continue;
            }
            let gone = |p: usize| tried.parts.parts[p].node == node;
            let mut mended = tried.with(without(&tried.parts, gone));
            mended.removed.push(node);
            if accepted(&mended)? {
                let change = Change::Remove {
                    element: self.name(node),
                };
                return Ok(Some((vec![change], mended)));
            }
        }
        Ok(None)
    }

    /// The pads that a link connects once elements are taken out.
    fn ends(&self, link: usize, removed: &[usize]) -> (String, String) {
        let links = &self.topology.links;
        let mut from = links[link].from;
        while let (true, Some(&above)) = (
            removed.contains(&from.node),
            self.topology.nodes[from.node].inputs.first(),
        ) {
            from = links[above].from;
        }
        let mut to = links[link].to;
        while let (true, Some(&below)) = (
            removed.contains(&to.node),
            self.topology.nodes[to.node].outputs.first(),
        ) {
            to = links[below].to;
        }
        let name = |end| self.topology.end_name(self.world, end);
        (name(from), name(to))
    }

    /// Links of a path that are worth trying, the last first.
    fn links(&self, path: &[usize]) -> Vec<usize> {
        let between = |pair: &[usize]| {
            let node = &self.topology.nodes[pair[0]];
            let down = node.outputs.iter().chain(&node.inputs).copied();
            down.into_iter().find(|&l| {
                let link = &self.topology.links[l];
                [link.from.node, link.to.node].contains(&pair[1])
            })
        };
        let mut links: Vec<usize> = match path {
            // A converter whose own sides are one wire another way.
            &[only] => {
                let node = &self.topology.nodes[only];
                node.inputs.iter().chain(&node.outputs).copied().collect()
            }
            path => path.windows(2).filter_map(between).collect(),
        };
        links.reverse();
        if links.len() > MOST_LINKS {
            let first = links.last().copied();
            links.truncate(MOST_LINKS - 1);
            links.extend(first);
        }
        links
    }
}
