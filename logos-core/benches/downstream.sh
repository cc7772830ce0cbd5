#!/usr/bin/env bash
# What LOGOS adds to the cold `cargo check` of a crate that uses it: the macro, and rustc's own run of the checker.
# Usage: logos-core/benches/downstream.sh [runs]. Prints the least wall time of each crate and the differences.
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

# Least milliseconds of a check of the crate whose source is on standard input.
least() {
  local best=1000000 start took
  cat >"$scratch/src/main.rs"
  check
  for _ in $(seq "$runs"); do
    touch "$scratch/src/main.rs"
    start=$(date +%s%N)
    check
    took=$((($(date +%s%N) - start) / 1000000))
    ((took < best)) && best=$took
  done
  echo "$best"
}

without=$(echo 'fn main() {}' | least)
one=$(model "$decode" | least)
both=$(model "$decode $prefill" | least)
printf 'without LOGOS        %4d ms\none deployment       %4d ms, %d more\ntwo deployments      %4d ms, %d more\n' \
  "$without" "$one" $((one - without)) "$both" $((both - without))
