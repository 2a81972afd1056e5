# What a newcomer needs: `make test`. Everything else is for maintainers.
.PHONY: test lint unit doc bench fuzz

test: lint unit doc
	@if [ -s target/skipped-tests ]; then \
		echo; echo "NOT EVERYTHING WAS TESTED: $$(sort -u target/skipped-tests | wc -l) tests lack their data:"; \
		sort -u target/skipped-tests; \
	fi

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

# cargo-nextest is faster where it is installed; it does not run documentation tests.
unit:
	@rm -f target/skipped-tests
	@if cargo nextest --version >/dev/null 2>&1; then \
		cargo nextest run --workspace --locked && cargo test --workspace --locked --doc; \
	else \
		cargo test --workspace --locked; \
	fi

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

bench:
	cargo bench -p setveil

# A minute for every reader; needs cargo-fuzz.
fuzz:
	for target in fimi spmf basket_csv long_csv jsonl parquet release hierarchy; do \
		cargo fuzz run -s none $$target -- -max_total_time=60 || exit 1; \
	done
