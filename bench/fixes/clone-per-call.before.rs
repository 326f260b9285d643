// SPDX-License-Identifier: MIT

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

#[inline(never)]
fn longest<const N: usize>(names: &[String]) -> usize {
    let mut best = String::new();
    for name in names {
        let name = name.clone();
        if name.len() + N % 2 > best.len() {
            best = name;
        }
    }
    best.len() + N
}

fn main() {
    let mut random = Random(7);
    let names: Vec<String> = (0..100).map(|_| "n".repeat(4 + (random.next() % 20) as usize)).collect();
    let mut sum = 0usize;
    for _ in 0..25000 {
        forty!(longest(&names), sum);
    }
    println!("{sum}");
}
