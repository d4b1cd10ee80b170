// Converts errors of the Hub and of opening a model to problems, for which the page has texts in every language.

import type { ProblemValue } from '../../model/protocol/protocol.ts';
import { reasonOf } from './fileContents.ts';
import { Problem } from './problem.ts';

/** Maximum files or revisions that a problem lists. */
const MAX_LISTED = 5;

const listed = (expected: unknown) => (Array.isArray(expected) ? expected.slice(0, MAX_LISTED).join(', ') : '');

/** Returns a Problem, or the error itself if the request was cancelled. */
export function hubProblem(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof Problem || thrown.name === 'AbortError') return thrown;
  const error = thrown as Error & {
    code?: string;
    reason?: string;
    page?: string;
    parameter?: string;
    expected?: unknown;
    got?: unknown;
  };
  const { code, reason, page = '', parameter, expected, got } = error;
  const values: Record<string, ProblemValue[]> = {
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
