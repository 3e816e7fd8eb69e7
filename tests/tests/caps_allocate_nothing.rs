//! Intersections of structures within the field limit, copies and tests of them allocate nothing,
//! whether their words are known or not; nor do caps of one structure.

#![allow(unsafe_code, reason = "a counting allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use tickpipe_components::caps::{Caps, MAX_FIELDS, Structure, ValueSet, WordOrder};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as for this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as for this function.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as for this function.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What `call` answers, and how often it allocated.
fn counted<T>(call: impl FnOnce() -> T) -> (T, u64) {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let answer = black_box(call());
    let after = ALLOCATIONS.load(Ordering::Relaxed);
    (answer, after - before)
}

static FORMATS: WordOrder = WordOrder::of(&["NV12", "I420", "RGBA"]);
static TEMPLATE: [Structure; 1] =
    [Structure::of("video/x-raw").field("format", ValueSet::words(&FORMATS))];

/// Each meets each other one of its group.
const GROUPS: [&[&str]; 3] = [
    // Known words: values, lists, ranges on grids and not, fractions.
    &[
        "video/x-raw,format=I420,width=1280,height=720,framerate=30/1,interlace-mode=progressive,\
         pixel-aspect-ratio=1/1,colorimetry=bt709,chroma-site=mpeg2",
        "video/x-raw,format={I420,YV12,NV12},width=[1,32767],height=[1,32767],\
         framerate=[0/1,120/1]",
        "video/x-raw,format={RGBA,I420},width=[0,3000,10],height=[0,3000,6],framerate={30/1,25/1}",
        "video/x-raw,width=[0,3000,4],height={720,1080}",
        "video/x-raw",
    ],
    // Unknown ones: media type, features, names of fields, values and lists of values.
    &[
        "own/media(own:Memory),own-name=\"own text\",other=(string){\"own text\",I420},a=1,z=true",
        "own/media(ANY),own-name={\"another text\",\"own text\"},format=\"odd word\",b=[1,10,3]",
        "own/media(own:Memory),format={\"odd word\",I420},b=4,other=\"own text\",width={1,2,3}",
    ],
    // A name outside of the vocabulary takes a second slot.
    &[
        "v,n01=1,n03=1,n05=1,n07=1,n09=1,n11=1,n12=[1,2]",
        "v,n02=x,n04={x,y},n06=1/2,n08=false,n10=[1,9],n12=[2,9]",
    ],
];

/// Without the test runner, whose threads allocate too: the count is of the whole process.
fn main() {
    let (_, control) = counted(|| Box::new(1));
    assert_eq!(control, 1, "the count counts");
    pairs_of_structures();
    println!("test result: ok. 1 passed; 0 failed");
}

fn pairs_of_structures() {
    for group in GROUPS {
        let mut all: Vec<Caps> = group
            .iter()
            .map(|text| Caps::parse(text).expect(text))
            .collect();
        if all[0].structures()[0].media() == "video/x-raw" {
            all.push(Caps::from_static(&TEMPLATE));
        }
        for a in &all {
            for b in &all {
                pair(a, b);
            }
        }
    }
    // As many fields as there may be.
    let [a, b] = [GROUPS[2][0], GROUPS[2][1]].map(|text| Caps::parse(text).expect(text));
    let both = a.structures()[0].intersect(&b.structures()[0]);
    let fields = both.expect("it fits").expect("they meet").len();
    assert_eq!(2 * fields, MAX_FIELDS);
}

fn pair(a: &Caps, b: &Caps) {
    let (x, y) = (&a.structures()[0], &b.structures()[0]);
    let ((), allocations) = counted(|| {
        let both = x.intersect(y).expect("within the limit");
        let both = both.expect("they meet");
        assert!(both.is_subset(x) && both.is_subset(y) && x.can_intersect(y));
        assert!(black_box(both.clone()) == both);
        let caps = a.intersect(b).expect("within the limit");
        assert!(black_box(caps.clone()).structures() == [both]);
        assert!(a.intersect_absorbed(b).expect("within the limit") == caps);
    });
    assert_eq!(allocations, 0, "{a} and {b}");
    // Neither does finding out that they do not meet.
    if y.get("width").is_some() {
        let other = x.clone().with("width", "no number");
        let (met, allocations) = counted(|| other.intersect(y).is_ok_and(|both| both.is_some()));
        assert!(!met, "{other} and {b}");
        assert_eq!(allocations, 0, "{other} and {b}");
    }
}
