#!/usr/bin/env bash
# Builds Headlight into dist/, serves the page, runs the tests. `./build.sh help` lists the verbs.
set -euo pipefail
cd "$(dirname "$0")"

# npm puts node_modules/.bin first on PATH, where a newer Node lies for the tests: take the one npm runs on.
node=${npm_node_execpath:-node}

# The hot loops are written out to be unrolled; everything around them is to be small.
KERNELS=(exp gemm gemm_int8 softmax dropout tile)
COMPILE=(-Isrc/core -std=c17 -O2 -msimd128 -mbulk-memory -fno-math-errno -Wall -Wextra -Werror)
STACK=65536
# No Binaryen pass after the link (-O1): it would undo the register allocation that the kernels rely on.
LINK=(-O1 --no-entry -sWASM_BIGINT -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=131072 -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=$STACK)

# Shared memory comes from outside; every worker sets a stack pointer of its own.
THREAD_COMPILE=(-matomics -mmutable-globals)
THREAD_LINK=(-sIMPORTED_MEMORY '-Wl,--shared-memory' '-Wl,--import-memory' '-Wl,--export=__stack_pointer')

# Numbers in as few bytes as they need, functions without their names: some 3 KB less.
LINK+=('-Wl,--compress-relocations' '-Wl,--strip-all')

say() { printf '%s\n' "$@"; }
stop() { printf 'headlight: %s\n' "$*" >&2; exit 1; }

# True where the target is missing or older than one of the files it is made from.
stale() {
  local target=$1 file
  shift
  [[ -e $target ]] || return 0
  for file in "$@"; do
    if [[ $file -nt $target ]]; then return 0; fi
  done
  return 1
}

# ---- set-up: what is missing is installed with apt and npm where that is possible --------------------------

have() { command -v "$1" >/dev/null 2>&1; }

has_node() { have "$node" && "$node" -e 'process.exitCode = Number(parseInt(process.versions.node) < 20)'; }
has_emcc() { have emcc; }
has_chromium() { have chromium; }
has_firefox() { have firefox-esr || have firefox; }
has_newer_llvm() { [[ -n $(newer_llvm) ]]; }
has_sanitizers() { [[ -n $(native_clang) ]]; }
has_simde() { [[ -e /usr/include/simde/wasm/simd128.h ]]; }

# Arguments: pairs of a check and the Debian packages that make it true.
need() {
  local missing=() packages
  while (($#)); do
    read -ra packages <<<"$2"
    if ! "$1"; then missing+=("${packages[@]}"); fi
    shift 2
  done
  ((${#missing[@]})) || return 0
  if [[ $EUID -ne 0 ]] || ! have apt-get; then
    stop "please install ${missing[*]} (on Debian and Ubuntu: sudo apt install ${missing[*]}), then run this again"
  fi
  say "setup: installing ${missing[*]} with apt"
  mkdir -p dist
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >dist/setup.log 2>&1; then
    tail -n 20 dist/setup.log >&2
    stop "apt could not install ${missing[*]}; the whole log is dist/setup.log"
  fi
}

setup_npm() {
  stale node_modules/.package-lock.json package-lock.json || return 0
  say "setup: installing npm packages from the lock-file"
  npm ci --no-audit --no-fund --loglevel=error
}

# An LLVM that knows relaxed SIMD where the one of emcc does not; empty where there is none.
newer_llvm() {
  local version bin
  for version in 22 21 20 19 18; do
    bin=/usr/lib/llvm-$version/bin
    if [[ -x $bin/clang && -x $bin/wasm-ld && -x $bin/llvm-nm ]]; then
      say "$bin"
      return
    fi
  done
}

# LLVM 14 takes the flag without knowing the instructions, so one is compiled.
knows_relaxed() {
  printf '#include <wasm_simd128.h>\nv128_t f(v128_t a) { return wasm_f32x4_relaxed_madd(a, a, a); }\n' |
    emcc -msimd128 -mrelaxed-simd -Werror -x c -c - -o /dev/null >/dev/null 2>&1
}

setup() {
  if ! has_node || ! have npm; then stop "please install Node 20 or newer with npm"; fi
  need has_emcc emscripten
  if [[ $EUID -eq 0 ]] && have apt-get && ! has_newer_llvm && ! knows_relaxed; then need has_newer_llvm 'clang-19 lld-19 llvm-19'; fi
  setup_npm
}

setup_tests() {
  setup
  need has_chromium chromium has_firefox firefox-esr has_sanitizers 'clang-19 libclang-rt-19-dev' has_simde libsimde-dev
}

# ---- the core ----------------------------------------------------------------------------------------------

# What JavaScript must know of headlight.h: offsets, enumerations, signatures, a fingerprint.
build_abi() {
  stale dist/abi/abi.flags src/core/headlight.h src/build/abi.js package.json build.sh || return 0
  emcc -Isrc/core -fsyntax-only -Xclang -fdump-record-layouts-complete -Xclang -ast-dump=json -x c src/core/headlight.h |
    "$node" src/build/abi.js dist/abi "$("$node" -p 'require("./package.json").version')" "STACK=$STACK"
}

# Compiles and links src/core in one flavour, with threads where its name says so. Arguments: the flavour, then
# more flags for the compiler.
build_flavour() {
  local flavour=$1 source name small object job objects=() jobs=() headers=(src/core/*.h src/core/*/*.h) compile=("${COMPILE[@]}") link=("${LINK[@]}") about
  shift
  compile+=("$@")
  if [[ $flavour == *-threads ]]; then
    compile+=("${THREAD_COMPILE[@]}")
    link+=("${THREAD_LINK[@]}")
  fi
  mkdir -p "dist/obj/$flavour" dist/test
  for source in src/core/*/*.c; do
    name=$(basename "$source" .c)
    object=${source#src/core/}
    object=dist/obj/$flavour/${object//\//-}.o
    small=-Os
    if [[ " ${KERNELS[*]} " == *" $name "* ]]; then small=; fi
    objects+=("$object")
    stale "$object" "$source" "${headers[@]}" build.sh dist/obj/toolchain dist/abi/abi.flags || continue
    about=()
    if [[ $name == about ]]; then read -ra about <dist/abi/abi.flags; fi
    emcc "${compile[@]}" ${small:+$small} "${about[@]}" -c "$source" -o "$object" &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job"; done
  if stale "dist/headlight.$flavour.wasm" "${objects[@]}"; then
    say "core: headlight.$flavour.wasm"
    emcc "${link[@]}" "${objects[@]}" -o "dist/headlight.$flavour.wasm"
  fi
  # The same objects with every internal function exported: for the tests of the kernels.
  if [[ $flavour != *-threads ]] && stale "dist/test/core.$flavour.wasm" "${objects[@]}"; then
    emcc "${link[@]}" "${objects[@]}" -Wl,--export-all -o "dist/test/core.$flavour.wasm"
  fi
}

# emcc drives a newer LLVM by way of a configuration file.
emcc_config() {
  mkdir -p dist/obj
  say "EMSCRIPTEN_ROOT = '$(dirname "$(readlink -f "$(command -v emcc)")")'
LLVM_ROOT = '$1'
BINARYEN_ROOT = '/usr'
NODE_JS = '$(command -v "$node")'
LLVM_ADD_VERSION = CLANG_ADD_VERSION = ''
FROZEN_CACHE = True" >dist/obj/emcc.config
}

# Which compiler builds the relaxed flavour: `own` (emcc's), the folder of a newer LLVM, or `none`.
# Asked once a toolchain; whatever hangs on it is stale when the answer is newer.
relaxed_compiler() {
  local llvm toolchain
  llvm=$(newer_llvm)
  toolchain="$(readlink -f "$(command -v emcc)") ${EM_CONFIG:-} $llvm"
  mkdir -p dist/obj
  if stale dist/obj/toolchain build.sh || [[ $(head -n 1 dist/obj/toolchain) != "$toolchain" ]]; then
    if knows_relaxed; then llvm=own; fi
    say "$toolchain" "${llvm:-none}" >dist/obj/toolchain
  fi
  tail -n 1 dist/obj/toolchain
}

build_relaxed() {
  build_flavour relaxed -mrelaxed-simd
  build_flavour relaxed-threads -mrelaxed-simd
}

build_core() {
  local relaxed
  relaxed=$(relaxed_compiler)
  build_abi
  build_flavour simd128
  build_flavour simd128-threads
  case $relaxed in
    own) build_relaxed ;;
    none)
      say 'core: no LLVM 18 or newer for relaxed SIMD: headlight.relaxed*.wasm are copies of the plain build'
      cp dist/headlight.simd128.wasm dist/headlight.relaxed.wasm
      cp dist/headlight.simd128-threads.wasm dist/headlight.relaxed-threads.wasm
      cp dist/test/core.simd128.wasm dist/test/core.relaxed.wasm
      ;;
    *)
      emcc_config "$relaxed"
      EM_CONFIG=$PWD/dist/obj/emcc.config build_relaxed
      ;;
  esac
}

# ---- the module and the page -------------------------------------------------------------------------------

bundle() {
  node_modules/.bin/esbuild --bundle --format=esm --target=es2022 --log-level=warning "$@"
}

build_module() {
  local sources=(src/js/*.js src/js/*/*.js dist/headlight.*.wasm package.json build.sh node_modules/.package-lock.json)
  stale dist/formats.js "${sources[@]}" || return 0
  say 'module: headlight.node.js headlight.js headlight.worker.js headlight.inline.js formats.js'
  bundle src/js/load/node.js --platform=node --outfile=dist/headlight.node.js
  bundle src/js/load/browser.js --outfile=dist/headlight.js
  bundle src/js/load/worker.js --outfile=dist/headlight.worker.js
  bundle src/js/load/inline.js --loader:.wasm=binary --outfile=dist/headlight.inline.js
  bundle src/js/io/formats.js --outfile=dist/formats.js
}

build_site() {
  local sources=(web/*/* src/js/*.js src/js/*/*.js dist/headlight.*.wasm build.sh node_modules/.package-lock.json)
  stale dist/site/index.html "${sources[@]}" || return 0
  say 'page: dist/site dist/headlight.html'
  mkdir -p dist/site
  local texts=(--loader:.css=text --loader:.html=text)
  bundle web/host/mount.js web/worker/worker.js "${texts[@]}" --minify --entry-names=[name] --outdir=dist/site
  bundle web/host/main.js --external:./mount.js --minify --outdir=dist/site
  cp web/train/learned.safetensors dist/site/
  cp dist/headlight.*.wasm dist/headlight.worker.js web/host/index.html dist/site/
  bundle web/host/main.js "${texts[@]}" --minify --outfile=dist/obj/main.js
  bundle web/worker/worker.inline.js --format=iife --log-override:empty-import-meta=silent --minify --loader:.wasm=binary --loader:.safetensors=binary --outfile=dist/obj/worker.inline.js
  "$node" web/host/onefile.js web/host/index.html dist/obj/main.js dist/obj/worker.inline.js dist/headlight.html
}

# Types come from the JSDoc, and are checked on the way.
build_types() {
  stale dist/types/load/node.d.ts src/js/*.js src/js/*/*.js tsconfig.json || return 0
  say 'types: dist/types'
  node_modules/.bin/tsc -p tsconfig.json
  touch dist/types/load/node.d.ts
}

build() {
  setup
  build_core
  build_module
}

# ---- tests -------------------------------------------------------------------------------------------------

# A clang with the runtimes of the sanitizers.
native_clang() {
  local clang
  for clang in clang-19 clang; do
    if have "$clang" && [[ -e $("$clang" -print-resource-dir)/lib/linux/libclang_rt.asan-$(uname -m).a ]]; then
      say "$clang"
      return
    fi
  done
}

# The core as native code under the address and undefined-behaviour sanitizers, with SIMDe for the vectors.
build_native() {
  local flavour flags
  stale dist/test/native.relaxed src/core/*.h src/core/*/* tests/core/native.c build.sh || return 0
  say 'core: native, with sanitizers'
  for flavour in simd128 relaxed; do
    flags=()
    if [[ $flavour == relaxed ]]; then flags=(-D__wasm_relaxed_simd__); fi
    "$(native_clang)" -std=c17 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-math-errno \
      -Wall -Wextra -Werror "${flags[@]}" src/core/*/*.c tests/core/native.c -Isrc/core -lm -o "dist/test/native.$flavour"
  done
}

run_tests() {
  local all=() module=()
  mapfile -t all < <(find tests -name node_modules -prune -o -name '*.test.js' -print | sort)
  mapfile -t module < <(find tests/core tests/js -name '*.test.js' | sort)
  say "tests: Node $("$node" --version), plain SIMD"
  "$node" --expose-gc --test --test-timeout=1800000 "${all[@]}"
  say "tests: Node $(node_modules/node/bin/node --version), relaxed SIMD"
  node_modules/node/bin/node --expose-gc --test --test-timeout=1800000 "${module[@]}"
}

# ---- benchmarks --------------------------------------------------------------------------------------------

# The peers have a lock-file of their own: only who measures needs them.
setup_bench() {
  need has_chromium chromium
  stale tests/bench/node_modules/.package-lock.json tests/bench/package-lock.json || return 0
  say 'setup: installing the packages to measure against'
  npm ci --prefix tests/bench --ignore-scripts --no-audit --no-fund --loglevel=error
}

# What a core can do at most, in each flavour.
build_peak() {
  local relaxed
  relaxed=$(relaxed_compiler)
  stale dist/bench/peak.relaxed.wasm tests/bench/peak.c src/core/base/simd.h build.sh dist/obj/toolchain || return 0
  mkdir -p dist/bench
  link_peak simd128
  case $relaxed in
    own) link_peak relaxed -mrelaxed-simd ;;
    none) cp dist/bench/peak.simd128.wasm dist/bench/peak.relaxed.wasm ;;
    *) EM_CONFIG=$PWD/dist/obj/emcc.config link_peak relaxed -mrelaxed-simd ;;
  esac
}

link_peak() {
  emcc "${COMPILE[@]}" "${@:2}" -c tests/bench/peak.c -o "dist/obj/$1/peak.o"
  emcc "${LINK[@]}" "dist/obj/$1/peak.o" -o "dist/bench/peak.$1.wasm"
}

# Arguments: those of tests/bench/run.js.
bench() {
  setup_bench
  build_peak
  "$node" tests/bench/run.js "$@"
}

# TensorFlow.js for Node comes without its gradients, which are modules for bundlers. Arguments: those of
# tests/bench/training.js.
bench_training() {
  setup_bench
  local gradients=tests/bench/node_modules/@tensorflow/tfjs-core/dist/register_all_gradients.js
  if stale dist/bench/gradients.js "$gradients"; then bundle "$gradients" --outfile=dist/bench/gradients.js; fi
  "$node" tests/bench/training.js "$@"
}

# ---- pictures ----------------------------------------------------------------------------------------------

# Letters of the languages that the page speaks. Arguments: those of tests/web/host/screenshots.js.
screenshots() {
  need has_chromium chromium has_chinese fonts-noto-cjk
  "$node" tests/web/host/screenshots.js "$@"
}

has_chinese() { [[ -n $(fc-list :lang=zh 2>/dev/null) ]]; }

# ---- verbs -------------------------------------------------------------------------------------------------

case ${1:-build} in
  build) build; build_site ;;
  start) build; build_site; exec "$node" web/host/serve.js "${@:2}" ;;
  test) setup_tests; build; build_site; build_types; build_native; bench --tiny; run_tests ;;
  bench) build; bench "${@:2}" ;;
  bench-limits) build; build_peak; "$node" tests/bench/limits.js ;;
  bench-backward) build; "$node" tests/bench/backward.js ;;
  bench-training) build; bench_training "${@:2}" ;;
  bench-page) build; build_site; need has_chromium chromium; "$node" tests/bench/explore.js ;;
  tasks) build; "$node" tests/bench/tasks.js "${@:2}" ;;
  screenshots) build; build_site; screenshots "${@:2}" ;;
  package) build; build_types ;;
  clean) rm -rf dist ;;
  *)
    say 'usage: ./build.sh [verb]
  build     the core, the module and the page, into dist/ (the default)
  start     build, serve the page and open it; --port N, --no-open
  test      build and run every test
  bench     measure it beside other packages; --only NAME, --no-chromium, --tiny
  bench-limits   how near it comes to what the processor can do
  bench-backward   attention forward and in reverse
  bench-training   measure training beside TensorFlow.js; --rounds N
  bench-page   how quickly the page answers, in Chromium
  tasks     trains every task of the page from three seeds; NAME…
  screenshots  every view at three widths, light and dark, into dist/screenshots; --readme
  package   what the npm package needs, types included
  clean     remove dist/'
    [[ $1 == help ]]
    ;;
esac
