#!/bin/bash
# Writes Corpus.tar.xz: of what the fuzzers of a build have grown, the fewest inputs that reach as much.
#
#   keep_corpus.sh BUILD
set -eu
build=$1
small=$(mktemp -d)
trap 'rm -rf "$small"' EXIT
export ASAN_OPTIONS=detect_leaks=0
for folder in "$build"/corpus/*/; do
  target=$(basename "$folder")
  mkdir "$small/$target"
  PATCHIO_FUZZ_TARGET=$target "$build/Testing/Fuzz/patchio_fuzz" -set_cover_merge=1 -max_len=65536 -timeout=20 "$small/$target" "$folder" 2>/dev/null
  echo "$target: $(ls "$small/$target" | wc -l) of $(ls "$folder" | wc -l) inputs"
done
tar --sort=name --mtime=2000-01-01 --owner=0 --group=0 --numeric-owner -cJf "$(dirname "$0")/Corpus.tar.xz" -C "$small" .
ls -l "$(dirname "$0")/Corpus.tar.xz"
