# Installs the tools that the build needs, with apt and npm where that is possible. Otherwise one message lists them.
# Sourced by build.sh, in the root, with $node set.

say() { printf '%s\n' "$@"; }
stop() { printf 'headlight: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# emcc starts Python for every file, and a pyenv python3 on PATH starts slowly, so emcc uses the system's python3.
if [[ -x /usr/bin/python3 ]]; then export EMSDK_PYTHON=${EMSDK_PYTHON:-/usr/bin/python3}; fi

has_node() { have "$node" && "$node" -e 'process.exitCode = Number(parseInt(process.versions.node) < 20)'; }
has_emcc() { have emcc; }
has_make() { have make; }
has_cc() { have "${CC:-cc}"; }
has_headless_shell() { have chromium-headless-shell; }
has_chromium() { has_headless_shell || have chromium || have chromium-browser || have google-chrome; }
has_firefox() { have firefox-esr || have firefox; }
has_relaxed() { [[ -n $(newer_llvm) ]] || knows_relaxed; }
has_sanitizers() { [[ -n $(sanitizing_clang) ]]; }
C_TOOLS='clang-format-19 clang-tidy-19'
has_c_tools() { have clang-format-19 && have clang-tidy-19; }
has_onnx() { /usr/bin/python3 -c 'import onnx' 2>/dev/null; }
has_torch() { /usr/bin/python3 -c 'import importlib.util as u; exit(not u.find_spec("torch"))' 2>/dev/null; }
has_chinese() { [[ -n $(fc-list :lang=zh 2>/dev/null) ]]; }

can_install() { [[ $EUID -eq 0 ]] && have apt-get; }

# Installs packages with apt. Waits up to ten minutes while another program installs packages.
install_packages() {
  apt-get update &&
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "$@"
}

# Installs the packages whose check fails. Arguments: pairs of a check and the Debian packages with which it succeeds.
need() {
  local missing=() packages
  while (($#)); do
    read -ra packages <<<"$2"
    if ! "$1"; then missing+=("${packages[@]}"); fi
    shift 2
  done
  ((${#missing[@]})) || return 0
  if ! can_install; then
    stop "please install ${missing[*]} (on Debian and Ubuntu: sudo apt install ${missing[*]}), then run this again"
  fi
  say "setup: installing ${missing[*]} with apt"
  mkdir -p dist
  if ! install_packages "${missing[@]}" >dist/setup.log 2>&1; then
    tail -n 20 dist/setup.log >&2
    stop "apt could not install ${missing[*]}; the whole log is dist/setup.log"
  fi
}

# Installs a browser. The headless shell opens a page in half the time of Chromium. Chromium suffices if nothing can be
# installed.
need_chromium() {
  if can_install; then need has_headless_shell chromium-headless-shell; fi
  need has_chromium chromium-headless-shell
}

# Installs npm packages if the lock-file is newer than the installed ones. Arguments: the folder of the lock-file,
# options for npm.
need_npm() {
  local folder=$1
  shift
  [[ $folder/package-lock.json -nt $folder/node_modules/.package-lock.json ]] || return 0
  say "setup: installing npm packages from ${folder#./}/package-lock.json"
  npm ci --prefix "$folder" --no-audit --no-fund --loglevel=error "$@"
}

# Prints the folder of an LLVM that supports relaxed SIMD, or nothing if there is none.
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

# True if emcc supports relaxed SIMD. LLVM 14 accepts the flag but not the instructions, so this check compiles one.
knows_relaxed() {
  printf '#include <wasm_simd128.h>\nv128_t f(v128_t a) { return wasm_f32x4_relaxed_madd(a, a, a); }\n' |
    emcc -msimd128 -mrelaxed-simd -Werror -x c -c - -o /dev/null >/dev/null 2>&1
}

# Prints a clang that has the runtimes of the sanitizers, or nothing if there is none.
sanitizing_clang() {
  local clang
  for clang in clang-19 clang; do
    if have "$clang" && [[ -e $("$clang" -print-resource-dir)/lib/linux/libclang_rt.asan-$(uname -m).a ]]; then
      say "$clang"
      return
    fi
  done
}

# Prints the configuration file with which emcc uses a newer LLVM. Argument: the folder of LLVM's programs.
emcc_config() {
  say "EMSCRIPTEN_ROOT = '$(dirname "$(readlink -f "$(command -v emcc)")")'
LLVM_ROOT = '$1'
BINARYEN_ROOT = '/usr'
NODE_JS = '$(command -v "$node")'
LLVM_ADD_VERSION = CLANG_ADD_VERSION = ''
FROZEN_CACHE = True"
}

# Writes dist/obj/toolchain.mk, which has the command of the emcc that builds the relaxed flavours, if there is one. The
# first line describes the toolchain. The file is written again only for another toolchain, because everything that
# depends on the file is then made again.
find_toolchain() {
  local llvm toolchain relaxed file=dist/obj/toolchain.mk
  llvm=$(newer_llvm)
  toolchain="# $(readlink -f "$(command -v emcc)") ${EM_CONFIG:-} $llvm"
  if [[ -e $file && $(head -n 1 $file) == "$toolchain" && ! src/build/setup.sh -nt $file ]]; then return; fi
  mkdir -p dist/obj
  if knows_relaxed; then
    relaxed=emcc
  elif [[ -n $llvm ]]; then
    emcc_config "$llvm" >dist/obj/emcc.config
    relaxed='EM_CONFIG=dist/obj/emcc.config emcc'
  else
    say 'setup: no LLVM 18 or newer for relaxed SIMD: there is the plain core only'
    rm -f dist/*.relaxed*.wasm dist/*/*.relaxed*.wasm
  fi
  say "$toolchain" 'EMCC = emcc' "RELAXED_EMCC = ${relaxed:-}" >$file
}

# Prints the flavour for tests that need only one. It is the flavour that `load` prefers.
one_flavour() { if grep -q '^RELAXED_EMCC = .' dist/obj/toolchain.mk; then say relaxed; else say simd128; fi; }

setup() {
  if ! has_node || ! have npm; then stop "please install Node 20 or newer with npm"; fi
  need has_emcc emscripten has_make make
  # Without a newer LLVM only the plain core is built, so an LLVM is installed only if that needs no confirmation.
  if can_install; then need has_relaxed 'clang-19 lld-19 llvm-19'; fi
  need_npm .
  find_toolchain
}

# Installs what the default tests need.
setup_tests() {
  setup
  need_chromium
}

# Installs what all tests need.
setup_all_tests() {
  setup
  need_chromium
  need has_firefox firefox-esr has_sanitizers 'clang-19 libclang-rt-19-dev' \
    has_relaxed 'clang-19 lld-19 llvm-19'
  setup_bundlers
  # Optional: without PyTorch, the tests that train in it are skipped.
  if can_install; then need has_torch python3-torch; fi
  find_toolchain
}

# Bundlers that only the tests of the package need.
setup_bundlers() { need_npm tests/adopt --ignore-scripts; }

# The packages that the benchmarks compare have their own lock-file, because only the benchmarks need them.
setup_bench() {
  need_chromium
  need_npm tests/bench --ignore-scripts
}
