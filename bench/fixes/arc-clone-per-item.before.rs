// SPDX-License-Identifier: MIT
//
// After jonhoo/left-right issue #3: no count of references that readers share.

use std::sync::Arc;
use std::thread;

struct Table {
    weights: Vec<u32>,
}

#[inline(never)]
fn weigh(table: Arc<Table>, key: u32) -> u64 {
    table.weights[(key & 255) as usize] as u64
}

fn work(table: Arc<Table>, seed: u64) -> u64 {
    let mut random = Random(seed);
    let mut sum = 0u64;
    for _ in 0..55_000_000 {
        let key = random.next() as u32;
        sum = sum.wrapping_add(weigh(table.clone(), key));
    }
    sum
}

fn main() {
    let table = Arc::new(Table { weights: (0..256).map(|i| i * 7).collect() });
    let other = {
        let table = table.clone();
        thread::spawn(move || work(table, 11))
    };
    let mine = work(table, 7);
    println!("{}", mine.wrapping_add(other.join().unwrap()));
}

struct Random(u64);
impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545f4914f6cdd1d) >> 16
    }
}
