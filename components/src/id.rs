//! Own stable ids: small integers that entities hold and that decide every order.
//!
//! ECS entity ids and row order never decide a result; these do. All are dense within one
//! pipeline, so that adding a pipeline to a world changes nothing in another.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into a dense array.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

id!(
    /// A pipeline in its world, counted from 0 in order of creation.
    PipelineId
);
id!(
    /// An element in its pipeline: given by the user, or the lowest free number.
    ElementId
);
id!(
    /// A place in the fabric's dense element array: graph order, ties by [`ElementId`].
    LaneId
);
id!(
    /// A pool in its pipeline, in order of the pads that own them.
    PoolId
);
id!(
    /// A buffer in its pipeline; the buffers of one pool are consecutive.
    BufferId
);
id!(
    /// A link in its pipeline, in order of the lanes and pads that feed them.
    LinkId
);
