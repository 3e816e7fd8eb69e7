//! Which machine instructions the row kernels are compiled for. Each kernel is
//! one plain Rust loop, compiled once per instruction set; the arithmetic is on
//! integers, so the choice changes speed and never a byte.

use fearless_simd::{Level, Simd};

/// An instruction set that this machine has.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    level: Level,
}

impl Cpu {
    /// The best that this machine has.
    pub fn detect() -> Cpu {
        Cpu {
            level: Level::new(),
        }
    }

    /// What every machine of this architecture has.
    pub fn baseline() -> Cpu {
        Cpu {
            level: Level::baseline(),
        }
    }

    /// Every level that this machine can run, the baseline first. For tests that
    /// compare them.
    pub fn all() -> Vec<Cpu> {
        let mut all = vec![Self::baseline()];
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            let best = Level::new();
            let levels = [
                best.as_sse4_2().map(Simd::level),
                best.as_avx2().map(Simd::level),
                best.as_avx512().map(Simd::level),
            ];
            all.extend(levels.into_iter().flatten().map(|level| Cpu { level }));
        }
        all
    }

    pub(super) const fn level(self) -> Level {
        self.level
    }
}

impl Default for Cpu {
    fn default() -> Self {
        Self::detect()
    }
}

/// Defines row kernels: `fn name(cpu, args...)` runs the body compiled for `cpu`.
macro_rules! kernels {
    ($( $(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block )*) => {$(
        $(#[$meta])*
        #[allow(
            clippy::too_many_arguments,
            reason = "a kernel takes its rows and constants apart"
        )]
        pub fn $name(cpu: $crate::elements::video::pixels::cpu::Cpu, $($arg: $ty),*) {
            #[inline(always)]
            fn kernel($($arg: $ty),*) $body
            fearless_simd::dispatch!(cpu.level(), _simd => kernel($($arg),*))
        }
    )*};
}
pub(super) use kernels;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_is_always_there() {
        let all = Cpu::all();
        assert!(!all.is_empty());
        assert!(format!("{:?}", Cpu::detect()).contains("level"));
    }
}
