// SPDX-License-Identifier: MIT
//! A program that waits, or calls the system, in code of its language's library:
//!
//!     waiting KIND FILE      appends to the file as known_waits.c does
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const ROUNDS: u32 = 40;

#[inline(never)]
fn nap() {
    for _ in 0..ROUNDS {
        if std::path::Path::new("/nowhere/done").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20)); // sleep
    }
}

#[inline(never)]
fn ask(mut own: UnixStream) {
    let mut text = [0; 16];
    for _ in 0..ROUNDS {
        own.write_all(b"question").unwrap();
        own.read_exact(&mut text[..6]).unwrap(); // peer
    }
}

fn answer() {
    let (own, mut its) = UnixStream::pair().unwrap();
    let peer = std::thread::spawn(move || {
        let mut text = [0; 16];
        while its.read(&mut text).unwrap() > 0 {
            std::thread::sleep(Duration::from_millis(20));
            its.write_all(b"answer").unwrap();
        }
    });
    ask(own);
    peer.join().unwrap();
}

#[inline(never)]
fn write_table() {
    let mut out = File::create("/dev/null").unwrap();
    for i in 0..1_000_000 {
        writeln!(out, "{:3} {:+6.2}", i % 1000, f64::from(i) / 7.0).unwrap(); // table
    }
}

/// Computes for about 10 ms.
fn compute(seed: u64) -> u64 {
    let begin = Instant::now();
    let mut value = seed | 1;
    while begin.elapsed() < Duration::from_millis(10) {
        for _ in 0..1000 {
            value = value.wrapping_mul(6364136223846793005).wrapping_add(1);
        }
    }
    value
}

/// Takes jobs, and keeps the lock while it does them. Gives how long it waited for the lock.
#[inline(never)]
fn share(jobs: &Mutex<Vec<u64>>) -> f64 {
    let mut waited = 0.0;
    loop {
        let begin = Instant::now();
        let mut held = jobs.lock().unwrap(); // mutex
        waited += begin.elapsed().as_secs_f64();
        match held.pop() {
            Some(job) => std::hint::black_box(compute(job)),
            None => return waited,
        };
        drop(held);
        std::thread::yield_now();
    }
}

/// How many threads wait, and for how long together.
fn share_all() -> (u32, f64) {
    const THREADS: u32 = 4;
    let jobs = Arc::new(Mutex::new((0..100).collect::<Vec<u64>>()));
    let workers: Vec<JoinHandle<f64>> = (0..THREADS)
        .map(|_| {
            let jobs = Arc::clone(&jobs);
            std::thread::spawn(move || share(&jobs))
        })
        .collect();
    let waited: f64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
    (THREADS, waited)
}

fn main() {
    let begin = Instant::now();
    let args: Vec<String> = std::env::args().collect();
    let mut shared = None;
    match args[1].as_str() {
        "mutex" => shared = Some(share_all()),
        "sleep" => nap(),
        "peer" => answer(),
        _ => write_table(),
    }
    let clock = begin.elapsed().as_secs_f64();
    let mut file = OpenOptions::new().append(true).create(true).open(&args[2]).unwrap();
    let (threads, waited) = shared.unwrap_or((1, clock));
    writeln!(file, "clock {clock:.6} {threads} {waited:.6}").unwrap();
}
