// SPDX-License-Identifier: MIT
//
// After servo/servo pull request #47285, tursodatabase/turso pull request #1678.

#[inline(never)]
fn find(names: &[String], wanted: &str) -> Option<usize> {
    names.iter().position(|n| n.to_lowercase() == wanted.to_lowercase())
}

fn main() {
    let mut random = Random(7);
    let names: Vec<String> = (0..40).map(|_| format!("Content-Field-{}", random.next() % 1000)).collect();
    let mut sum = 0;
    for i in 0..2500000 {
        let wanted = &names[(random.next() % 40) as usize];
        sum += find(&names, wanted).unwrap_or(i) as u64;
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
