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
fn smooth<const N: i32>(from: &[i32], to: &mut [i32], size: usize) -> i32 {
    let (from, to) = (&from[..size], &mut to[..size]);
    for (out, w) in to[1..size - 1].iter_mut().zip(from.windows(3)) {
        *out = (w[0] + 2 * w[1] + w[2]) / 4 + N;
    }
    to[size / 2]
}

fn main() {
    let mut random = Random(7);
    let from: Vec<i32> = (0..1000).map(|_| (random.next() % 10000) as i32).collect();
    let mut to = vec![0; 1000];
    let size = std::hint::black_box(1000);
    let mut sum = 0i32;
    for _ in 0..50000 {
        forty!(smooth(&from, &mut to, size), sum);
    }
    println!("{sum}");
}
