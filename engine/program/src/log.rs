//! Events as lines on standard error: errors as sentences for people, and with `--log` the rest.
//!
//! An error is `error: y4mdec0: frame 9 ends early (stream/truncated)`; others are
//! `debug: tickpipe_systems::state: text key=value`. No time stamps: what is written for a run is
//! the same each time.

use crate::console::Stderr;
use crate::failure::Failure;
use core::fmt::{self, Write};
use std::sync::{Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Dispatch, Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::FilterExt;
use tracing_subscriber::layer::{Context, SubscriberExt};

/// What shows the events that `filter` lets pass, and all errors.
pub(crate) fn dispatch(filter: &str, err: Stderr) -> Result<Dispatch, Failure> {
    let parsed = EnvFilter::builder()
        .parse(filter)
        .map_err(|error| Failure::Log {
            filter: filter.to_owned(),
            error,
        })?;
    let lines = Lines {
        err,
        last_error: Mutex::default(),
    };
    let lines = lines.with_filter(parsed.or(LevelFilter::ERROR));
    Ok(Dispatch::new(tracing_subscriber::registry().with(lines)))
}

struct Lines {
    err: Stderr,
    /// An element that fails again when it is closed, and for the same reason, is told once.
    last_error: Mutex<String>,
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = *event.metadata().level();
        let head = match level {
            Level::ERROR => "error",
            Level::WARN => "warning",
            Level::INFO => "info",
            Level::DEBUG => "debug",
            Level::TRACE => "trace",
        };
        let text = match level {
            Level::ERROR | Level::WARN => fields.sentence(),
            _ => fields.listed(event.metadata().target()),
        };
        let line = format!("{head}: {text}");
        if level == Level::ERROR {
            let last = &mut *self
                .last_error
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if *last == line {
                return;
            }
            last.clone_from(&line);
        }
        self.err.tell(&line);
    }
}

/// The fields of an event, as texts.
#[derive(Default)]
struct Fields {
    message: String,
    element: Option<String>,
    pad: Option<String>,
    domain: Option<String>,
    code: Option<String>,
    tick: Option<String>,
    /// ` key=value` of all others.
    others: String,
}

impl Fields {
    fn put(&mut self, field: &Field, value: String) {
        match field.name() {
            "message" => self.message = value,
            "element" => self.element = Some(value),
            "pad" => self.pad = Some(value),
            "domain" => self.domain = Some(value),
            "code" => self.code = Some(value),
            "tick" => self.tick = Some(value),
            name => {
                let _ = write!(self.others, " {name}={value}");
            }
        }
    }

    /// `element.pad: message other=value (domain/code)`, on one line.
    fn sentence(&self) -> String {
        let mut text = String::new();
        if let Some(element) = self.element.as_deref().filter(|e| *e != "pipeline") {
            text.push_str(element);
            if let Some(pad) = &self.pad {
                let _ = write!(text, ".{pad}");
            }
            text.push_str(": ");
        }
        text.push_str(&self.message);
        text.push_str(&self.others);
        match (&self.domain, &self.code) {
            (Some(domain), Some(code)) => {
                let _ = write!(text, " ({domain}/{code})");
            }
            (None, Some(code)) => {
                let _ = write!(text, " ({code})");
            }
            _ => {}
        }
        one_line(&text)
    }

    /// `target: message key=value`.
    fn listed(&self, target: &str) -> String {
        let mut text = format!("{target}: {}", self.message);
        let named = [
            ("tick", &self.tick),
            ("element", &self.element),
            ("pad", &self.pad),
            ("domain", &self.domain),
            ("code", &self.code),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                let _ = write!(text, " {name}={value}");
            }
        }
        text.push_str(&self.others);
        one_line(&text)
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', "\u{2424}")
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }
}
