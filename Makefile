# What a newcomer needs: `make test`. Everything else is for maintainers.
# `make test-page` drives the page in a real browser; it installs Chromium and two npm packages where it may.
# `make test-spark` runs Setveil on a cluster of Spark on this machine; it installs Java and PySpark where it may.
.PHONY: test tools lint unit doc python wheel stubs test-spark test-page page-pictures bench torture fuzz

PYTHON ?= python3

test: tools lint unit doc python test-spark test-page
	@if [ -s target/skipped-tests ]; then \
		echo; echo "NOT EVERYTHING WAS TESTED: $$(sort -u target/skipped-tests | wc -l) tests lack their data:"; \
		sort -u target/skipped-tests; \
	fi
	@if [ -s target/python-skipped ]; then echo; cat target/python-skipped; fi
	@if [ -s target/spark-skipped ]; then echo; cat target/spark-skipped; fi

# What some tests use beside Rust: installed where that may be done.
tools:
	@PYTHON="$(PYTHON)" crates/testkit/tools.sh

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

# cargo-nextest is faster where it is installed; it does not run documentation tests.
unit: export SETVEIL_PYTHON = $(wildcard $(CURDIR)/target/python/bin/python)
unit:
	@rm -f target/skipped-tests
	@if cargo nextest --version >/dev/null 2>&1; then \
		cargo nextest run --workspace --locked && cargo test --workspace --locked --doc; \
	else \
		cargo test --workspace --locked; \
	fi

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# The Python package: built, and tested twice, with the libraries that people use and with none of them. Virtual
# environments are in target/. Without Python or without a package index this says so, and where CI is true it fails.
python:
	@PYTHON="$(PYTHON)" python/test.sh

# A wheel for any Linux of the last ten years (manylinux2014), in target/wheels.
wheel: target/python/bin/maturin
	target/python/bin/pip install -q ziglang
	PATH="$(CURDIR)/target/python/bin:$$PATH" maturin build --release --strip --zig --compatibility manylinux_2_17 -m python/Cargo.toml

# The committed type hints of the extension module.
stubs: target/python/bin/maturin
	PATH="$(CURDIR)/target/python/bin:$$PATH" python/stubs.sh python/setveil/_setveil.pyi

target/python/bin/maturin:
	$(PYTHON) -m venv target/python
	target/python/bin/pip install -q -r python/requirements-test.txt

# Setveil on Spark: a master and two workers on the loopback address. Without Java 17 or PySpark this says so, and
# where CI is true it fails.
test-spark:
	@PYTHON="$(PYTHON)" python/test-spark.sh

test-page:
	crates/setveil-web/tests/browser/run.sh

# The pictures of docs/page.md, as the tests make them.
page-pictures: test-page
	cp target/page/doc-protect.png docs/page/protect.png
	cp target/page/doc-sweep.png docs/page/sweep.png
	cp target/page/doc-result.png docs/page/result.png
	cp target/page/doc-release.png docs/page/release.png

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
