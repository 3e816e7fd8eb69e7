//! Marks to a description. One loop and a stack of open bins, no recursion; references are resolved
//! at the end, so a name may be used before it is given.

use super::describe::{
    BinSpec, Description, ElementSpec, PadName, PropertySpec, Span, Warning, WarningKind,
};
use super::error::{LaunchError, LaunchErrorKind as Kind};
use super::lex::{Mark, Token, next};
use super::resolve::{RawEnd, RawLink, Target, resolve};
use super::value::{caps_text, file_path, is_broken_text, short, unescape, value};
use super::{MAX_DEPTH, MAX_ELEMENTS, MAX_TEXT_BYTES};

/// An end of a chain, with the pads named there.
#[derive(Debug, Clone)]
struct Point {
    target: Target,
    pads: Vec<PadName>,
    span: Span,
}

impl Point {
    fn nothing(span: Span) -> Self {
        Self {
            target: Target::Nothing,
            pads: Vec::new(),
            span,
        }
    }
}

/// A link's mark, waiting for what it leads to.
#[derive(Debug)]
struct Pending {
    all: bool,
    span: Span,
    /// The element made for inline caps.
    filter: Option<usize>,
    pads: Vec<PadName>,
}

/// What ended a chain, for a better message if a link follows.
enum EndedBy {
    Reference(String),
    Uri,
}

/// The pipeline or a bin that is being read.
struct Frame {
    bin: Option<usize>,
    /// Start of the first chain.
    first: Option<Point>,
    /// Start of the chain being read, and its end so far.
    chain: Option<(Point, Point)>,
    /// End of the last finished chain.
    last: Option<Point>,
    ended_by: Option<EndedBy>,
    pending: Option<Pending>,
}

impl Frame {
    fn new(bin: Option<usize>) -> Self {
        Self {
            bin,
            first: None,
            chain: None,
            last: None,
            ended_by: None,
            pending: None,
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    place: usize,
    out: Description,
    links: Vec<RawLink>,
    frames: Vec<Frame>,
    frame: Frame,
}

/// Reads a launch text.
///
/// # Errors
///
/// The first thing that is wrong, with its place: the syntax, an unknown or repeated name, or one
/// of the limits [`MAX_TEXT_BYTES`], [`MAX_ELEMENTS`], [`MAX_DEPTH`].
pub fn parse(text: &str) -> Result<Description, LaunchError> {
    if text.len() > MAX_TEXT_BYTES {
        let kind = Kind::TooLong {
            bytes: text.len(),
            max: MAX_TEXT_BYTES,
        };
        return Err(LaunchError::new(kind, Span::new(0, 0)));
    }
    let mut parser = Parser {
        text,
        place: 0,
        out: Description::default(),
        links: Vec::new(),
        frames: Vec::new(),
        frame: Frame::new(None),
    };
    while let Some(token) = parser.peek()? {
        parser.place = token.span.end;
        parser.step(token)?;
    }
    parser.finish()
}

impl Parser<'_> {
    fn peek(&self) -> Result<Option<Token>, LaunchError> {
        next(self.text, self.place)
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or("")
    }

    fn step(&mut self, token: Token) -> Result<(), LaunchError> {
        let span = token.span;
        let fail = |kind| Err(LaunchError::new(kind, span));
        match token.mark {
            Mark::Word => {
                let element = self.element(span)?;
                let point = Point {
                    target: Target::Element(element),
                    pads: Vec::new(),
                    span,
                };
                self.attach(point.clone(), point)
            }
            Mark::Open => self.open(span, "bin".to_owned(), span),
            Mark::OpenNamed(name) => self.open(span, self.slice(name).to_owned(), name),
            Mark::Close => self.close(span),
            Mark::Link { all, caps } => self.link(span, all, caps),
            Mark::Reference { name, pad } => self.reference(span, name, pad),
            Mark::Uri => self.uri(span),
            Mark::Assign { key, .. } => {
                self.dangling()?;
                fail(Kind::PropertyWithoutElement {
                    key: short(self.slice(key)),
                })
            }
            Mark::Pad(pad) => {
                self.dangling()?;
                fail(Kind::PadWithoutElement {
                    pad: short(self.slice(pad)),
                })
            }
            Mark::Comma => {
                self.dangling()?;
                fail(Kind::Unexpected(",".to_owned()))
            }
        }
    }

    /// An error if a link's mark waits for what it leads to.
    fn dangling(&self) -> Result<(), LaunchError> {
        match &self.frame.pending {
            Some(pending) => Err(LaunchError::new(Kind::LinkWithoutSink, pending.span)),
            None => Ok(()),
        }
    }

    fn count(&self, span: Span) -> Result<(), LaunchError> {
        if self.out.elements.len() + self.out.bins.len() >= MAX_ELEMENTS {
            return Err(LaunchError::new(
                Kind::TooManyElements { max: MAX_ELEMENTS },
                span,
            ));
        }
        Ok(())
    }

    fn element(&mut self, factory_span: Span) -> Result<usize, LaunchError> {
        self.count(factory_span)?;
        let (given, properties, end) = self.properties()?;
        let (name, name_span) = given.unzip();
        self.out.elements.push(ElementSpec {
            factory: self.slice(factory_span).to_owned(),
            factory_span,
            name,
            name_span,
            properties,
            span: Span::new(factory_span.start, end.unwrap_or(factory_span.end)),
            bin: self.frame.bin,
        });
        Ok(self.out.elements.len() - 1)
    }

    /// All `key=value` from here on: the name, the rest, and where the last one ends.
    #[expect(clippy::type_complexity, reason = "used by its two callers only")]
    fn properties(
        &mut self,
    ) -> Result<(Option<(String, Span)>, Vec<PropertySpec>, Option<usize>), LaunchError> {
        let (mut name, mut properties, mut end) = (None, Vec::new(), None);
        while let Some(Token {
            mark: Mark::Assign { key, value: raw },
            span,
        }) = self.peek()?
        {
            self.place = span.end;
            end = Some(span.end);
            let (text, open) = value(self.slice(raw));
            let key_text = self.slice(key).to_owned();
            self.odd_value(&key_text, raw, open);
            if key_text != "name" {
                properties.push(PropertySpec {
                    key: key_text,
                    value: text,
                    key_span: key,
                    value_span: raw,
                });
            } else if is_broken_text(self.slice(raw)) {
                return Err(LaunchError::new(Kind::BrokenName, span));
            } else if text.is_empty() {
                return Err(LaunchError::new(Kind::EmptyName, span));
            } else if name.is_none() {
                name = Some((text, raw));
            } else {
                let kind = WarningKind::SecondName { name: text };
                self.out.warnings.push(Warning { kind, span: raw });
            }
        }
        Ok((name, properties, end))
    }

    fn odd_value(&mut self, key: &str, raw: Span, open: bool) {
        let written = self.slice(raw);
        let key = key.to_owned();
        let warning = if open {
            Some((WarningKind::StrayQuote { key }, raw))
        } else if written.starts_with(['"', '\'']) {
            None
        } else {
            written.find('!').map(|bang| {
                let place = raw.start + bang;
                (
                    WarningKind::BangInValue { key },
                    Span::new(place, place + 1),
                )
            })
        };
        if let Some((kind, span)) = warning {
            self.out.warnings.push(Warning { kind, span });
        }
    }

    /// `.pad` and further names after commas, if they stand here.
    fn pads(&mut self) -> Result<Vec<PadName>, LaunchError> {
        let mut pads = Vec::new();
        if let Some(Token {
            mark: Mark::Pad(name),
            span,
        }) = self.peek()?
        {
            self.place = span.end;
            pads.push(self.pad(name));
            self.more_pads(&mut pads)?;
        }
        Ok(pads)
    }

    fn more_pads(&mut self, pads: &mut Vec<PadName>) -> Result<(), LaunchError> {
        while let Some(Token {
            mark: Mark::Comma,
            span: comma,
        }) = self.peek()?
        {
            self.place = comma.end;
            match self.peek()? {
                Some(Token {
                    mark: Mark::Word,
                    span,
                }) => {
                    self.place = span.end;
                    pads.push(self.pad(span));
                }
                _ => return Err(LaunchError::new(Kind::MissingPad, comma)),
            }
        }
        Ok(())
    }

    fn pad(&self, span: Span) -> PadName {
        PadName {
            name: self.slice(span).to_owned(),
            span,
        }
    }

    /// An element or a whole bin, from `first` to `last`, is the next member of the chain, or
    /// starts a new one.
    fn attach(&mut self, first: Point, mut last: Point) -> Result<(), LaunchError> {
        let start = match self.frame.pending.take() {
            Some(pending) => self.join(pending, first)?,
            None => {
                self.end_chain()?;
                first
            }
        };
        last.pads.extend(self.pads()?);
        self.frame.ended_by = None;
        self.frame.chain = Some((start, last));
        Ok(())
    }

    /// Links the chain to `to` and takes it; returns the chain's start.
    fn join(&mut self, pending: Pending, to: Point) -> Result<Point, LaunchError> {
        let fail = |kind| Err(LaunchError::new(kind, pending.span));
        let Some((start, from)) = self.frame.chain.take() else {
            return fail(Kind::LinkWithoutSource);
        };
        if matches!(from.target, Target::Nothing) {
            return fail(Kind::BinWithoutSource);
        }
        if matches!(to.target, Target::Nothing) {
            return fail(Kind::BinWithoutSink);
        }
        let mut to_pads = pending.pads;
        to_pads.extend(to.pads);
        let (sources, sinks) = (from.pads.len(), to_pads.len());
        let pairs = if sources == 0 || sinks == 0 {
            for pad in from.pads.iter().chain(&to_pads).skip(1) {
                let pad_name = pad.name.clone();
                self.out.warnings.push(Warning {
                    kind: WarningKind::PadNotLinked { pad: pad_name },
                    span: pad.span,
                });
            }
            1
        } else if sources == sinks {
            sources
        } else {
            return fail(Kind::PadCount {
                from: sources,
                to: sinks,
            });
        };
        let mut source_pads = from.pads.into_iter();
        let mut sink_pads = to_pads.into_iter();
        for pair in 0..pairs {
            // One filter is there already; every further pair of pads needs its own.
            let filter = match pending.filter {
                Some(filter) if pair > 0 => self.copy_filter(filter)?,
                filter => filter,
            };
            self.links.push(RawLink {
                from: RawEnd {
                    target: from.target.clone(),
                    pad: source_pads.next(),
                    span: from.span,
                },
                to: RawEnd {
                    target: to.target.clone(),
                    pad: sink_pads.next(),
                    span: to.span,
                },
                all: pending.all,
                span: pending.span,
                filter,
            });
        }
        Ok(start)
    }

    fn copy_filter(&mut self, filter: usize) -> Result<Option<usize>, LaunchError> {
        let Some(copy) = self.out.elements.get(filter).cloned() else {
            return Ok(None);
        };
        self.count(copy.span)?;
        self.out.elements.push(copy);
        Ok(Some(self.out.elements.len() - 1))
    }

    /// The chain goes no further: what is open at its end was meant to be linked.
    fn end_chain(&mut self) -> Result<(), LaunchError> {
        let Some((start, last)) = self.frame.chain.take() else {
            return Ok(());
        };
        if let Target::Name(name) = &last.target {
            let kind = Kind::LooseReference { name: short(name) };
            return Err(LaunchError::new(kind, last.span));
        }
        if let Some(pad) = last.pads.first() {
            let kind = Kind::LoosePad {
                pad: short(&pad.name),
            };
            return Err(LaunchError::new(kind, pad.span));
        }
        self.frame.first.get_or_insert(start);
        self.frame.last = Some(last);
        Ok(())
    }

    /// The chain ends with a link to a reference or a URI.
    fn end_by(&mut self, start: Point, span: Span, by: EndedBy) {
        self.frame.first.get_or_insert(start);
        self.frame.last = Some(Point::nothing(span));
        self.frame.ended_by = Some(by);
    }

    fn link(&mut self, span: Span, all: bool, caps: Option<Span>) -> Result<(), LaunchError> {
        self.dangling()?;
        if self.frame.chain.is_none() {
            let kind = match self.frame.ended_by.take() {
                Some(EndedBy::Reference(name)) => Kind::LinkAfterReference { name: short(&name) },
                Some(EndedBy::Uri) => Kind::LinkAfterUri,
                None => Kind::LinkWithoutSource,
            };
            let mark = Span::new(span.start, span.start + 1);
            return Err(LaunchError::new(kind, mark));
        }
        let filter = match caps {
            Some(caps) => Some(self.filter(caps)?),
            None => None,
        };
        let pads = self.pads()?;
        self.frame.pending = Some(Pending {
            all,
            span,
            filter,
            pads,
        });
        Ok(())
    }

    fn filter(&mut self, caps: Span) -> Result<usize, LaunchError> {
        let property = PropertySpec {
            key: "caps".to_owned(),
            value: caps_text(self.slice(caps)),
            key_span: caps,
            value_span: caps,
        };
        self.made("capsfilter", caps, property)
    }

    /// An element that is not written as one.
    fn made(
        &mut self,
        factory: &str,
        span: Span,
        property: PropertySpec,
    ) -> Result<usize, LaunchError> {
        self.count(span)?;
        self.out.elements.push(ElementSpec {
            factory: factory.to_owned(),
            factory_span: span,
            name: None,
            name_span: None,
            properties: vec![property],
            span,
            bin: self.frame.bin,
        });
        Ok(self.out.elements.len() - 1)
    }

    fn reference(&mut self, span: Span, name: Span, pad: Option<Span>) -> Result<(), LaunchError> {
        let mut pads: Vec<PadName> = pad.map(|pad| self.pad(pad)).into_iter().collect();
        self.more_pads(&mut pads)?;
        let name = self.slice(name).to_owned();
        let target = Target::Name(name.clone());
        let point = Point { target, pads, span };
        if let Some(pending) = self.frame.pending.take() {
            no_pads(&pending)?;
            let start = self.join(pending, point)?;
            self.end_by(start, span, EndedBy::Reference(name));
        } else {
            self.end_chain()?;
            self.frame.chain = Some((Point::nothing(span), point));
        }
        Ok(())
    }

    fn uri(&mut self, span: Span) -> Result<(), LaunchError> {
        let raw = unescape(self.slice(span));
        let Some(location) = file_path(&raw) else {
            let kind = Kind::UnsupportedUri { uri: short(&raw) };
            return Err(LaunchError::new(kind, span));
        };
        let property = PropertySpec {
            key: "location".to_owned(),
            value: location,
            key_span: span,
            value_span: span,
        };
        let point = |element| Point {
            target: Target::Element(element),
            pads: Vec::new(),
            span,
        };
        if let Some(pending) = self.frame.pending.take() {
            no_pads(&pending)?;
            let element = self.made("filesink", span, property)?;
            let start = self.join(pending, point(element))?;
            self.end_by(start, span, EndedBy::Uri);
        } else {
            self.end_chain()?;
            let element = self.made("filesrc", span, property)?;
            self.frame.chain = Some((Point::nothing(span), point(element)));
        }
        Ok(())
    }

    fn open(&mut self, span: Span, factory: String, at: Span) -> Result<(), LaunchError> {
        if self.frame.pending.is_none() {
            self.end_chain()?;
        }
        if self.frames.len() >= MAX_DEPTH {
            return Err(LaunchError::new(Kind::TooDeep { max: MAX_DEPTH }, span));
        }
        self.count(span)?;
        let (given, properties, _) = self.properties()?;
        let (name, name_span) = given.unzip();
        self.out.bins.push(BinSpec {
            factory,
            factory_span: at,
            name,
            name_span,
            properties,
            span,
            parent: self.frame.bin,
        });
        let inner = Frame::new(Some(self.out.bins.len() - 1));
        let outer = std::mem::replace(&mut self.frame, inner);
        self.frames.push(outer);
        Ok(())
    }

    fn close(&mut self, span: Span) -> Result<(), LaunchError> {
        self.dangling()?;
        let Some(outer) = self.frames.pop() else {
            return Err(LaunchError::new(Kind::UnmatchedClose, span));
        };
        self.end_chain()?;
        let inner = std::mem::replace(&mut self.frame, outer);
        let bin = inner.bin.and_then(|bin| self.out.bins.get_mut(bin));
        let (factory, whole) = match bin {
            Some(bin) => {
                bin.span.end = span.end;
                (bin.factory.as_str(), bin.span)
            }
            None => ("bin", span),
        };
        let (Some(first), Some(last)) = (inner.first, inner.last) else {
            let kind = Kind::EmptyBin {
                factory: short(factory),
            };
            return Err(LaunchError::new(kind, whole));
        };
        self.attach(first, last)
    }

    fn finish(mut self) -> Result<Description, LaunchError> {
        self.dangling()?;
        self.end_chain()?;
        if !self.frames.is_empty() {
            return Err(self.unclosed());
        }
        if self.frame.first.is_none() {
            let end = self.text.len();
            return Err(LaunchError::new(Kind::Empty, Span::new(end, end)));
        }
        resolve(self.out, self.links)
    }

    fn unclosed(&self) -> LaunchError {
        let bin = self.frame.bin.and_then(|bin| self.out.bins.get(bin));
        let span = bin.map_or(Span::new(0, 0), |bin| bin.span);
        let values = self.out.elements.iter().rev().flat_map(|element| {
            let last = element
                .properties
                .last()
                .map(|property| property.value_span);
            [last, element.name_span]
        });
        let own = bin.and_then(|bin| bin.name_span);
        let swallowed_by = values
            .chain([own])
            .flatten()
            .map(|value| self.slice(value))
            .find(|value| value.ends_with(')'))
            .map(short);
        LaunchError::new(Kind::UnclosedBin { swallowed_by }, span)
    }
}

/// Pads cannot stand between a link and a reference or a URI.
fn no_pads(pending: &Pending) -> Result<(), LaunchError> {
    match pending.pads.first() {
        Some(pad) => {
            let name = short(&pad.name);
            let kind = Kind::PadWithoutElement { pad: name };
            Err(LaunchError::new(kind, pad.span))
        }
        None => Ok(()),
    }
}
