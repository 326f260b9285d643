// SPDX-License-Identifier: MIT
//
// After fbernier/base62 pull request #25.

type Wide = u64;

#[inline(never)]
fn per_second(nanoseconds: &[u64], rate: u64, divisor: u64) -> u64 {
    let mut sum = 0u64;
    for &n in nanoseconds {
        let samples = (n as Wide) * (rate as Wide) / (divisor as Wide);
        sum = sum.wrapping_add(samples as u64);
    }
    sum
}

#[inline(never)]
fn advance(nanoseconds: &mut [u64]) {
    for n in nanoseconds.iter_mut() {
        *n += 20833 + (*n & 7);
    }
}

fn main() {
    let mut random = Random(7);
    let mut times: Vec<u64> = (0..2000).map(|_| random.next() & 0xffffffffff).collect();
    let mut sum = 0u64;
    for i in 0..400000 {
        advance(&mut times);
        sum = sum.wrapping_add(per_second(&times, 48000 + (i & 3), 1_000_000_007));
    }
    println!("{sum}");
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
