//! DirectShow's rules of pulling, F1 to F8.

use proptest::prelude::*;
use std::io;
use std::sync::Arc;
use tickpipe_components::memory::Memory;
use tickpipe_components::pool::PoolConfig;
use tickpipe_components::pull::{
    Available, Block, Bytes, Completion, Outcome, PullError, Reader, Request, Short, Slice, Step,
    Worker, agree_align, agree_buffers,
};

fn counted(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// A source of so many bytes, with an alignment.
fn reader(len: usize, align: u32) -> Reader {
    let bytes = counted(len).into();
    Reader::new(Arc::new(Slice { bytes, align }), 8)
}

fn request(start: u64, len: usize, align: usize, user: u64) -> Request {
    Request {
        start,
        len: len as u64,
        memory: Memory::new(len, align),
        user,
    }
}

fn ask(reader: &mut Reader, start: u64, len: usize) -> Result<(), String> {
    let align = reader.align() as usize;
    let asked = reader.request(request(start, len, align, start));
    asked.map_err(|(error, _)| error.to_string())
}

fn read(completion: &Completion) -> (u64, Vec<u8>) {
    match completion.outcome {
        Outcome::Read(got) => (
            completion.user,
            completion.memory.as_slice()[..got as usize].to_vec(),
        ),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn f1_the_source_decides_alignments_it_cannot_do() {
    assert_eq!(agree_align(0, 512), 512);
    assert_eq!(agree_align(100, 512), 512);
    assert_eq!(agree_align(1024, 512), 1024);
    assert_eq!(agree_align(0, 0), 1);
    let wanted = PoolConfig {
        count: 100,
        size: 1024,
        align: 512,
        ..PoolConfig::default()
    };
    // Nobody prefers any: kept as they are given.
    let own = agree_buffers(wanted, 512, |_| None, Some);
    assert_eq!(own.expect("it can"), wanted);
    // The preferred one is tried first, and what cannot do it is passed over.
    let twice = |c: PoolConfig| Some(PoolConfig { count: 200, ..c });
    let chosen = agree_buffers(wanted, 512, twice, Some).expect("it can");
    assert_eq!(chosen.count, 200);
    let misfit = |c: PoolConfig| Some(PoolConfig { align: 16, ..c });
    let chosen = agree_buffers(wanted, 512, misfit, Some).expect("it can");
    assert_eq!(chosen, wanted);
    let refused = agree_buffers(wanted, 512, misfit, misfit).expect_err("neither can");
    assert!(matches!(refused, PullError::BadAlign { align: 512, .. }));
}

#[test]
fn f2_a_request_is_aligned_and_within_the_source() {
    let mut r = reader(600, 512);
    let said = |r: &mut Reader, start, len| ask(r, start, len).expect_err("it cannot");
    assert_eq!(
        said(&mut r, 100, 512),
        "position 100 is not a multiple of 512, the alignment of the source"
    );
    assert_eq!(
        said(&mut r, 0, 100),
        "length 100 is not a multiple of 512, the alignment of the source"
    );
    assert_eq!(
        said(&mut r, 1024, 512),
        "position 1024 lies behind the end at 600"
    );
    let most = u64::MAX - 511;
    assert_eq!(
        said(&mut r, most, 512),
        format!("position {most} lies behind the end at 600")
    );
    // An address that is no multiple: large ones are hardly ever, and never all of them.
    const LARGE: u32 = 1 << 20;
    let mut large = reader(1, LARGE);
    let odd = (0..8).find_map(|_| match large.request(request(0, LARGE as usize, 1, 0)) {
        Err((error, back)) => Some((error, back.memory.len())),
        Ok(()) => None,
    });
    let (error, back) = odd.expect("one of them");
    assert!(
        matches!(
            error,
            PullError::BadAlign {
                what: "address",
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(back, LARGE as usize);
    assert_eq!(r.requests_out(), 0);
    // The end beyond the total, rounded up, is cut.
    ask(&mut r, 512, 1024).expect("it can");
    assert!(r.complete(0));
    let (_, bytes) = read(&r.collect().expect("no flush").expect("it is done"));
    assert_eq!(bytes, counted(600)[512..]);
}

#[test]
fn f3_requests_are_collected_in_the_order_in_which_they_are_done() {
    let mut r = reader(4096, 512);
    for start in [0, 512, 1024] {
        ask(&mut r, start, 512).expect("it can");
    }
    assert_eq!((r.requests_out(), r.to_collect()), (3, 0));
    assert!(r.collect().expect("no flush").is_none(), "nothing in time");
    assert!(r.complete(2) && r.complete(0) && r.complete(0) && !r.complete(0));
    for start in [1024_usize, 0, 512] {
        let (user, bytes) = read(&r.collect().expect("no flush").expect("it is done"));
        assert_eq!(user, start as u64);
        assert_eq!(bytes, counted(4096)[start..start + 512]);
    }
    assert!(r.collect().expect("no flush").is_none());
    for _ in 0..8 {
        ask(&mut r, 0, 512).expect("there is room");
    }
    let full = ask(&mut r, 0, 512).expect_err("there is not");
    assert_eq!(full, "8 requests are out already, which is the limit");
}

/// Gives at most 100 bytes a read, so that it breaks off.
#[derive(Debug)]
struct Broken(Option<io::ErrorKind>);

impl Bytes for Broken {
    fn available(&self) -> Available {
        Available {
            total: 1000,
            now: 100,
        }
    }

    fn read_at(&self, _at: u64, to: &mut [u8]) -> io::Result<usize> {
        match self.0 {
            Some(kind) => Err(kind.into()),
            None => Ok(to.len().min(100)),
        }
    }
}

#[test]
fn f3_short_data_is_right_at_the_end_only() {
    for (kind, want) in [
        (
            None,
            "only 100 of 200 bytes came from position 0 on, and the source does not end there",
        ),
        (
            Some(io::ErrorKind::BrokenPipe),
            "position 0 could not be read: broken pipe",
        ),
    ] {
        let mut r = Reader::new(Arc::new(Broken(kind)), 8);
        ask(&mut r, 0, 200).expect("it can");
        assert!(r.complete(0));
        match r.collect().expect("no flush").expect("it is done").outcome {
            Outcome::Failed(error) => assert_eq!(error.to_string(), want),
            other => panic!("{other:?}"),
        }
        let read = r.read(0, &mut [0; 200]).expect_err("it breaks off");
        assert_eq!(read.to_string(), want);
        assert!(r.length().arrives());
    }
}

#[test]
fn f4_an_aligned_read_at_once() {
    let r = reader(600, 512);
    let mut memory = Memory::new(512, 512);
    let mut at = |start| r.read_aligned(start, memory.as_mut_slice());
    assert_eq!(at(0).expect("it can"), Short::No(512));
    assert_eq!(at(512).expect("it can"), Short::Yes(88));
    // Behind the end, rounded up, nothing is asked for.
    assert_eq!(at(1024).expect("it can"), Short::No(0));
    assert!(at(1).is_err());
    assert!(r.read_aligned(0, &mut [0; 100]).is_err());
}

#[test]
fn f5_a_read_at_once_at_any_position() {
    let r = reader(600, 512);
    let mut to = [0; 20];
    assert_eq!(r.read(590, &mut to).expect("it can"), Short::Yes(10));
    assert_eq!(to[..10], counted(600)[590..]);
    assert_eq!(r.read(600, &mut to).expect("it can"), Short::Yes(0));
    assert_eq!(r.read(u64::MAX, &mut to).expect("it can"), Short::Yes(0));
    assert_eq!(r.read(3, &mut to).expect("it can"), Short::No(20));
    assert_eq!(to[..], counted(600)[3..23]);
}

#[test]
fn f6_the_length_in_all_and_what_is_there() {
    assert_eq!(reader(600, 512).length(), Available::all(600));
    assert!(!reader(600, 512).length().arrives());
    let arriving = Reader::new(Arc::new(Broken(None)), 1).length();
    assert_eq!(
        (arriving.total, arriving.now, arriving.arrives()),
        (1000, 100, true)
    );
}

#[test]
fn f7_a_flush_cancels_and_all_that_is_cancelled_is_collected() {
    let mut r = reader(4096, 512);
    for start in [0, 512, 1024] {
        ask(&mut r, start, 512).expect("it can");
    }
    r.complete(1);
    r.begin_flush();
    assert_eq!(
        ask(&mut r, 0, 512).expect_err("it flushes"),
        "the reader is flushing"
    );
    // Reads at once go on.
    assert_eq!(r.read(0, &mut [0; 9]).expect("it can"), Short::No(9));
    let mut aligned = Memory::new(512, 512);
    let read_now = r.read_aligned(0, aligned.as_mut_slice());
    assert_eq!(read_now.expect("it can"), Short::No(512));
    let mut collected = Vec::new();
    while let Ok(Some(done)) = r.collect() {
        collected.push((done.user, matches!(done.outcome, Outcome::Cancelled)));
    }
    assert_eq!(collected, [(512, false), (0, true), (1024, true)]);
    assert!(matches!(r.collect(), Err(PullError::Flushing)));
    r.end_flush();
    assert!(r.collect().expect("it is over").is_none());
    ask(&mut r, 0, 512).expect("it can again");
}

#[test]
fn formats_are_read_from_what_is_granted() {
    use tickpipe_components::cut::FourCc;
    use tickpipe_components::ivf::{FrameHead, Header, Index, Rate};
    let header = Header {
        fourcc: FourCc(*b"VP80"),
        width: 16,
        height: 16,
        rate: Some(Rate { num: 25, den: 1 }),
        frames: Some(5),
        bytes: 32,
    };
    let mut file = header.to_bytes().to_vec();
    for pts in 0..5_u64 {
        let size = 100 + pts as u32;
        file.extend(FrameHead { size, pts }.to_bytes());
        file.extend(counted(size as usize));
    }
    let granted: Arc<dyn Bytes> = Arc::new(Slice::from(&file[..]));
    let pulled = Index::build(&*granted, 1 << 20).expect("it is whole");
    let given = Index::build(&file[..], 1 << 20).expect("it is whole");
    assert_eq!(pulled.frames.len(), 5);
    assert_eq!(pulled, given);
    let broken: Arc<dyn Bytes> = Arc::new(Broken(Some(io::ErrorKind::BrokenPipe)));
    let told = Index::build(&*broken, 1 << 20).expect_err("it cannot be read");
    assert!(told.to_string().contains("broken pipe"), "{told}");
}

/// Pulls a stretch; requests are done in an order that `order` gives.
fn pull(worker: &mut Worker, order: &[usize]) -> (Vec<(u64, Vec<u8>)>, usize) {
    let (mut blocks, mut most) = (Vec::new(), 0);
    let mut order = order.iter().copied().cycle();
    loop {
        match worker.step().expect("no error") {
            Step::End => return (blocks, most),
            Step::Block(block) => {
                blocks.push((block.start, Block::bytes(&block).to_vec()));
                worker.give_back(block);
            }
            Step::Wait => {
                let out = worker.reader().requests_out();
                assert!(out > 0, "it waits for something");
                most = most.max(out);
                let which = order.next().unwrap_or_default() % out;
                worker.reader_mut().complete(which);
            }
        }
    }
}

#[test]
fn f8_a_stretch_is_pulled_two_requests_ahead() {
    let mut worker = Worker::new(reader(5000, 512), 3, 1000);
    worker.go_to(700, 2600);
    let (blocks, most) = pull(&mut worker, &[0]);
    assert_eq!(most, 2);
    // Asked for from 512 on in blocks of 1024; given from 700 to 2600.
    let starts: Vec<_> = blocks.iter().map(|b| (b.0, b.1.len())).collect();
    assert_eq!(starts, [(700, 836), (1536, 1024), (2560, 40)]);
    let mut one = Worker::new(reader(5000, 512), 1, 1000);
    one.go_to(0, u64::MAX);
    assert_eq!(pull(&mut one, &[0]).1, 1, "with one block one request");
    // After a flush no end comes.
    worker.go_to(0, u64::MAX);
    assert!(matches!(worker.step(), Ok(Step::Wait)));
    worker.flush();
    assert_eq!(worker.reader().requests_out(), 0);
    assert!(matches!(worker.step(), Ok(Step::Wait)));
    worker.go_to(4999, 5000);
    assert_eq!(
        pull(&mut worker, &[0]).0,
        [(4999, counted(5000)[4999..].to_vec())]
    );
    worker.go_to(9000, u64::MAX);
    assert!(pull(&mut worker, &[0]).0.is_empty());
}

proptest! {
    #[test]
    fn f8_whatever_the_order_all_bytes_come_once(
        len in 0usize..6000,
        align in prop_oneof![Just(1u32), Just(4), Just(512)],
        (blocks, block) in (1usize..5, 1usize..2000),
        (start, stop) in (0u64..7000, 0u64..7000),
        order in proptest::collection::vec(0usize..4, 1..9),
    ) {
        let mut worker = Worker::new(reader(len, align), blocks, block);
        worker.go_to(start, stop);
        let (got, _) = pull(&mut worker, &order);
        let all = counted(len);
        let end = (stop as usize).min(len);
        let want = all.get(start as usize..end).unwrap_or_default();
        let mut at = start;
        for (from, bytes) in &got {
            prop_assert_eq!(*from, at);
            at += bytes.len() as u64;
        }
        prop_assert_eq!(got.concat_bytes(), want);
    }
}

trait Concat {
    fn concat_bytes(&self) -> Vec<u8>;
}

impl Concat for Vec<(u64, Vec<u8>)> {
    fn concat_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|b| b.1.iter().copied()).collect()
    }
}
