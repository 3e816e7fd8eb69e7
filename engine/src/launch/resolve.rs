//! The last step of reading: from names to indices, given names first, then automatic ones; links
//! with a filter become two. Pure.

use std::collections::BTreeMap;

use super::closest;
use super::describe::{
    Description, End, LinkSpec, PadName, Span, Warning, WarningKind, automatic_names,
};
use super::error::{LaunchError, LaunchErrorKind as Kind};
use super::value::short;

/// What a link's end is attached to.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Element(usize),
    Name(String),
    /// Nothing that a link may be attached to: what ends or starts a chain is a reference or a URI.
    Nothing,
}

/// A link whose ends are not resolved yet.
pub(super) struct RawLink {
    pub from: RawEnd,
    pub to: RawEnd,
    pub all: bool,
    pub span: Span,
    pub filter: Option<usize>,
}

pub(super) struct RawEnd {
    pub target: Target,
    pub pad: Option<PadName>,
    pub span: Span,
}

/// Puts names and indices together.
pub(super) fn resolve(mut out: Description, raw: Vec<RawLink>) -> Result<Description, LaunchError> {
    let mut names = Names::new(&out)?;
    for link in raw {
        let from = names.end(&out, link.from)?;
        let to = names.end(&out, link.to)?;
        // Through a filter it is a loop of two, which is for the graph to judge.
        if from.element == to.element && link.filter.is_none() {
            if link.all {
                // It links what can be linked.
                let (kind, span) = (WarningKind::NothingLinked, link.span);
                out.warnings.push(Warning { kind, span });
                continue;
            }
            return Err(LaunchError::new(Kind::LinkToSelf, link.span));
        }
        let (all, span) = (link.all, link.span);
        let mut push = |from, to| {
            let whole = LinkSpec {
                from,
                to,
                all,
                span,
            };
            out.links.push(whole);
        };
        let Some(filter) = link.filter else {
            push(from, to);
            continue;
        };
        let place = out.elements.get(filter).map_or(span, |caps| caps.span);
        let middle = End {
            element: filter,
            pad: None,
            span: place,
        };
        push(from, middle.clone());
        push(middle, to);
    }
    Ok(out)
}

#[derive(Debug, Clone, Copy)]
enum Named {
    Element(usize),
    Bin,
}

/// Who has which name.
struct Names {
    known: BTreeMap<String, Named>,
    /// Automatic names are added when a given one is not found.
    automatic: bool,
}

impl Names {
    /// All given names; an error if one is given twice.
    fn new(description: &Description) -> Result<Self, LaunchError> {
        let elements = description.elements.iter().enumerate();
        let elements = elements
            .map(|(index, element)| (&element.name, element.name_span, Named::Element(index)));
        let bins = description.bins.iter();
        let bins = bins.map(|bin| (&bin.name, bin.name_span, Named::Bin));
        let mut given: Vec<(Span, &str, Named)> = elements
            .chain(bins)
            .filter_map(|(name, span, named)| Some((span?, name.as_deref()?, named)))
            .collect();
        given.sort_by_key(|(span, ..)| *span);
        let mut places: BTreeMap<&str, Span> = BTreeMap::new();
        let mut known = BTreeMap::new();
        for (span, name, named) in given {
            if let Some(first) = places.insert(name, span) {
                let name = short(name);
                let kind = Kind::DuplicateName { name, first };
                return Err(LaunchError::new(kind, span));
            }
            known.insert(name.to_owned(), named);
        }
        Ok(Self {
            known,
            automatic: false,
        })
    }

    /// An end with its element's index.
    fn end(&mut self, description: &Description, raw: RawEnd) -> Result<End, LaunchError> {
        let element = match raw.target {
            Target::Element(index) => index,
            Target::Name(name) => self.find(description, &name, raw.span)?,
            // The parser links no such end.
            Target::Nothing => {
                let kind = Kind::LinkWithoutSource;
                return Err(LaunchError::new(kind, raw.span));
            }
        };
        Ok(End {
            element,
            pad: raw.pad,
            span: raw.span,
        })
    }

    fn find(
        &mut self,
        description: &Description,
        name: &str,
        span: Span,
    ) -> Result<usize, LaunchError> {
        if !self.known.contains_key(name) && !self.automatic {
            self.automatic = true;
            let names = automatic_names(description);
            let elements = names.elements.into_iter().enumerate();
            let elements =
                elements.filter_map(|(index, name)| Some((name?, Named::Element(index))));
            let bins = names.bins.into_iter().flatten();
            self.known
                .extend(elements.chain(bins.map(|name| (name, Named::Bin))));
        }
        match self.known.get(name) {
            Some(Named::Element(index)) => Ok(*index),
            Some(Named::Bin) => {
                let kind = Kind::BinReferenced { name: short(name) };
                Err(LaunchError::new(kind, span))
            }
            None => {
                let elements = self.known.iter();
                let elements = elements.filter(|(_, named)| matches!(named, Named::Element(_)));
                let kind = Kind::UnknownName {
                    name: short(name),
                    suggestion: closest(name, elements.map(|(name, _)| name.as_str()))
                        .map(str::to_owned),
                };
                Err(LaunchError::new(kind, span))
            }
        }
    }
}
