//! A description back to text, as a person would write it: chains where links follow the elements,
//! references elsewhere. [`parse`](super::parse) of the text gives the same description.

use super::describe::{Description, ElementSpec, End, LinkSpec, PropertySpec, automatic_names};
use super::lex::is_inline_caps;
use super::lex::is_word;
use super::value::quote;

/// A description for which the launch syntax has no words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotExpressible {
    /// A factory, key or pad that holds other characters than letters, digits, `_`, `-`, `%`, `:`.
    #[error("{0:?} cannot be written as a type, key or pad name")]
    Word(String),
    /// A link needs a reference to an element whose name holds such characters.
    #[error("a link needs a reference to {0:?}, which cannot be written as one")]
    Name(String),
    /// A bin that holds no element.
    #[error("the bin with index {0} is empty")]
    EmptyBin(usize),
    /// Elements of a bin that do not stand together, or a bin index that does not exist.
    #[error("the element with index {0} stands outside its bin")]
    Order(usize),
    /// A link with an element index that does not exist, or with one element at both ends.
    #[error("the link with index {0} has no two ends")]
    Link(usize),
}

/// Writes a description as launch text on one line. A link that no chain can hold refers to a
/// nameless element by its automatic name, so give names ([`assign_names`](super::assign_names))
/// before, if another program is to read the text.
///
/// # Errors
///
/// [`NotExpressible`] for what the syntax cannot say. Any result of [`parse`](super::parse) can be
/// written, but for a bin that holds references only, and for an element whose name needs quotes and
/// that is linked over a bin's edge or out
/// of order.
pub fn to_text(description: &Description) -> Result<String, NotExpressible> {
    let names = automatic_names(description);
    let mut writer = Writer {
        description,
        names: names.elements,
        out: String::new(),
        stack: Vec::new(),
        opened: 0,
        link: 0,
        last: None,
    };
    let mut index = 0;
    while let Some(element) = description.elements.get(index) {
        index = writer.element(index, element)?;
    }
    writer.finish()
}

struct Writer<'a> {
    description: &'a Description,
    names: Vec<Option<String>>,
    out: String,
    /// Bins that are open, the outermost first.
    stack: Vec<usize>,
    /// Bins opened so far.
    opened: usize,
    /// The next link to write.
    link: usize,
    /// The element at the end of the chain, if a link can follow.
    last: Option<usize>,
}

impl<'a> Writer<'a> {
    fn space(&mut self) {
        if !self.out.is_empty() {
            self.out.push(' ');
        }
    }

    /// Writes an element with what comes before it; returns the next index.
    fn element(&mut self, index: usize, element: &'a ElementSpec) -> Result<usize, NotExpressible> {
        let same_bin = self.stack.last().copied() == element.bin;
        if !same_bin {
            self.between(index)?;
            self.enter(index, element.bin)?;
        }
        // Links among what is written already come first.
        self.between(index)?;
        if let Some(link) = self.next_link()
            && link.to.element == index
            && link.from.element < index
            && let Some(start) = self.chain_to(link, index)?
        {
            self.out.push_str(&start);
            self.mark(link);
            self.link += 1;
            if let Some(next) = self.inline(index, element, link)? {
                return Ok(next);
            }
            if let Some(pad) = &link.to.pad {
                self.pad(&pad.name)?;
            }
        }
        self.body(element)?;
        self.last = Some(index);
        Ok(index + 1)
    }

    fn next_link(&self) -> Option<&'a LinkSpec> {
        self.description.links.get(self.link)
    }

    /// What has to stand before the link's mark so that it leads from the right pad; `None` if the
    /// source can only be named by a reference, which its name does not allow.
    fn chain_to(&self, link: &LinkSpec, index: usize) -> Result<Option<String>, NotExpressible> {
        if self.last == Some(link.from.element) {
            return match &link.from.pad {
                Some(pad) if is_word(&pad.name) => Ok(Some(format!(" .{}", pad.name))),
                Some(pad) => Err(NotExpressible::Word(pad.name.clone())),
                None => Ok(Some(String::new())),
            };
        }
        if link.from.element >= index {
            return Ok(None);
        }
        let space = if self.out.is_empty() { "" } else { " " };
        Ok(Some(format!("{space}{}", self.reference(&link.from)?)))
    }

    fn mark(&mut self, link: &LinkSpec) {
        self.out.push_str(if link.all { " :" } else { " !" });
    }

    fn pad(&mut self, name: &str) -> Result<(), NotExpressible> {
        if !is_word(name) {
            return Err(NotExpressible::Word(name.to_owned()));
        }
        self.out.push_str(&format!(" .{name}"));
        Ok(())
    }

    /// A nameless filter with caps only, and a plain link on to the next element: the caps
    /// themselves. The first link's mark is written already.
    fn inline(
        &mut self,
        index: usize,
        element: &ElementSpec,
        before: &LinkSpec,
    ) -> Result<Option<usize>, NotExpressible> {
        let [PropertySpec { key, value, .. }] = element.properties.as_slice() else {
            return Ok(None);
        };
        let plain = element.factory == "capsfilter"
            && element.name.is_none()
            && key == "caps"
            && is_inline_caps(value)
            && before.to.pad.is_none();
        let next = index + 1;
        let after = self.next_link().filter(|after| {
            after.from.element == index
                && after.from.pad.is_none()
                && after.to.element == next
                // Of caps on a `:` nothing is left where either link fails, of an element it is.
                && after.all == before.all
                && (!after.all || element.is_inline())
        });
        let (true, Some(after), Some(follower)) =
            (plain, after, self.description.elements.get(next))
        else {
            return Ok(None);
        };
        if follower.bin != element.bin {
            return Ok(None);
        }
        self.out.push(' ');
        self.out.push_str(value);
        // After `:` caps would go on to the next `!` of the text, so that is what ends them.
        self.out.push_str(" !");
        self.link += 1;
        if let Some(pad) = &after.to.pad {
            self.pad(&pad.name)?;
        }
        self.body(follower)?;
        self.last = Some(next);
        Ok(Some(next + 1))
    }

    /// The element itself.
    fn body(&mut self, element: &ElementSpec) -> Result<(), NotExpressible> {
        self.space();
        if !is_word(&element.factory) {
            return Err(NotExpressible::Word(element.factory.clone()));
        }
        self.out.push_str(&element.factory);
        self.properties(element.name.as_deref(), &element.properties)
    }

    fn properties(
        &mut self,
        name: Option<&str>,
        properties: &[PropertySpec],
    ) -> Result<(), NotExpressible> {
        if let Some(name) = name {
            if name.is_empty() {
                return Err(NotExpressible::Name(String::new()));
            }
            self.out.push_str(&format!(" name={}", quote(name)));
        }
        for property in properties {
            if !is_word(&property.key) || property.key == "name" {
                return Err(NotExpressible::Word(property.key.clone()));
            }
            let value = quote(&property.value);
            self.out.push_str(&format!(" {}={value}", property.key));
        }
        Ok(())
    }

    fn reference(&self, end: &End) -> Result<String, NotExpressible> {
        let given = self.description.elements.get(end.element);
        let given = given.and_then(|element| element.name.as_deref());
        let automatic = self.names.get(end.element).and_then(Option::as_deref);
        let name = given.or(automatic).unwrap_or("");
        if !is_word(name) {
            return Err(NotExpressible::Name(name.to_owned()));
        }
        match &end.pad {
            Some(pad) if !is_word(&pad.name) => Err(NotExpressible::Word(pad.name.clone())),
            Some(pad) => Ok(format!("{name}.{}", pad.name)),
            None => Ok(format!("{name}.")),
        }
    }

    /// Writes the links that come next, as long as both ends are before `index`.
    fn between(&mut self, index: usize) -> Result<(), NotExpressible> {
        while let Some(link) = self.next_link() {
            if link.from.element >= index || link.to.element >= index {
                break;
            }
            if link.from.element == link.to.element {
                return Err(NotExpressible::Link(self.link));
            }
            let start = self.chain_to(link, index)?.unwrap_or_default();
            self.out.push_str(&start);
            self.mark(link);
            let to = self.reference(&link.to)?;
            self.out.push_str(&format!(" {to}"));
            self.link += 1;
            self.last = None;
        }
        Ok(())
    }

    /// Closes and opens bins until the innermost open one is `bin`.
    fn enter(&mut self, index: usize, bin: Option<usize>) -> Result<(), NotExpressible> {
        let mut path = Vec::new();
        let mut walk = bin;
        while let Some(bin) = walk {
            let spec = self.description.bins.get(bin);
            let spec = spec.ok_or(NotExpressible::Order(index))?;
            path.push(bin);
            walk = spec.parent.filter(|&parent| parent < bin);
        }
        path.reverse();
        while !path.starts_with(&self.stack) {
            self.stack.pop();
            self.out.push_str(" )");
        }
        self.last = None;
        for &bin in path.iter().skip(self.stack.len()) {
            if bin > self.opened {
                return Err(NotExpressible::EmptyBin(self.opened));
            }
            if bin != self.opened {
                return Err(NotExpressible::Order(index));
            }
            let Some(spec) = self.description.bins.get(bin) else {
                return Err(NotExpressible::Order(index));
            };
            self.opened += 1;
            self.stack.push(bin);
            self.space();
            if !is_word(&spec.factory) {
                return Err(NotExpressible::Word(spec.factory.clone()));
            }
            // `name. (` would be read as a bin of the type `name`.
            if spec.factory == "bin" && !self.out.ends_with(". ") {
                self.out.push('(');
            } else {
                self.out.push_str(&format!("{}.(", spec.factory));
            }
            self.properties(spec.name.as_deref(), &spec.properties)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<String, NotExpressible> {
        let total = self.description.elements.len();
        while self.stack.pop().is_some() {
            self.out.push_str(" )");
            self.last = None;
        }
        self.between(total)?;
        if self.link < self.description.links.len() {
            return Err(NotExpressible::Link(self.link));
        }
        if self.opened < self.description.bins.len() {
            return Err(NotExpressible::EmptyBin(self.opened));
        }
        Ok(self.out)
    }
}
