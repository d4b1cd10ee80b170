// Converts arrays to every accepted form.

export const count = (shape) => shape.reduce((a, b) => a * b, 1);
export const copyOf = ({ data, shape }) => ({ data: Float32Array.from(data), shape: [...shape] });

export function nest({ data, shape }) {
  let at = 0;
  const walk = (axis) =>
    axis === shape.length ? data[at++] : Array.from({ length: shape[axis] }, () => walk(axis + 1));
  return walk(0);
}

/** Returns an array in a random accepted form. Nested arrays without elements cannot represent every shape. */
export function inForm({ source, world }, { data, shape }) {
  const forms = [
    () => ({ data, shape }),
    () => ({ data, shape: Object.freeze([...shape]) }),
    () => world.keep(world.hl.tensor({ data, shape })),
    () => world.keep(world.hl.tensor({ data, shape })),
    () => ({ data: Array.from(data), shape }),
    () => ({ data: Float64Array.from(data), shape }),
    () => ({ data: Float32Array.from(data), dims: shape, type: 'float32' }),
    () => ({ shape, dtype: 'float32', data: () => Promise.resolve(data), dataSync: () => data }),
    () => ({ data: world.hold(world.hl.tensor({ data, shape })).data, shape }),
  ];
  if (count(shape) > 0) forms.push(() => nest({ data, shape }));
  return source.pick(forms)();
}

/** Returns an array of 0 and 1, or of small integers, in a random accepted form. */
export function integersInForm({ source }, { data, shape }, arrays) {
  const forms = [() => ({ data, shape }), () => ({ data: source.pick(arrays).from(data), shape })];
  forms.push(() => ({ data: BigInt64Array.from(data, BigInt), dims: shape, type: 'int64' }));
  if (count(shape) > 0) forms.push(() => nest({ data: Array.from(data), shape }));
  return source.pick(forms)();
}

export const SMALL = [Uint8Array, Int8Array, Int32Array, Uint16Array, Float64Array];
