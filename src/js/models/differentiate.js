// Computes gradients of a metric, or of named values, with respect to named values of one run.

import { readNumber, readOptions, readRecord } from '../check/arguments.js';
import { argumentError, HeadlightError, shapeError } from '../check/errors.js';
import { formatShape, sameShape } from '../check/shape.js';
import { DISPOSE } from '../memory/disposable.js';
import { viewOf } from '../memory/tensor.js';
import { readArray } from '../ops/state.js';
import { forEachElement, keysOf, readName, readOperand } from './edits.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Edit, Numbers } from './edits.js' */
/** @import { ModelResult } from './modelResult.js' */
/** @import { Resolved } from './options.js' */
/** @import { Tape } from './tape.js' */
/** @import { ValueName } from './valueName.js' */

/**
 * A number computed from the result of a run. gradient: its derivative with respect to the logits, in their shape.
 * @typedef {{ (result: any): number, gradient?: (result: any) => TensorLike }} DifferentiableMetric
 */
/**
 * @typedef {object} DifferentiateOptions
 * @property {DifferentiableMetric | Readonly<Record<string, TensorLike>>} of the quantity to differentiate: a metric
 *   with a gradient, or the sum of cotangent · value over named values. A cotangent broadcasts to the shape of its
 *   value
 * @property {readonly ValueName[]} at the values to differentiate with respect to: 'embed', 'blocks.*.heads' …
 * @property {readonly Edit[]} [edit] changes of values; gradients are those of the edited values
 * @property {number} [straight] index of a block that passes the gradient of its output to its input unchanged, so that
 *   all gradients inside the block are 0
 */
/**
 * @typedef {object} ReadDifferentiate
 * @property {DifferentiableMetric} [metric]
 * @property {Map<string, Numbers>} cotangents by the names of values
 * @property {ReadonlySet<string>} at
 * @property {ValueName[]} capture
 * @property {readonly Edit[] | undefined} edit
 * @property {number} [straight]
 * @property {number} [blocks] number of blocks that must be computed; default: all blocks and the head
 */

/**
 * @param {string} caller
 * @param {Resolved} options of the model
 * @param {DifferentiateOptions} given
 * @param {ArrayBufferLike} memory
 * @returns {ReadDifferentiate}
 */
export function readDifferentiate(caller, options, given, memory) {
  const { of, at, edit, straight: block } = readOptions(caller, given, ['of', 'at', 'edit', 'straight']);
  const called = Array.isArray(edit) ? edit.findIndex((one) => one?.change !== undefined) : -1;
  if (called >= 0)
    throw argumentError(caller, `edit[${called}].change`, edit?.[called].change, 'none, as its gradient is not known');
  if (!Array.isArray(at)) throw argumentError(caller, 'at', at, 'a list of names');
  at.forEach((name, i) => void readName(caller, `at[${i}]`, name, options, true));
  const straight =
    block === undefined
      ? undefined
      : readNumber(caller, 'straight', block, { integer: true, least: 0, most: options.layers - 1 });
  const metric = typeof of === 'function' ? of : undefined;
  if (metric && typeof metric.gradient !== 'function')
    throw argumentError(caller, 'of', of, 'a metric with a gradient: of.gradient(result) returns ∂of/∂logits');
  /** @type {Map<string, Numbers>} */
  const cotangents = new Map();
  if (!metric)
    for (const [name, value] of readRecord(
      caller,
      'of',
      of,
      'a metric, or an object of cotangents by names of values',
    )) {
      const parameter = `of.${name}`;
      readName(caller, 'of', name, options);
      if (name.includes('*')) throw argumentError(caller, 'of', name, 'names without *');
      if (straight !== undefined && new RegExp(`^blocks\\.${straight}\\.(?!in$|out$)`).test(name))
        throw argumentError(caller, 'of', name, `a value outside block ${straight}, which the option straight skips`);
      cotangents.set(name, readArray(caller, parameter, value, memory));
    }
  const capture = [...at, .../** @type {Iterable<ValueName>} */ (cotangents.keys())];
  const blocks = metric ? undefined : blocksFor(capture, options.layers);
  return { metric, cotangents, at: new Set(at), capture, edit, straight, blocks };
}

/**
 * Returns the number of blocks that must be computed for all named values, or undefined if the head is needed too.
 * @param {readonly unknown[]} names
 * @param {number} layers
 */
function blocksFor(names, layers) {
  let count = 0;
  for (const name of names.map(String)) {
    if (name === 'logits' || name.startsWith('pool')) return undefined;
    if (name.startsWith('encoder.') || name === 'embed') continue;
    const block = /^blocks\.(\d+)\./.exec(name)?.[1];
    count = Math.max(count, block === undefined ? layers : Number(block) + 1);
  }
  return count;
}

/** The values and gradients that differentiate() returns. dispose() frees all of them. */
export class Differentiated {
  /**
   * @param {Record<string, Tensor>} captured
   * @param {Record<string, Tensor>} gradients
   * @param {{ value: number, logits: Tensor }} [measured]
   */
  constructor(captured, gradients, measured) {
    /** The value of the metric. @type {number | undefined} */
    this.value = measured?.value;
    /** The logits of the run, if a metric is differentiated. @type {Tensor | undefined} */
    this.logits = measured?.logits;
    /** The values by name. @type {Record<string, Tensor>} */
    this.captured = captured;
    /** The gradients with respect to the values, by the names of the values. @type {Record<string, Tensor>} */
    this.gradients = gradients;
  }

  dispose() {
    const { logits, captured, gradients } = this;
    for (const tensor of [...Object.values(captured), ...Object.values(gradients)]) tensor.dispose();
    logits?.dispose();
  }

  [DISPOSE]() {
    this.dispose();
  }
}

/**
 * Computes the gradients of a recorded run.
 * @param {string} caller
 * @param {Tape} tape
 * @param {ModelResult} result
 * @param {ReadDifferentiate} given
 */
export function gradientsOf(caller, tape, result, { metric, cotangents, at }) {
  const measured = metric && measure(caller, tape, result, metric);
  /** @type {[Tensor, Tensor][]} */
  const outputs = measured ? [[measured.logits, measured.gradient]] : [];
  for (const [name, numbers] of cotangents) {
    const value = result.captured[name];
    if (!value) throw argumentError(caller, 'of', name, 'a value that this model computes');
    outputs.push([value, cotangentOf(caller, tape, `of.${name}`, numbers, value)]);
  }
  tape.backward(outputs);
  // Several values may share one gradient tensor, so each gradient is copied. Each captured value has a tensor of its
  // own.
  return tape.memory.scope(() => {
    /** @type {Record<string, Tensor>[]} */
    const [captured, gradients] = [{}, {}];
    for (const [name, value] of Object.entries(result.captured)) {
      if (!keysOf(name).some((key) => at.has(key))) continue;
      captured[name] = tape.memory.scoped(tape.release(value));
      gradients[name] = copyOf(tape, tape.gradient(value), value.shape);
    }
    return new Differentiated(
      captured,
      gradients,
      measured && { ...measured, logits: copyOf(tape, measured.logits, measured.logits.shape) },
    );
  });
}

/**
 * Returns a copy that the caller owns, or zeros if there is no tensor.
 * @param {Tape} tape
 * @param {Tensor | undefined} x
 * @param {readonly number[]} shape
 */
function copyOf({ memory, caller }, x, shape) {
  const copy = memory.empty([...shape], caller);
  if (x) viewOf(copy).set(viewOf(x));
  else viewOf(copy).fill(0);
  return copy;
}

/**
 * @param {string} caller
 * @param {Tape} tape
 * @param {ModelResult} result
 * @param {DifferentiableMetric} metric
 */
function measure(caller, tape, result, metric) {
  const { logits } = result;
  if (!logits)
    throw new HeadlightError('ARGUMENT', `${caller}: this model has no logits, so a metric cannot be differentiated`, {
      parameter: 'of',
    });
  const value = readNumber(caller, 'the result of the metric', metric(result));
  const given = /** @type {NonNullable<typeof metric.gradient>} */ (metric.gradient)(result);
  const { shape, floats } = readArray(caller, 'of.gradient', given, tape.memory.buffer);
  if (!sameShape(shape, logits.shape)) throw shapeError(caller, 'of.gradient', shape, formatShape(logits.shape));
  return { value, logits, gradient: tape.from(shape, floats) };
}

/**
 * Returns the cotangent, broadcast to the shape of its value. It is 0 at the score of a masked key, which is −∞.
 * @param {string} caller
 * @param {Tape} tape
 * @param {string} parameter
 * @param {Numbers} numbers
 * @param {Tensor} value
 * @returns {Tensor}
 */
function cotangentOf(caller, tape, parameter, numbers, value) {
  const at = readOperand(caller, parameter, numbers, value.shape);
  const cotangent = tape.make(value.shape);
  const [to, values] = [viewOf(cotangent), viewOf(value)];
  forEachElement({}, value.shape, {}, 0, (i, index) => void (to[i] = values[i] === -Infinity ? 0 : at(index)));
  return cotangent;
}
