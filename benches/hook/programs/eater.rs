// A program whose peak of memory is known: it touches as many MiB as its argument
// says, gives them back, and ends. It checks the measuring, nothing else.
fn main() {
    let mib: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(0);
    let mut eaten = vec![0_u8; mib * 1024 * 1024];
    for page in eaten.chunks_mut(4096) {
        page[0] = 1;
    }
    drop(std::hint::black_box(eaten));
}
