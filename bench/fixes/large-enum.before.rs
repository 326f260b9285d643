// SPDX-License-Identifier: MIT
//
// After narrowlink/ipstack pull request #36, tikv/tikv issue #4676.

#[derive(Clone)]
enum Packet {
    Data { from: u32, size: u32 },
    Options { fields: [u64; 300] },
}

#[inline(never)]
fn parse(bytes: &[u8]) -> Result<Packet, String> {
    if bytes.len() < 9 {
        return Err("short".to_string());
    }
    let word = |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
    if bytes[8] == 255 {
        let mut fields = [0u64; 300];
        fields[3] = word(4) as u64;
        return Ok(Packet::Options { fields });
    }
    Ok(Packet::Data { from: word(0), size: word(4) })
}

#[inline(never)]
fn check(bytes: &[u8]) -> Result<Packet, String> {
    let packet = parse(bytes)?;
    if bytes[0] == 1 {
        return Err("refused".to_string());
    }
    Ok(packet)
}

fn main() {
    let mut random = Random(7);
    let bytes: Vec<[u8; 16]> = (0..500).map(|i| std::array::from_fn(|k| if k == 8 && i % 100 == 0 { 255 } else { random.next() as u8 & 127 })).collect();
    let mut sum = 0u64;
    for _ in 0..45000 {
        for b in &bytes {
            match check(b) {
                Ok(Packet::Data { from, size }) => sum += (from ^ size) as u64,
                Ok(Packet::Options { fields }) => sum += fields[3],
                Err(e) => sum += e.len() as u64,
            }
        }
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
