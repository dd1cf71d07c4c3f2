// The minimum cost of a static program: the start and end of the standard library.
fn main() {}
