#!/usr/bin/env bash
# What LOGOS adds to the cold `cargo check` of a crate that uses it: the macro, and rustc's own run of the checker.
# Usage: logos-core/benches/downstream.sh [runs]. Prints the least time of each crate, and the differences.
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-15}
repository=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CARGO_TARGET_DIR=$scratch/target CARGO_INCREMENTAL=0
mkdir -p "$scratch/src"
cp tests/fixtures/configs/qwen3.5-27b/config.json "$scratch/config.json"
printf '[package]\nname = "downstream"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n[dependencies]\nlogos-rdu = { path = "%s/logos-rdu" }\n' \
  "$repository" >"$scratch/Cargo.toml"

decode='DECODE: decode { tp: 8, ctx: 262_144, batch: 8 },'
prefill='PREFILL: prefill { tp: 8, ctx: 262_144, chunk: 512 },'
model() { printf 'logos_rdu::logos_model! { pub mod m { model: config "config.json", chip: SN50, deployments: { %s } } }\nfn main() {}\n' "$1"; }

# Warnings of this repository's own crates are not what is measured.
check() { RUSTFLAGS='--cap-lints allow' cargo check --quiet --manifest-path "$scratch/Cargo.toml"; }

# Least milliseconds, by the clock and of processor, of a check of the crate whose source is on standard input.
least() {
  local clock=1000000 processor=1000000 real user system
  cat >"$scratch/src/main.rs"
  check
  for _ in $(seq "$runs"); do
    touch "$scratch/src/main.rs"
    read -r real user system < <({ TIMEFORMAT='%3R %3U %3S'; time check; } 2>&1 | tr -d .)
    ((10#$real < clock)) && clock=$((10#$real))
    ((10#$user + 10#$system < processor)) && processor=$((10#$user + 10#$system))
  done
  echo "$clock $processor"
}

report() { printf '%-18s %4d ms (%d of processor), %d (%d) more\n' "$1" "$2" "$3" $(($2 - $4)) $(($3 - $5)); }

read -r clock processor < <(echo 'fn main() {}' | least)
printf '%-18s %4d ms (%d of processor)\n' 'without LOGOS' "$clock" "$processor"
read -r c p < <(model "$decode" | least)
report 'one deployment' "$c" "$p" "$clock" "$processor"
read -r c p < <(model "$decode $prefill" | least)
report 'two deployments' "$c" "$p" "$clock" "$processor"
