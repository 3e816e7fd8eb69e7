//! Lists: a shared order of members and a bit mask of those that are left, so that narrowing a
//! list never allocates and keeps the order of preference. Reads values and the vocabulary only.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::limits::{CapsLimitError, CapsLimits, MAX_LIST};
use super::text::Text;
use super::value::Value;
use super::vocab;

/// A set of the numbers 0..120.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask([u64; 2]);

impl Mask {
    pub(super) const EMPTY: Mask = Mask([0; 2]);

    pub(super) const fn first(count: usize) -> Mask {
        let mut mask = Mask::EMPTY;
        let mut i = 0;
        while i < count {
            mask = mask.with(i);
            i += 1;
        }
        mask
    }

    pub(super) const fn with(mut self, i: usize) -> Mask {
        self.0[(i >> 6) & 1] |= 1 << (i & 63);
        self
    }

    #[inline]
    pub(super) const fn has(self, i: usize) -> bool {
        self.0[(i >> 6) & 1] >> (i & 63) & 1 == 1
    }

    pub(super) const fn and(self, other: Mask) -> Mask {
        Mask([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }

    pub(super) const fn without(self, other: Mask) -> Mask {
        Mask([self.0[0] & !other.0[0], self.0[1] & !other.0[1]])
    }

    pub(super) const fn count(self) -> usize {
        (self.0[0].count_ones() + self.0[1].count_ones()) as usize
    }

    /// As 15 bytes: the lower 64 bits, and 56 more.
    const fn pack(self) -> (u64, [u8; 7]) {
        let [a, b, c, d, e, f, g, _] = self.0[1].to_le_bytes();
        (self.0[0], [a, b, c, d, e, f, g])
    }

    #[inline]
    const fn unpack(low: u64, [a, b, c, d, e, f, g]: [u8; 7]) -> Mask {
        Mask([low, u64::from_le_bytes([a, b, c, d, e, f, g, 0])])
    }

    /// The members, rising.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let half = usize::from(left[0] == 0);
            let bits = left[half];
            if bits == 0 {
                return None;
            }
            left[half] = bits & (bits - 1);
            Some(half * 64 + bits.trailing_zeros() as usize)
        })
    }
}

/// Known words in order of preference, all of one page of the vocabulary (video formats, audio
/// formats, or all others). The `static` form of a template's list of formats.
#[derive(Clone, Debug)]
pub struct WordOrder {
    page: u8,
    len: u8,
    codes: [u8; MAX_LIST],
}

impl WordOrder {
    /// The words, for a `static`. A word that comes twice counts once.
    ///
    /// # Panics
    /// If there is none, or one is not known or belongs to another page; in a constant that is an
    /// error of the compiler.
    pub const fn of(words: &[&'static str]) -> WordOrder {
        assert!(!words.is_empty(), "a list needs at least one member");
        let (mut seen, mut order) = (Mask::EMPTY, WordOrder::empty());
        let mut i = 0;
        while i < words.len() {
            match vocab::word_code(words[i]) {
                Some(code) => {
                    let page = (code >> 8) as u8;
                    assert!(i == 0 || page == order.page, "words of different kinds");
                    order.page = page;
                    if !seen.has((code & 0x7f) as usize) {
                        seen = seen.with((code & 0x7f) as usize);
                        order.codes[order.len as usize] = code as u8;
                        order.len += 1;
                    }
                }
                None => panic!("not a known word"),
            }
            i += 1;
        }
        order
    }

    const fn empty() -> WordOrder {
        WordOrder {
            page: 0,
            len: 0,
            codes: [0; MAX_LIST],
        }
    }

    /// The order of these values, if all are words of one page; they come without repetition.
    fn from_values(values: &[Value]) -> Option<WordOrder> {
        let mut order = WordOrder::empty();
        for value in values {
            let Value::Text(text) = value else {
                return None;
            };
            let code = text.code()?;
            let page = (code >> 8) as u8;
            if order.len > 0 && page != order.page {
                return None;
            }
            order.page = page;
            *order.codes.get_mut(usize::from(order.len))? = code as u8;
            order.len += 1;
        }
        Some(order)
    }

    const fn code(&self, within: u8) -> u16 {
        (self.page as u16) << 8 | within as u16
    }

    const fn word(&self, within: u8) -> Value {
        Value::Text(Text::from_code(self.code(within)))
    }

    #[inline]
    const fn has(&self, left: Mask, code: u16) -> bool {
        (code >> 8) as u8 == self.page && left.has((code & 0xff) as usize)
    }

    const fn mask(&self) -> Mask {
        let (mut mask, mut i) = (Mask::EMPTY, 0);
        while i < self.len as usize {
            mask = mask.with(self.codes[i] as usize);
            i += 1;
        }
        mask
    }
}

/// Values in order of preference, for a `static` list of a template.
#[derive(Debug)]
pub enum ValueItems {
    /// Part of the program.
    Static(&'static [Value]),
    /// Made at run time.
    Owned(Box<[Value]>),
}

impl Deref for ValueItems {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        match self {
            ValueItems::Static(values) => values,
            ValueItems::Owned(values) => values,
        }
    }
}

/// The members that a list was made of (part of the program, or counted), and the mask of those that
/// are left in its two parts; so arranged, it all takes 24 bytes.
#[derive(Clone)]
enum Repr {
    StaticWords([u8; 7], u64, &'static WordOrder),
    Words([u8; 7], u64, Arc<WordOrder>),
    StaticValues([u8; 7], u64, &'static ValueItems),
    Values([u8; 7], u64, Arc<ValueItems>),
}

/// The same, looked at.
enum View<'a> {
    /// The mask counts codes within the page.
    Words(&'a WordOrder),
    /// The mask counts places.
    Values(&'a [Value]),
}

/// A set of values in order of preference. Never empty.
#[derive(Clone)]
pub struct List(Repr);

impl List {
    /// All words of an order.
    pub const fn words(order: &'static WordOrder) -> List {
        let (low, high) = order.mask().pack();
        List(Repr::StaticWords(high, low, order))
    }

    /// All values of a `static` list, each of which should come once.
    ///
    /// # Panics
    /// If there is none, or there are more than 120; in a constant that is an error of the
    /// compiler.
    pub const fn values(items: &'static ValueItems) -> List {
        let count = match items {
            ValueItems::Static(values) => values.len(),
            ValueItems::Owned(values) => values.len(),
        };
        assert!(
            count > 0 && count <= MAX_LIST,
            "a list has 1 to 120 members"
        );
        let (low, high) = Mask::first(count).pack();
        List(Repr::StaticValues(high, low, items))
    }

    /// From values without repetition, at least one.
    pub(super) fn from_values(
        values: Vec<Value>,
        limits: &CapsLimits,
    ) -> Result<List, CapsLimitError> {
        if values.len() > limits.list.min(MAX_LIST) {
            return Err(CapsLimitError::list(values.len(), limits));
        }
        if let Some(order) = WordOrder::from_values(&values) {
            let (low, high) = order.mask().pack();
            return Ok(List(Repr::Words(high, low, Arc::new(order))));
        }
        let (low, high) = Mask::first(values.len()).pack();
        let items = Arc::new(ValueItems::Owned(values.into()));
        Ok(List(Repr::Values(high, low, items)))
    }

    #[inline]
    fn view(&self) -> View<'_> {
        match &self.0 {
            Repr::StaticWords(.., order) => View::Words(order),
            Repr::Words(.., order) => View::Words(order),
            Repr::StaticValues(.., items) => View::Values(items),
            Repr::Values(.., items) => View::Values(items),
        }
    }

    #[inline]
    const fn left(&self) -> Mask {
        match &self.0 {
            Repr::StaticWords(high, low, _)
            | Repr::Words(high, low, _)
            | Repr::StaticValues(high, low, _)
            | Repr::Values(high, low, _) => Mask::unpack(*low, *high),
        }
    }

    fn narrowed(&self, left: Mask) -> Option<List> {
        if left == Mask::EMPTY {
            return None;
        }
        let (low, high) = left.pack();
        Some(List(match &self.0 {
            Repr::StaticWords(.., order) => Repr::StaticWords(high, low, order),
            Repr::Words(.., order) => Repr::Words(high, low, Arc::clone(order)),
            Repr::StaticValues(.., items) => Repr::StaticValues(high, low, items),
            Repr::Values(.., items) => Repr::Values(high, low, Arc::clone(items)),
        }))
    }

    /// How many values there are.
    pub fn count(&self) -> usize {
        self.left().count()
    }

    /// Whether `value` is among them.
    pub fn contains(&self, value: &Value) -> bool {
        match (self.view(), value) {
            (View::Words(order), Value::Text(text)) => {
                text.code().is_some_and(|code| order.has(self.left(), code))
            }
            (View::Words(_), _) => false,
            (View::Values(items), _) => self.left().iter().any(|i| items.get(i) == Some(value)),
        }
    }

    /// The values in order of preference. Does not allocate.
    pub fn iter(&self) -> ListIter<'_> {
        ListIter { list: self, at: 0 }
    }

    /// The only value, if there is one only.
    pub fn single(&self) -> Option<Value> {
        (self.count() == 1).then(|| self.iter().next())?
    }

    /// The values for which `keep` answers true.
    pub(super) fn keep(&self, keep: impl Fn(&Value) -> bool) -> Option<List> {
        let mut left = Mask::EMPTY;
        for i in self.left().iter() {
            let kept = match self.view() {
                View::Words(order) => keep(&order.word(i as u8)),
                View::Values(items) => items.get(i).is_some_and(&keep),
            };
            if kept {
                left = left.with(i);
            }
        }
        self.narrowed(left)
    }

    pub(super) fn meets(&self, other: &List) -> bool {
        match (self.view(), other.view()) {
            (View::Words(a), View::Words(b)) => {
                a.page == b.page && self.left().and(other.left()) != Mask::EMPTY
            }
            _ => self.iter().any(|value| other.contains(&value)),
        }
    }

    pub(super) fn intersect(&self, other: &List) -> Option<List> {
        match (self.view(), other.view()) {
            (View::Words(a), View::Words(b)) if a.page == b.page => {
                self.narrowed(self.left().and(other.left()))
            }
            (View::Words(_), View::Words(_)) => None,
            _ => self.keep(|value| other.contains(value)),
        }
    }

    pub(super) fn subtract(&self, other: &List) -> Option<List> {
        match (self.view(), other.view()) {
            (View::Words(a), View::Words(b)) if a.page == b.page => {
                self.narrowed(self.left().without(other.left()))
            }
            (View::Words(_), View::Words(_)) => Some(self.clone()),
            _ => self.keep(|value| !other.contains(value)),
        }
    }

    pub(super) fn is_subset(&self, other: &List) -> bool {
        match (self.view(), other.view()) {
            (View::Words(a), View::Words(b)) => {
                a.page == b.page && self.left().without(other.left()) == Mask::EMPTY
            }
            _ => self.iter().all(|value| other.contains(&value)),
        }
    }

    /// The text of the only value, if there is one only and it is a text.
    pub(super) fn single_text(&self) -> Option<&str> {
        if self.count() != 1 {
            return None;
        }
        let at = self.left().iter().next()?;
        match self.view() {
            View::Words(order) => Some(vocab::word_text(order.code(at as u8))),
            View::Values(items) => match items.get(at)? {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            },
        }
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The values of a [`List`] in order of preference.
#[derive(Clone)]
pub struct ListIter<'a> {
    list: &'a List,
    at: usize,
}

impl Iterator for ListIter<'_> {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        loop {
            let at = self.at;
            self.at += 1;
            match self.list.view() {
                View::Words(order) => {
                    let code = *order.codes.get(..usize::from(order.len))?.get(at)?;
                    if self.list.left().has(usize::from(code)) {
                        return Some(order.word(code));
                    }
                }
                View::Values(items) => {
                    let value = items.get(at)?;
                    if self.list.left().has(at) {
                        return Some(value.clone());
                    }
                }
            }
        }
    }
}

impl<'a> IntoIterator for &'a List {
    type Item = Value;
    type IntoIter = ListIter<'a>;

    fn into_iter(self) -> ListIter<'a> {
        self.iter()
    }
}
