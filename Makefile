# What a newcomer needs: `make test`. Everything else is for maintainers.
# `make test-page` drives the page in a real browser; it installs Chromium and two npm packages where it may.
.PHONY: test lint unit doc test-page bench torture fuzz

test: lint unit doc test-page
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

test-page:
	crates/setveil-web/tests/browser/run.sh

bench:
	cargo bench -p setveil

# Kills, signals, injected faults, full disks, runs at once, hostile releases, mutated files: a part of `make test`.
# SETVEIL_TORTURE=20 repeats everything twenty times as often.
torture:
	@if cargo nextest --version >/dev/null 2>&1; then \
		cargo nextest run --workspace --locked -E 'test(torture)'; \
	else \
		cargo test --workspace --locked torture; \
	fi

# SECONDS_EACH seconds for every target (60 unless told), and how many inputs were run.
fuzz:
	fuzz/run.sh
