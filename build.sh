#!/usr/bin/env bash
# The front door: builds Headlight into dist/, serves the page, runs the tests. `./build.sh help` lists the verbs.
# src/build/setup.sh installs what the build needs, src/build/Makefile says how each file is built.
#
# A verb is a function verb_NAME under a line `#: NAME  what it does; its options`, which is the help.
set -euo pipefail
cd "$(dirname "$0")"

# npm puts node_modules/.bin first on PATH, where a newer Node lies for the tests: take the one npm runs on.
node=${npm_node_execpath:-node}
# The Node of the packages runs the programs of the build and the tests: it runs TypeScript and has relaxed SIMD.
new_node=node_modules/node/bin/node
source src/build/setup.sh

# Arguments: targets of src/build/Makefile.
run_make() {
  local jobs
  jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
  make -f src/build/Makefile --no-print-directory -j "$jobs" NODE="$new_node" "$@"
}


# Arguments: those of src/build/test.ts. The Node in use is tested by a program of its own.
run_tests() { HEADLIGHT_NODE=$node "$new_node" src/build/test.ts "$@"; }

#: build  the core, the module, the page and its documentation, into dist/ (the default)
verb_build() {
  setup
  run_make page docs
}

#: start  build, serve the page and open it; --port N, --no-open
verb_start() {
  verb_build
  exec "$new_node" src/build/server.ts "$@"
}

#: dev  serve the page from its sources and reload it when one changes; --port N
verb_dev() {
  setup
  run_make module
  exec "$new_node" src/build/devServer.ts "$@"
}

#: check  formatting, lint, types, length of lines; NAME of a check…
verb_check() {
  setup
  need has_c_tools "$C_TOOLS"
  NODE=$new_node "$new_node" src/build/check.ts "$@"
}

#: format  format everything
verb_format() {
  setup
  need has_c_tools "$C_TOOLS"
  node_modules/.bin/biome format --write .
  find src tests -name node_modules -prune -o -name '*.[ch]' -print0 | xargs -0 clang-format-19 -i
}

#: test  check, build and run the default tests; NAME… only the files whose path contains it, without check
verb_test() {
  if (($#)); then
    test_named "$@"
    return
  fi
  setup_tests
  verb_check
  run_make page
  say "tests: the default tier, Node $("$new_node" --version)"
  run_tests
}

# Builds what the chosen files need. Where one flavour of the core is enough, only that one is built and tested.
test_named() {
  local files targets flavour=()
  setup
  files=$(run_tests --plan "$@")
  targets=$(run_tests --targets "$@")
  case " $targets " in
    *' native '*) setup_all_tests ;;
    *' page '*) setup_tests ;;
    *' one-'*) flavour=(--flavour "$(one_flavour)") ;;
  esac
  case $files in *tests/package/*) setup_bundlers ;; esac
  # shellcheck disable=SC2086
  run_make $targets CLANG="$(sanitizing_clang)"
  say "$files"
  run_tests "${flavour[@]}" "$@"
}

#: test-all  check, build and run every test, those of the module also on the Node in use
verb_test_all() {
  setup_all_tests
  verb_check
  run_make page docs reference native CLANG="$(sanitizing_clang)"
  verb_bench packages --tiny
  verb_bench models --tiny
  say "tests: every tier, Node $("$new_node" --version)"
  run_tests --tier full
  say "tests: core and module, Node $("$node" --version)"
  run_tests --tier full --only-module --node "$node"
}

#: coverage  which lines the tests run
verb_coverage() {
  local counts=$PWD/dist/coverage/counts
  setup_all_tests
  run_make page native counted CLANG="$(sanitizing_clang)"
  rm -rf dist/coverage
  NODE_V8_COVERAGE=$counts CHROMIUM_COVERAGE=$counts run_tests --tier full --without tests/package/ ||
    say 'coverage: not all tests passed'
  "$new_node" src/build/coverage.ts "$counts" <(count_native)
}

#: mutants  change the sources in one place at a time and list the changes that no test notices; COUNT SEED TIER
verb_mutants() {
  setup_all_tests
  run_make page module
  "$new_node" src/build/mutants.ts "$@"
}

# Arguments: a program, then more options of libFuzzer. All choices of a call fit into 96 bytes. The core itself reports
# leaks. The usual quarantine of freed blocks takes four times the memory.
fuzz_core() {
  ASAN_OPTIONS=quarantine_size_mb=16 \
    "$@" -max_len=96 -len_control=0 -entropic=0 -detect_leaks=0 -timeout=60 -verbosity=0
}

# Adds the inputs that once failed, one in base64 for each line, to those that libFuzzer starts from.
add_found_inputs() {
  local input number=0
  while read -r input; do
    number=$((number + 1))
    base64 -d <<<"$input" >"dist/fuzz/corpus/found-$number"
  done <tests/fuzz/core/found.txt
}

#: fuzz  random calls of every export of the core under sanitizers, for a minute; SECONDS
verb_fuzz() {
  local flavour
  setup
  need has_sanitizers 'clang-19 libclang-rt-19-dev'
  run_make fuzz CLANG="$(sanitizing_clang)"
  mkdir -p dist/fuzz/corpus
  add_found_inputs
  for flavour in simd128 relaxed; do
    say "fuzz: $flavour"
    fuzz_core "dist/fuzz/core.$flavour" dist/fuzz/corpus -artifact_prefix=dist/fuzz/ -print_final_stats=1 \
      -max_total_time=$((${1:-60} / 2))
  done
}

# Runs the native tests of the core and some random calls, and prints what clang counted as JSON.
count_native() {
  local flavour bin
  bin=$(dirname "$(readlink -f "$(command -v "$(sanitizing_clang)")")")
  for flavour in simd128 relaxed; do
    LLVM_PROFILE_FILE=dist/coverage/$flavour.profraw "dist/test/counted.$flavour" >&2
    LLVM_PROFILE_FILE=dist/coverage/fuzz.$flavour.profraw fuzz_core "dist/fuzz/counted.$flavour" -runs=50000 -seed=1 >&2
  done
  "$bin/llvm-profdata" merge dist/coverage/*.profraw -o dist/coverage/core.profdata
  "$bin/llvm-cov" export -summary-only -instr-profile dist/coverage/core.profdata \
    dist/test/counted.simd128 -object dist/test/counted.relaxed -object dist/fuzz/counted.simd128 \
    -object dist/fuzz/counted.relaxed
}

#: native  the core as a library for programs in C and C++, into dist/native; CC and CFLAGS as for make
verb_native() {
  need has_make make has_cc 'gcc libc6-dev'
  make -f src/build/native.mk --no-print-directory -j "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)" "$@"
}

#: reference  the reference of the module, into dist/site/reference
verb_reference() {
  setup
  run_make reference
}

#: docs  the documentation, into dist/site/docs
verb_docs() {
  setup
  run_make docs
}

#: bench  measure packages (the default), against, limits, backward, training, models, open, page-open, url, page…
verb_bench() {
  local name=packages
  if (($#)) && [[ $1 != -* ]]; then
    name=$1
    shift
  fi
  if ! declare -F "bench_$name" >/dev/null; then
    say "bench: there is no $name. Benchmarks, with their options:"
    sed -n 's/^# bench \(.*\)/  \1/p' build.sh
    exit 1
  fi
  setup
  "bench_$name" "$@"
}

# bench packages: attention and layers, compared with other packages; --only NAME, --no-chromium, --tiny
bench_packages() {
  setup_bench
  run_make module peak
  "$new_node" tests/bench/run.js "$@"
}

# bench against FOLDER: compared with another build, whose dist/ is FOLDER; --only NAME, --rounds N
bench_against() {
  run_make module
  "$new_node" tests/bench/against.js "$@"
}

# bench limits: compared with the peak of one core and the bandwidth of the memory
bench_limits() {
  run_make module peak
  "$new_node" tests/bench/limits.js
}

# bench backward: attention forward and backward
bench_backward() {
  run_make module
  "$new_node" tests/bench/backward.js
}

# bench training: training, compared with TensorFlow.js; --rounds N
bench_training() {
  setup_bench
  run_make module dist/bench/gradients.js
  "$new_node" tests/bench/training.js "$@"
}

# bench models: whole models, compared with onnxruntime-web and wllama; --only, --type, --threads, --rounds, --write
bench_models() {
  setup_bench
  run_make module peak
  "$new_node" tests/bench/models.js "$@"
}

# bench open: time and memory of opening a checkpoint of 1 GB; --megabytes N, --type BF16 | F32, --keep
bench_open() {
  run_make module
  "$new_node" tests/bench/large.js "$@"
}

# bench page-open: opening a model of four bits and 1.5 B parameters in the page; --layers N, --keep
bench_page-open() {
  run_make page
  need_chromium
  "$new_node" tests/bench/pageOpen.js "$@"
}

# bench url: opening a checkpoint by its URL in Chromium, compared with fetch; FOLDER (another dist/), --rounds N
bench_url() {
  run_make module
  need_chromium
  "$new_node" tests/bench/url.js "$@"
}

# bench tokenizers: opening tokenizers, compared with @huggingface/tokenizers; --rounds N, --against FOLDER
bench_tokenizers() {
  need_npm tests/bench --ignore-scripts
  "$new_node" tests/bench/tokenizers.js "$@"
}

# bench page: how quickly the page responds, in Chromium
bench_page() {
  run_make page
  need_chromium
  "$new_node" tests/bench/instrument.js
}

#: onnx  layers and models as ONNX, run by onnxruntime-node and onnxruntime-web; --layers N, --models N, --only TEXT
verb_onnx() {
  setup
  setup_bench
  if can_install; then need has_onnx python3-onnx; fi
  run_make module
  "$new_node" tests/onnx/run.js "$@"
}

#: tasks  trains every task of the page from three seeds; NAME…
verb_tasks() {
  setup
  run_make module
  "$new_node" tests/bench/tasks.js "$@"
}

#: pretrain  trains the language model of the page on Moby-Dick; --minutes N, --steps N, --seed N, --vocabulary
verb_pretrain() {
  setup
  run_make module
  # Relaxed SIMD is faster.
  exec node_modules/node/bin/node src/build/demo/pretrain.ts "$@"
}

#: demo-model  a table of what the page expects of its language model, measured; FILE --long
verb_demo_model() {
  setup
  run_make module
  "$new_node" src/build/demo/criteria.ts "$@"
}

#: screenshots  every view at six widths, light and dark, into dist/screenshots; --readme
verb_screenshots() {
  verb_build
  # Letters of the languages that the page speaks.
  need_chromium
  need has_chinese fonts-noto-cjk
  "$new_node" tests/web/screenshots.js "$@"
}

#: adopt  run the packed package in every row of the table in web/docs/platforms.md; NAME… --write
verb_adopt() {
  verb_package
  need_chromium
  "$new_node" tests/adopt/run.js "$@"
}

#: sizes  what load() reads in a page, and a small bundle, with their limits
verb_sizes() {
  setup
  run_make module
  "$new_node" src/build/sizes.ts
}

#: package  all that the npm package needs, types included
verb_package() {
  setup
  run_make page types
}

#: reproduce  build the package twice from clean copies, and compare every byte
verb_reproduce() {
  setup
  "$new_node" src/build/reproduce.ts
}

#: clean  remove dist/
verb_clean() { rm -rf dist; }

#: help  this list
verb_help() {
  say 'usage: ./build.sh [verb]'
  sed -n 's/^#: \([^ ]*\)  /  \1\t/p' build.sh | expand -t 20
}

# Before anything is built.
for word in "$@"; do
  if [[ $word == --help || $word == -h ]]; then
    verb_help
    exit
  fi
done
verb=verb_${1:-build}
verb=${verb//-/_}
if ! declare -F "$verb" >/dev/null; then
  verb_help >&2
  exit 1
fi
"$verb" "${@:2}"
