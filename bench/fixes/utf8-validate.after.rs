// SPDX-License-Identifier: MIT
//
// After javierhonduco/lightswitch pull request #480: bytes are compared.

#[inline(never)]
fn is_wanted(line: &[u8]) -> bool {
    line.ends_with(b";")
}
fn main() {
    let mut s = 88172645463325252u64;
    let mut text = Vec::new();
    for _ in 0..1000 {
        for _ in 0..40 {
            match next_random(&mut s) % 5 {
                0 => text.extend_from_slice("é".as_bytes()),
                1 => text.push(b' '),
                _ => text.push(b'a' + (next_random(&mut s) % 26) as u8),
            }
        }
        text.extend_from_slice(if next_random(&mut s) % 3 == 0 {
            b";\n"
        } else {
            b".\n"
        });
    }
    let mut sum = 0u64;
    for _ in 0..22500 {
        for line in text.split(|&b| b == b'\n') {
            sum += is_wanted(line) as u64;
        }
        sum = sum.wrapping_add(other_work(sum, 21000));
    }
    println!("{}", sum);
}

#[inline(always)]
fn other_work(x: u64, rounds: u64) -> u64 {
    let (mut a, mut b, mut c, mut d) = (x, x + 1, x + 2, x + 3);
    for i in 0..rounds {
        a = a.wrapping_add(i ^ x);
        b = b.wrapping_add(std::hint::black_box(i | x));
        c ^= i.wrapping_add(x);
        d = d.wrapping_sub(i & x);
    }
    a ^ b ^ c ^ d
}
fn next_random(s: &mut u64) -> u64 {
    *s ^= *s >> 12;
    *s ^= *s << 25;
    *s ^= *s >> 27;
    s.wrapping_mul(0x2545f4914f6cdd1d) >> 16
}
