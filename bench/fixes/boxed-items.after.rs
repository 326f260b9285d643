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

struct Item {
    size: u64,
    _name: [u8; 40],
}
type Stored = Item;

#[inline(never)]
fn total<const N: u64>(items: &[Stored]) -> u64 {
    let mut sum = N;
    for item in items {
        sum = sum.wrapping_mul(3) ^ item.size;
    }
    sum
}

fn main() {
    let mut random = Random(7);
    let mut items: Vec<Stored> = (0..400000).map(|i| Item { size: i, _name: [0; 40] }).collect();
    for i in (1..items.len()).rev() {
        items.swap(i, random.next() as usize % (i + 1));
    }
    let mut sum = 0u64;
    for _ in 0..6 {
        forty!(total(std::hint::black_box(&items)), sum);
    }
    println!("{sum}");
}
