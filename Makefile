.PHONY: check test demo lint page bench mutants

# After an edit: does it compile, and do the unit tests pass? Without published experiments and recordings.
check:
	cargo fmt --all --check
	cargo test --workspace --lib
	cargo test --package tidy


# All tests, on all cores, published experiments and their thousands of runs among them.
test:
	cargo test --workspace

# What an upgrade to the newest kernel would change for a recorded load, and what two more CPUs would.
demo:
	cargo build --release --package schedlab
	./target/release/schedlab compare demo/mix-rtover.dat --machine vm2 --set hz=250 \
		--with kernel=7.1 --with cpus=4 --task 'f?' --task 'hog?'

# Format, lints and documentation, as in CI.
lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# The script and the style of pages, after a change of web/. Needs Node 20 or newer with npm.
page:
	cd web && npm ci --no-audit --no-fund && npm run check && npm run test && npm run build

# The figures of speed. They mean something only on a machine that does nothing else.
bench:
	cargo bench --workspace

# Which wrong comparison in the scheduling classes would no test notice? For a night, or a part of it:
# make mutants SHARD=0/20. Needs cargo-mutants; what survives, and why, is in validation/mutants.md.
SHARD ?= 0/1
mutants:
	cargo mutants --in-place --no-shuffle --package schedlab-scheduler --shard $(SHARD)
