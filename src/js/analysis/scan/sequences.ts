// Reads the sequences of a scan: texts, or lists of ids.

import { argumentError, HeadlightError } from '../../check/errors.ts';
import { quote } from '../../check/quote.ts';

import type { NamedModel } from '../tokenNames.ts';

/** Number of texts that are tokenized before the function yields to the event loop. */
const TEXTS_AT_ONCE = 64;

/** Returns the ids of each sequence, truncated to the context. Throws if no sequence has two tokens or more. */
export async function readSequences(
  caller: string,
  model: NamedModel & { options: { context?: number; vocab?: number } },
  sequences: readonly (string | ArrayLike<number>)[],
  signal?: AbortSignal,
): Promise<Int32Array[]> {
  if (!Array.isArray(sequences) || sequences.length === 0)
    throw argumentError(caller, 'sequences', sequences, 'a list of texts or of lists of ids, at least one');
  const { context = Infinity, vocab = Infinity } = model.options;
  const read: Int32Array[] = [];
  for (const [n, sequence] of sequences.entries()) {
    if (n > 0 && n % TEXTS_AT_ONCE === 0 && typeof sequence === 'string') {
      await new Promise((resolve) => setTimeout(resolve));
      signal?.throwIfAborted();
    }
    const ids = typeof sequence === 'string' ? encode(caller, model, sequence) : sequence;
    if (!Array.isArray(ids) && !(ArrayBuffer.isView(ids) && 'length' in ids)) {
      const text = `${caller}: sequences[${n}] is ${quote(sequence)}, expected a text or a list of ids`;
      throw new HeadlightError('ARGUMENT', text, { parameter: 'sequences', got: sequence });
    }
    const count = Math.min((ids as ArrayLike<unknown>).length, context);
    const cut = Array.from({ length: count }, (_, i) => {
      const id = (ids as ArrayLike<unknown>)[i];
      return typeof id === 'bigint' ? Number(id) : (id as number);
    });
    const wrong = cut.findIndex((id) => !(Number.isInteger(id) && id >= 0 && id < vocab));
    if (wrong >= 0)
      throw new HeadlightError(
        'ARGUMENT',
        `${caller}: sequences[${n}][${wrong}] is ${quote(cut[wrong])}, expected an id from 0 to ${vocab - 1}`,
        { parameter: 'sequences', expected: vocab, got: cut[wrong] },
      );
    read.push(Int32Array.from(cut));
  }
  if (read.some(({ length }) => length >= 2)) return read;
  const text = `${caller}: no sequence has two tokens or more, so there are no weights to measure`;
  throw new HeadlightError('ARGUMENT', text, { parameter: 'sequences', got: read.map(({ length }) => length) });
}

function encode(caller: string, model: NamedModel, text: string) {
  if (model.tokenizer && model.encode) return model.encode(text).ids;
  const why = model.tokenizerProblem ? `: ${model.tokenizerProblem}` : '';
  const message = `${caller}: a text is given, but this model has no tokenizer${why}; set model.tokenizer`;
  throw new HeadlightError('ARGUMENT', message, { parameter: 'sequences', got: text });
}
