#!/bin/bash
# Runs the fuzzers of a build, one after another, and says how many inputs each has had.
#
#   fuzz.sh BUILD SECONDS [TARGET...]
#
# No target means all of them. The corpus begins with Corpus.tar.xz and grows in BUILD/corpus/TARGET, faults go to BUILD/found/TARGET-*. A fault is a crash, what
# a sanitizer finds, an exception that nobody expects, 10 s for one input, and more than 512 MB of memory.
# Ends with 1 when there was one, with 77 when the build has no fuzzer. A fault does not end the run, unless PATCHIO_FUZZ_STOP is set.
set -u
build=$1 seconds=$2
shift 2
program="$build/Testing/Fuzz/patchio_fuzz" replay="$build/Testing/Fuzz/patchio_fuzz_replay"
if [ ! -x "$program" ]; then
  echo "skipped: there is no fuzzer in $build; ./dev fuzz builds it, with clang"
  exit 77
fi
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <("$replay" --list)
mkdir -p "$build/found"
export ASAN_OPTIONS="detect_leaks=0:quarantine_size_mb=8:allocator_may_return_null=0:handle_abort=1:$(printenv ASAN_OPTIONS)"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
"$replay" --seeds "$build/seeds" || exit 1
if [ ! -d "$build/corpus" ]; then
  mkdir -p "$build/corpus"
  tar -xJf "$(dirname "$0")/Corpus.tar.xz" -C "$build/corpus"
fi
# Small files of the tests of formats, where these have run.
add_cases() {
  local files=$1 folder
  shift
  for folder in "$@"; do
    find "$(dirname "$0")/../../build/release/Testing/cases" -type f -size -48k -name "$files" -exec cp -t "$build/seeds/$folder" {} + 2>/dev/null
  done
}
add_cases '*.vtkhdf' vtkhdf hdf5
add_cases '*.h5' kwave hdf5
add_cases '*.ctl' grads grads-descriptor
all=0 failed=0
for target in "${targets[@]}"; do
  mkdir -p "$build/corpus/$target"
  left=$seconds count=0 state="no fault"
  while [ "$left" -gt 0 ]; do
    begin=$SECONDS
    log="$build/found/$target.log"
    PATCHIO_FUZZ_TARGET=$target "$program" -max_total_time="$left" -timeout=10 -rss_limit_mb=512 -malloc_limit_mb=400 -max_len=65536 \
      -print_final_stats=1 -verbosity=1 -artifact_prefix="$build/found/$target-" "$build/corpus/$target" "$build/seeds/$target" >"$log" 2>&1
    status=$?
    done=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
    [ -n "$done" ] || done=$(sed -n 's/^#\([0-9]*\).*/\1/p' "$log" | tail -1)
    count=$((count + ${done:-0}))
    left=$((left - (SECONDS - begin) - (status != 0)))
    if [ $status -ne 0 ]; then
      failed=1 state="FAULTS, see $build/found"
      cp "$log" "$log.$(date +%s)"
      [ -z "${PATCHIO_FUZZ_STOP:-}" ] || break
    fi
  done
  all=$((all + count))
  echo "$target: $count inputs, $(ls "$build/corpus/$target" | wc -l) in the corpus, $state"
done
echo "$all inputs in all"
exit $failed
