// Finds the tensor that stores a parameter, by the table of its family.

import type { Family, TensorSource } from '../families/common.ts';
import type { Resolved } from '../options.ts';
import type { Split } from './tensorLayout.ts';

const PROJECTION = /^(.*)\.(w|b)([qkvo])$/;

/** Splits a parameter's name into the layer in the table and its tensor. */
function splitName(name: string): [string, string] {
  const match = PROJECTION.exec(name);
  if (match) return [`${match[1]}.${match[3]}`, match[2] === 'w' ? 'weight' : 'bias'];
  const headNorm = /^(.*\.norm[QK])(Bias)?$/.exec(name);
  if (headNorm) return [headNorm[1], headNorm[2] ? 'bias' : 'weight'];
  const at = name.lastIndexOf('.');
  return [name.slice(0, at), name.slice(at + 1)];
}

function storedNames(from: string, part: string, prefix: string, number: string) {
  const name = (from.startsWith('/') ? from.slice(1) : prefix + from).replace('.L.', `.${number}.`);
  if (part === '') return [name];
  // In older files the weight of a norm is gamma, and its bias is beta.
  const old = part === 'weight' ? 'gamma' : 'beta';
  return /norm/i.test(name)
    ? [`${name}.${part}`, `${name}.${old}`]
    : [`${name}.${part}`, ...(part === 'weight' ? [name] : [])];
}

/** prefix: of the base model; name: of a parameter; returns names that its tensor may have, the usual name first */
export function sourceOf(
  family: Family,
  prefix: string,
  name: string,
): { source: TensorSource | undefined; names: string[] } {
  const [layer, part] = splitName(name);
  const withoutNumber = (key: string) => key.replace(/\.\d+\./, '.L.');
  const whole = layer === name ? undefined : family.names[withoutNumber(name)];
  const entry = whole ?? family.names[withoutNumber(layer)];
  const number = /(?:blocks|embedding\.layers)\.(\d+)\./.exec(name)?.[1] ?? '0';
  const source = typeof entry === 'string' ? { from: entry } : entry;
  const names = [source?.from, source?.also]
    .flat()
    .flatMap((from) => (from ? storedNames(from, whole ? '' : part, prefix, number) : []));
  return { source, names };
}

export function splitOf({ encoder, ...decoder }: Resolved, parameter: string): Split {
  const { headDim, numHeads, kvHeads } = parameter.startsWith('encoder.') && encoder ? encoder : decoder;
  return { headDim, sizes: [numHeads * headDim, kvHeads * headDim, kvHeads * headDim] };
}
