//! The seed's decision tree over real rounds: what surgery would be worth it.
