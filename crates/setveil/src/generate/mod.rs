//! Synthetic data: market baskets and query logs of nobody.
