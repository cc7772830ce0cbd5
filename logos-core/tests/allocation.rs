//! What a checkpoint file says of its own size is not believed: memory taken while its headers are read is a small multiple of
//! the file.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use logos_core::checkpoint::Checkpoint;

/// Counts bytes held, and the most there ever were.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::SeqCst) + layout.size();
        MOST.fetch_max(held, Ordering::SeqCst);
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Most bytes for each of the file's, and for what a refusal takes.
const FACTOR: usize = 12;
const ROOM: usize = 64 << 10;

#[track_caller]
fn bounded(what: &str, file: Vec<u8>) {
    let bytes = file.len();
    let before = HELD.load(Ordering::SeqCst);
    MOST.store(before, Ordering::SeqCst);
    let opened = Checkpoint::from_bytes(what, file);
    let taken = MOST.load(Ordering::SeqCst) - before;
    drop(opened);
    println!("{what}: {taken} bytes for {bytes}");
    assert!(taken <= FACTOR * bytes + ROOM, "{what}: {taken} bytes for {bytes}");
}

fn safetensors(header: &str) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
}

/// A GGUF header of numbers as they come.
fn gguf(tensors: u64, metadata: u64, rest: &[u8]) -> Vec<u8> {
    [b"GGUF", &3u32.to_le_bytes()[..], &tensors.to_le_bytes(), &metadata.to_le_bytes(), rest].concat()
}

/// One test, so that nothing else is allocated meanwhile.
#[test]
fn memory_follows_the_file_and_not_what_it_says() {
    let entry = |i: usize| format!(r#""{i}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#);
    let many: Vec<String> = (0..50_000).map(entry).collect();
    bounded("fifty thousand tensors", safetensors(&format!("{{{}}}", many.join(","))));
    let axes = "0,".repeat(500_000);
    bounded(
        "half a million axes",
        safetensors(&format!(r#"{{"a":{{"dtype":"U8","shape":[{axes}0],"data_offsets":[0,0]}}}}"#)),
    );
    bounded("a header of all bytes there are", [&u64::MAX.to_le_bytes()[..], b"{}"].concat());
    bounded("deep nesting", safetensors(&r#"{"a":"#.repeat(100_000)));
    let metadata: Vec<String> = (0..50_000).map(|i| format!(r#""{i}":"""#)).collect();
    bounded("much metadata", safetensors(&format!(r#"{{"__metadata__":{{{}}}}}"#, metadata.join(","))));

    bounded("as many tensors as there are numbers", gguf(u64::MAX, 0, &[0; 64]));
    bounded("as many keys", gguf(0, u64::MAX, &[0; 64]));
    let text = |text: &str| [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    let array = |kind: u32, count: u64| {
        [&text("a")[..], &9u32.to_le_bytes(), &kind.to_le_bytes(), &count.to_le_bytes()].concat()
    };
    bounded("an array without an end", gguf(0, 1, &array(8, u64::MAX)));
    bounded("an array of words without an end", gguf(0, 1, &array(4, u64::MAX)));
    let keys: Vec<u8> =
        (0..50_000).flat_map(|i| [&text(&i.to_string())[..], &0u32.to_le_bytes(), &[1]].concat()).collect();
    bounded("fifty thousand keys", gguf(0, 50_000, &keys));
    let architecture = [&text("general.architecture")[..], &8u32.to_le_bytes(), &text("llama")].concat();
    let heads = [&text("llama.attention.head_count")[..], &4u32.to_le_bytes(), &4u32.to_le_bytes()].concat();
    let infos: Vec<u8> =
        (0..50_000).flat_map(|i| [&text(&i.to_string())[..], &[0; 4], &[0; 4], &[0; 8]].concat()).collect();
    bounded("fifty thousand infos", gguf(50_000, 2, &[&architecture[..], &heads, &infos].concat()));
}
