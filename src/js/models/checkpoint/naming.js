// Where a parameter lies in the files of a family: what the tables of index.js say of it.

/** @import { Family, TensorSource } from '../families/common.js' */
/** @import { Resolved } from '../options.js' */
/** @import { Split } from './tensorLayout.js' */

const OF_ATTENTION = /^(.*)\.(w|b)([qkvo])$/;

/**
 * The name of the layer in the table, and of the tensor in it.
 * @param {string} name of a parameter
 * @returns {[string, string]}
 */
function splitName(name) {
  const product = OF_ATTENTION.exec(name);
  if (product) return [`${product[1]}.${product[3]}`, product[2] === 'w' ? 'weight' : 'bias'];
  if (/\.norm[QK]$/.test(name)) return [name, 'weight'];
  const at = name.lastIndexOf('.');
  return [name.slice(0, at), name.slice(at + 1)];
}

/** @param {string} from @param {string} part @param {string} prefix @param {string} number */
function storedNames(from, part, prefix, number) {
  const name = (from.startsWith('/') ? from.slice(1) : prefix + from).replace('.L.', `.${number}.`);
  if (part === '') return [name];
  // Older files call the weight of a norm gamma and its bias beta.
  const old = part === 'weight' ? 'gamma' : 'beta';
  return /norm/i.test(name)
    ? [`${name}.${part}`, `${name}.${old}`]
    : [`${name}.${part}`, ...(part === 'weight' ? [name] : [])];
}

/**
 * @param {Family} family
 * @param {string} prefix of the base model
 * @param {string} name of a parameter
 * @returns {{ source: TensorSource | undefined, names: string[] }} of its tensor, the usual name first
 */
export function sourceOf(family, prefix, name) {
  const [layer, part] = splitName(name);
  const general = (/** @type {string} */ key) => key.replace(/\.\d+\./, '.L.');
  const whole = layer === name ? undefined : family.names[general(name)];
  const entry = whole ?? family.names[general(layer)];
  const number = /blocks\.(\d+)\./.exec(name)?.[1] ?? '0';
  const source = typeof entry === 'string' ? { from: entry } : entry;
  const names = [source?.from, source?.also]
    .flat()
    .flatMap((from) => (from ? storedNames(from, whole ? '' : part, prefix, number) : []));
  return { source, names };
}

/** @param {Resolved} options @param {string} parameter @returns {Split} */
export function splitOf({ encoder, ...decoder }, parameter) {
  const { headDim, numHeads, kvHeads } = parameter.startsWith('encoder.') && encoder ? encoder : decoder;
  return { headDim, sizes: [numHeads * headDim, kvHeads * headDim, kvHeads * headDim] };
}
