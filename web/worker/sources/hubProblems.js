// Converts errors of the Hub and of opening a model to problems, for which the page has texts in every language.

import { reasonOf } from './fileContents.js';
import { Problem } from './problem.js';

/** @import { ProblemValue } from '../../store/protocol.js' */

/** Maximum files or revisions that a problem lists. */
const MAX_LISTED = 5;

/** @param {unknown} expected */
const listed = (expected) => (Array.isArray(expected) ? expected.slice(0, MAX_LISTED).join(', ') : '');

/** @param {unknown} thrown @returns {unknown} a Problem, or the error itself if the request was cancelled */
export function hubProblem(thrown) {
  if (!(thrown instanceof Error) || thrown instanceof Problem || thrown.name === 'AbortError') return thrown;
  const error = /** @type {Error & { code?: string, reason?: string, page?: string, parameter?: string,
    expected?: unknown, got?: unknown }} */ (thrown);
  const { code, reason, page = '', parameter, expected, got } = error;
  /** @type {Record<string, ProblemValue[]>} */
  const values = {
    gated: [page],
    notFound: [],
    revision: [listed(expected)],
    entry: [listed(expected)],
    token: [],
    rateLimit: [],
    offline: [],
    network: [],
    server: [reasonOf(error)],
    changed: [],
  };
  if (reason && Object.hasOwn(values, reason)) return new Problem(`hub_${reason}`, ...values[reason]);
  if (code === 'ARGUMENT' && parameter === 'files') return new Problem('hub_name', String(got));
  if (code === 'OUT_OF_MEMORY') return new Problem('memory');
  if (parameter === 'model_type') return new Problem('unknownFamily', String(got));
  return new Problem('checkpoint', reasonOf(error));
}
