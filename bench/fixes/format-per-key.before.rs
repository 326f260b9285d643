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
fn key<const N: usize>(values: &[u32]) -> usize {
    let mut sum = N;
    for v in values {
        let text = format!("{}-{}", v, N);
        sum += text.len() + text.as_bytes()[0] as usize;
    }
    sum
}

fn main() {
    let mut random = Random(7);
    let values: Vec<u32> = (0..100).map(|_| random.next() as u32).collect();
    let mut sum = 0usize;
    for _ in 0..6000 {
        forty!(key(&values), sum);
    }
    println!("{sum}");
}
