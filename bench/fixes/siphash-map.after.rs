// SPDX-License-Identifier: MIT
// After amethyst/legion pull request #51; FyroxEngine/Fyrox pull request #250.
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

macro_rules! forty {
    ($f:ident($($a:expr),*), $sum:expr) => {
        forty!(@ $f ($($a),*) $sum; 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49)
    };
    (@ $f:ident $a:tt $sum:expr; $($n:literal)*) => { $( $sum = $sum.wrapping_add($f::<$n> $a); )* };
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


#[derive(Default)]
struct Multiply(u64);
impl Hasher for Multiply {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.write_u32(*b as u32);
        }
    }
    fn write_u32(&mut self, v: u32) {
        self.0 = (self.0.rotate_left(5) ^ v as u64).wrapping_mul(0x517cc1b727220a95);
    }
}
type Table = HashMap<u32, u32, BuildHasherDefault<Multiply>>;

#[inline(never)]
fn look_up<const N: u32>(table: &Table, keys: &[u32]) -> u32 {
    let mut sum = N;
    for key in keys {
        if let Some(v) = table.get(&(key ^ N)) {
            sum = sum.wrapping_add(*v);
        }
    }
    sum
}

fn main() {
    let mut random = Random(7);
    let mut table = Table::default();
    for i in 0..1000u32 {
        table.insert(i, i * 3);
    }
    let keys: Vec<u32> = (0..200).map(|_| (random.next() % 1200) as u32).collect();
    let mut sum = 0u32;
    for _ in 0..25000 {
        forty!(look_up(&table, std::hint::black_box(&keys)), sum);
    }
    println!("{sum}");
}
