// A program with known peak memory: it touches and frees as many MiB as its argument says. It only
// checks the measurement.
fn main() {
    let mib: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(0);
    let mut eaten = vec![0_u8; mib * 1024 * 1024];
    for page in eaten.chunks_mut(4096) {
        page[0] = 1;
    }
    drop(std::hint::black_box(eaten));
}
