// Metrics: numbers computed from the logits of a run, with their gradients.

import { readNumber } from '../check/arguments.ts';
import { HeadlightError } from '../check/errors.ts';

import type { Parameter } from './arrays.ts';
import type { Metric } from './patching/pairs.ts';

const LABEL = { integer: true, least: 0 };

function present(caller: string, logits: Parameter | undefined): Parameter {
  if (logits) return logits;
  throw new HeadlightError('ARGUMENT', `${caller}: the result has no logits`, { parameter: 'logits' });
}

/**
 * Returns the logits of one token of the first sequence (…,T,V), and a function that makes a gradient, zero at other
 * tokens. labels: to validate, by the names of their parameters.
 */
function rowOf(
  caller: string,
  given: Parameter | undefined,
  token: number,
  labels: Record<string, number | undefined>,
) {
  const { data, shape } = present(caller, given);
  const [rows, classes] = shape.slice(-2);
  readNumber(caller, 'token', token, { integer: true, least: -rows, most: rows - 1 });
  for (const [name, label] of Object.entries(labels))
    if (label !== undefined) readNumber(caller, name, label, { ...LABEL, most: classes - 1 });
  const start = (token < 0 ? rows + token : token) * classes;
  return {
    row: data.subarray(start, start + classes),

    /** write: writes into the row of the token, which is zero */
    gradient(write: (gradient: Float32Array) => void) {
      const all = new Float32Array(data.length);
      write(all.subarray(start, start + classes));
      return { data: all, shape: [...shape] };
    },
  };
}

/** A logit of a token (default −1, the last), minus the logit of the label `against` if that is set. */
export function logitDifference(label: number, against?: number, token = -1): Metric {
  const caller = 'logitDifference';
  readNumber(caller, 'label', label, LABEL);
  if (against !== undefined) readNumber(caller, 'against', against, LABEL);
  readNumber(caller, 'token', token, { integer: true });
  const read = (logits: Parameter) => rowOf(caller, logits, token, { label, against });
  const metric = ({ logits }: { logits: Parameter }) => {
    const { row } = read(logits);
    return row[label] - (against === undefined ? 0 : row[against]);
  };
  metric.gradient = ({ logits }: { logits: Parameter }) =>
    read(logits).gradient((gradient) => {
      gradient[label] += 1;
      if (against !== undefined) gradient[against] -= 1;
    });
  return metric;
}

/** The probability of a label at a token (default −1, the last). */
export const probability = (label: number, token?: number): Metric =>
  ofProbability('probability', label, token, { value: Math.exp, slope: Math.exp });

/** The natural logarithm of the probability of a label at a token (default −1, the last). */
export const logProbability = (label: number, token?: number): Metric =>
  ofProbability('logProbability', label, token, { value: (x) => x, slope: () => 1 });

/**
 * Returns a metric, a function of ln p, where p is the probability of `label`. The derivative of ln p with respect to
 * the logit of `label` is 1 − p; with respect to every other logit it is minus the probability of that label.
 */
function ofProbability(
  caller: string,
  label: number,
  token: number | undefined = -1,
  { value, slope }: { value: (x: number) => number; slope: (x: number) => number },
) {
  readNumber(caller, 'label', label, LABEL);
  readNumber(caller, 'token', token, { integer: true });
  const read = (logits: Parameter) => {
    const found = rowOf(caller, logits, token, { label });
    const most = found.row.reduce((a, b) => Math.max(a, b), -Infinity);
    const sum = most + Math.log(found.row.reduce((total, x) => total + Math.exp(x - most), 0));
    return { ...found, sum, log: found.row[label] - sum };
  };
  const metric = ({ logits }: { logits: Parameter }) => value(read(logits).log);
  metric.gradient = ({ logits }: { logits: Parameter }) => {
    const { row, gradient, sum, log } = read(logits);
    return gradient((to) => {
      for (let i = 0; i < row.length; i++) to[i] = slope(log) * (Number(i === label) - Math.exp(row[i] - sum));
    });
  };
  return metric;
}
