// Starts the core: chooses the SIMD flavour, then fetches, compiles and instantiates the binary.

import { BUILD, type CoreExports, FINGERPRINT, VERSION } from '../../../dist/abi/abi.js';
import { checkOptions, readNumber } from '../check/arguments.ts';
import { argumentError, HeadlightError } from '../check/errors.ts';
import type { HubPlatform } from '../hub/types.ts';
import { Headlight } from '../index.ts';
import { formatBytes } from '../memory/formatBytes.ts';
import type { Threads } from '../memory/memory.ts';
import type { OpenPath } from '../models/checkpoint/files.ts';

import type { Host, Plan } from './threads.ts';

export type Flavour = 'simd128' | 'relaxed';
export type LoadOptions = {
  /**
   * default 1; 'auto': number of cores, at most 8. Without shared memory there is one thread, and `info.threadsNote`
   * says why
   */
  threads?: number | 'auto' | undefined;
  /** default 'auto', which means the fastest flavour that this engine supports */
  simd?: 'auto' | Flavour | undefined;
  /** the binary; default: the file next to the module */
  wasm?: URL | string | ArrayBuffer | ArrayBufferView | WebAssembly.Module | undefined;
  /** maximum bytes of the core's memory; default and upper limit: 4 GiB */
  maxMemory?: number | undefined;
};
export type Source = {
  binaries: Record<Flavour, URL | Uint8Array> & Partial<Record<`${Flavour}-threads`, URL>>;
  read: (url: URL) => Promise<Uint8Array>;
  resolve: (path: string) => URL;
  /** URL of the module, in whose folder the demo model is */
  module?: string | undefined;
  openPath?: OpenPath | undefined;
  /** default: the platform of a page */
  hub?: (() => Promise<HubPlatform>) | undefined;
};
export type Platform = Source & Host;
export type Opened = {
  source: unknown;
  module: WebAssembly.Module;
  memory?: WebAssembly.Memory | undefined;
  /** limit of the memory in bytes */
  limit: number;
  threads: number;
  /** reason if there are fewer threads than requested */
  note?: string | undefined;
};

/** Minimum of the option maxMemory, four pages of WebAssembly memory. */
const MIN_MEMORY = 4 * 65536;
const MAX_MEMORY = 2 ** 32;

/**
 * Modules that are valid only if the engine has a feature: functions with i32x4.splat, or f32x4.relaxed_madd on three
 * results of it.
 */
const SPLAT = [65, 0, 253, 17];
const PROBES = {
  simd128: probe([...SPLAT]),
  relaxed: probe([...SPLAT, ...SPLAT, ...SPLAT, 253, 133, 2]),
};

function probe(body: number[]) {
  const code = [0, ...body, 11];
  const section = [10, code.length + 2, 1, code.length, ...code];
  return new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, ...section]);
}

const compiled: Map<string, Promise<WebAssembly.Module>> = new Map();

/**
 * Starts an instance on a platform, for `load` of each entry. Importing has no side effects, so that a bundler can drop
 * unused code.
 */
export async function loadOn(platform: Platform, options: LoadOptions = {}): Promise<Headlight> {
  checkOptions('load', options, ['threads', 'simd', 'wasm', 'maxMemory']);
  const { threads = 1, simd = 'auto', wasm, maxMemory = MAX_MEMORY } = options;
  if (threads !== 'auto' && !(Number.isInteger(threads) && threads >= 1 && threads <= 64))
    throw argumentError('load', 'threads', threads, "'auto' or an integer from 1 to 64");
  readNumber('load', 'maxMemory', maxMemory, { least: MIN_MEMORY, most: MAX_MEMORY });
  const flavour = chooseFlavour(simd);
  // The layers and models are a separate chunk, which is loaded in parallel with the binary.
  const parts = import('../models/parts.ts').catch((cause: Error) => cause);
  const plan = threads === 1 ? { threads, maxMemory } : await planFor(threads, maxMemory, platform);
  const opened = await open(platform, flavour, wasm, plan);
  const core = await instantiate(opened.module, opened.memory, nameOf(opened.source));
  core.hl_memory_set_limit(opened.limit);
  const pool = await startThreads(opened, core, platform);
  return new Headlight(core, opened.memory ?? core.memory, pool, await parts, platform);
}

/** Imports the code for threads, which most callers do not use. */
const importThreads = () => import('./threads.ts');

/** Returns the plan of threads.ts, or a plan with one thread if the code for threads cannot be loaded. */
async function planFor(threads: number | 'auto', maxMemory: number, platform: Platform): Promise<Plan> {
  try {
    return (await importThreads()).planThreads(threads, maxMemory, platform);
  } catch (error) {
    return { threads: 1, maxMemory, note: `the code for threads was not loaded: ${message(error)}` };
  }
}

async function startThreads(
  { module, memory, threads, note }: Opened,
  core: CoreExports,
  { loadStartThread }: Platform,
): Promise<Threads> {
  if (!memory || threads === 1 || !loadStartThread) return { count: 1, note, fail() {}, stop() {} };
  const [{ Threads }, start] = await Promise.all([importThreads(), loadStartThread()]);
  const pool = new Threads(core);
  await pool.start(module, memory, threads, start);
  return pool;
}

/** Finds the binary, and the memory for threads. Falls back to one thread if there is no shared memory. */
async function open(
  platform: Platform,
  flavour: Flavour,
  wasm: LoadOptions['wasm'],
  { threads, maxMemory, note }: Plan,
): Promise<Opened> {
  const source =
    wasm !== undefined
      ? wasm
      : platform.binaries[threads > 1 ? (`${flavour}-threads` as `${Flavour}-threads`) : flavour];
  const module = await findModule(platform, source);
  if (!WebAssembly.Module.imports(module).some(({ kind }) => kind === 'memory')) {
    const why = threads > 1 ? 'the binary given as wasm was built without threads' : note;
    return { source, module, limit: maxMemory, threads: 1, note: why };
  }
  const { sharedMemory } = await importThreads();
  const shared = sharedMemory(maxMemory);
  if ('memory' in shared) return { source, module, ...shared, threads, note };
  const why = `the engine cannot allocate shared memory: ${message(shared.failure)}`;
  if (wasm === undefined) return open(platform, flavour, wasm, { threads: 1, maxMemory, note: why });
  throw new HeadlightError('OUT_OF_MEMORY', `load: ${why}`, { parameter: 'maxMemory', cause: shared.failure });
}

const nameOf = (source: unknown) =>
  typeof source === 'string' || source instanceof URL ? String(source) : 'the binary given as wasm';

async function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory | undefined, name: string) {
  let instance: WebAssembly.Instance;
  try {
    const imports: WebAssembly.Imports = memory
      ? { env: { memory }, host: { watch: (await importThreads()).makeWatch() } }
      : {};
    instance = await WebAssembly.instantiate(module, imports);
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new HeadlightError('OUT_OF_MEMORY', `load: the engine cannot allocate memory: ${cause.message}`, {
        parameter: 'maxMemory',
        cause,
      });
    throw new HeadlightError('LOAD', `load: the binary is not a Headlight core: ${message(cause)}`, {
      parameter: 'wasm',
      cause,
    });
  }
  const core = instance.exports as unknown as CoreExports;
  if (typeof core.hl_attention !== 'function' || typeof core.hl_simd !== 'function') {
    throw new HeadlightError('LOAD', 'load: the binary is not a Headlight core: it does not export hl_attention', {
      parameter: 'wasm',
    });
  }
  checkVersion(core, name);
  return core;
}

/** Throws if the binary was built from another header, because the offsets of arguments would not match. */
function checkVersion(core: CoreExports, name: string) {
  const hasVersion = typeof core.hl_abi === 'function' && typeof core.hl_version === 'function';
  const found = hasVersion ? core.hl_abi() >>> 0 : 0;
  if (found === FINGERPRINT) return;
  const number = hasVersion ? core.hl_version() : 0;
  const got = hasVersion
    ? formatVersion([number >>> 16, (number >> 8) & 255, number & 255].join('.'), found)
    : 'Headlight of an unknown version';
  const expected = formatVersion(VERSION, FINGERPRINT);
  throw new HeadlightError(
    'LOAD',
    `load: ${name} does not match this module: it is ${got}, expected ${expected}. ` +
      'Use the module and the .wasm of the same package',
    { parameter: 'wasm', expected, got },
  );
}

const formatVersion = (version: string, fingerprint: number) =>
  `Headlight ${version} (ABI ${fingerprint.toString(16).padStart(8, '0')})`;

function chooseFlavour(simd: 'auto' | Flavour): Flavour {
  if (simd !== 'auto' && simd !== 'simd128' && simd !== 'relaxed') {
    throw argumentError('load', 'simd', simd, "'auto', 'simd128' or 'relaxed'");
  }
  if (!WebAssembly.validate(PROBES.simd128)) {
    throw new HeadlightError(
      'LOAD',
      'load: this engine has no WebAssembly SIMD, which requires Node 16, Chrome 91, Firefox 89 or Safari 16.4',
    );
  }
  const relaxed = BUILD.RELAXED > 0 && WebAssembly.validate(PROBES.relaxed);
  if (simd === 'relaxed' && !relaxed) {
    const without = BUILD.RELAXED > 0 ? 'engine' : 'build';
    throw new HeadlightError('LOAD', `load: simd is 'relaxed', but this ${without} has no relaxed SIMD; use 'auto'`, {
      parameter: 'simd',
    });
  }
  return simd === 'auto' ? (relaxed ? 'relaxed' : 'simd128') : simd;
}

function findModule(platform: Platform, wasm: unknown): Promise<WebAssembly.Module> {
  if (wasm instanceof WebAssembly.Module) return Promise.resolve(wasm);
  if (
    wasm instanceof ArrayBuffer ||
    ArrayBuffer.isView(wasm) ||
    Object.prototype.toString.call(wasm) === '[object SharedArrayBuffer]'
  ) {
    return compile(wasm as Uint8Array<ArrayBuffer>, 'the bytes given as wasm');
  }
  if (typeof wasm !== 'string' && !(wasm instanceof URL)) {
    throw argumentError('load', 'wasm', wasm, 'a URL, a string, bytes, or a WebAssembly.Module');
  }
  const url = typeof wasm === 'string' ? platform.resolve(wasm) : wasm;
  let module = compiled.get(url.href);
  if (!module) {
    module = platform.read(url).then((bytes) => compile(bytes as Uint8Array<ArrayBuffer>, url.href));
    compiled.set(url.href, module);
    module.catch(() => compiled.delete(url.href));
  }
  return module;
}

async function compile(source: BufferSource, name: string) {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  if (bytes[0] !== 0 || bytes[1] !== 97 || bytes[2] !== 115 || bytes[3] !== 109) {
    const start = JSON.stringify(String.fromCharCode(...bytes.subarray(0, 16)));
    throw new HeadlightError(
      'LOAD',
      `load: ${name} is not WebAssembly: ${formatBytes(bytes.length)} that begin with ${start}. ` +
        'Serve the .wasm file itself next to the module, or pass { wasm: url }',
      { parameter: 'wasm', expected: '\\0asm', got: start },
    );
  }
  try {
    return await WebAssembly.compile(source as BufferSource);
  } catch (cause) {
    throw new HeadlightError(
      'LOAD',
      `load: ${name} (${formatBytes(bytes.length)}) does not compile: ${message(cause)}. It may be truncated, built ` +
        "for other features, or blocked by a Content-Security-Policy without 'wasm-unsafe-eval'",
      { parameter: 'wasm', cause },
    );
  }
}

const message = (error: unknown) => (error instanceof Error ? error.message : String(error));
