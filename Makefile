# What a newcomer needs: `make test`. Everything else is for maintainers.
.PHONY: test lint unit doc bench

test: lint unit doc

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

unit:
	cargo test --workspace --locked

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

bench:
	cargo bench -p setveil
