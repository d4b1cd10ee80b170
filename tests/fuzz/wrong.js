// Invalid arguments, and functions that replace a valid argument by an invalid one.

class Pretender {
  get length() {
    return 2 ** 20;
  }
}

/** The error that the getters of the tests throw. The caller of the module must receive this error. */
export const MINE = new RangeError('thrown by a getter');

const deep = () => {
  let nested = 1;
  for (let i = 0; i < 5000; i++) nested = [nested];
  return nested;
};
const cyclic = () => {
  const list = [1];
  list.push(list);
  return list;
};
const detached = () => {
  const array = new Float32Array(4);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
};
const throwing = () => ({
  get data() {
    throw MINE;
  },
  shape: [1],
});
const hostile = () =>
  new Proxy([1, 2], {
    get(list, name) {
      if (name === '1') throw MINE;
      return Reflect.get(list, name);
    },
  });

const VALUES = [
  ...[undefined, null, true, false, NaN, 0, -0, 1, -1, 0.5, 3, 1e39, -1e39, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 31)],
  ...[Infinity, -Infinity, 5n, 2n ** 70n, '', '1', 'raw', 'mean', 'toString', '__proto__', Symbol('s')],
];
const MAKERS = [
  () => ({}),
  () => [],
  () => [[]],
  () => [null],
  () => ['1', null, []],
  () => new Array(3),
  () => [[1, 2], [3]],
  () => [1, [2]],
  () => new Map([['a', 1]]),
  () => new Set([1]),
  () => new Date(0),
  () => /x/,
  () => Promise.resolve(1),
  () => () => 1,
  () => new ArrayBuffer(8),
  () => new DataView(new ArrayBuffer(8)),
  () => new Float32Array(0),
  () => new Float32Array(7),
  () => new Uint16Array(4),
  () => new BigInt64Array(2),
  () => Object.defineProperty(new Float32Array(2), 'length', { value: 2 ** 20 }),
  () => Object.create(null),
  () => new Pretender(),
  () => ({ length: 3 }),
  () => ({ data: [1, 2, 3], shape: [3] }),
  () => ({ data: new Float32Array(3), shape: [2, 2] }),
  () => ({ data: new Float32Array(0), shape: [2 ** 31 - 1, 0, 4] }),
  () => ({ data: new Float32Array(0), shape: [2 ** 31, 0] }),
  () => ({ data: [1], shape: [-1] }),
  () => ({ data: new Uint16Array(4), dims: [4] }),
  () => ({ data: 'x', shape: [1] }),
  () => ({ ['__proto__']: 1 }),
  () => JSON.parse('{"__proto__": 1}'),
  () => new Proxy({}, { ownKeys: () => ['a'] }),
  deep,
  cyclic,
  detached,
  throwing,
  hostile,
];

/**
 * Returns a value that is rarely valid. `more` has further values, such as tensors of other instances and disposed
 * ones.
 */
export function wrongValue(source, more) {
  if (source.chance(0.2) && more.length > 0) return source.pick(more);
  return source.chance(0.5) ? source.pick(VALUES) : source.pick(MAKERS)();
}

const isPlain = (value) =>
  value !== null &&
  typeof value === 'object' &&
  [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value));

/** Replaces, removes or extends one part of the arguments, at a random depth. */
export function spoil(source, args, more) {
  const at = source.below(args.length + 1);
  if (at === args.length) return source.chance(0.5) ? args.slice(0, -1) : [...args, wrongValue(source, more)];
  return args.map((arg, i) => (i === at ? spoilValue(source, arg, more) : arg));
}

function spoilValue(source, value, more) {
  if (!isPlain(value) || source.chance(0.25)) return wrongValue(source, more);
  if (Array.isArray(value)) {
    if (value.length === 0) return [wrongValue(source, more)];
    const at = source.below(value.length);
    return value.map((item, i) => (i === at ? spoilValue(source, item, more) : item));
  }
  const names = [...Object.keys(value), 'other'];
  const name = source.pick(names);
  return { ...value, [name]: spoilValue(source, value[name], more) };
}
