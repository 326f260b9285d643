// SPDX-License-Identifier: MIT
//! A program that waits, or calls the system, in code of its language's library:
//!
//!     waiting KIND FILE      appends to the file as known_waits.c does
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
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

fn main() {
    let begin = Instant::now();
    let args: Vec<String> = std::env::args().collect();
    match args[1].as_str() {
        "sleep" => nap(),
        "peer" => answer(),
        _ => write_table(),
    }
    let clock = begin.elapsed().as_secs_f64();
    let mut file = OpenOptions::new().append(true).create(true).open(&args[2]).unwrap();
    writeln!(file, "clock {clock:.6} 1 {clock:.6}").unwrap();
}
