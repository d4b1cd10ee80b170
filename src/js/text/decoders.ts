// Decoders change the list of tokens. At the end the tokens are concatenated.

import { HeadlightError } from '../check/errors.ts';
import { decodeUtf8, fromByteChars } from './bytelevel.ts';
import type { Fields } from './fields.ts';
import { type Pattern, readPattern } from './pattern.ts';
import { readPrepend } from './splitters.ts';

/** characters that may still be added */
export type Budget = { left: number };
export type Decoder = (tokens: string[], budget: Budget) => string[];

/** Replacements of the option cleanup, which remove spaces that the tokenization of English has added. */
const CLEANUP: [string, string][] = [
  [' .', '.'],
  [' ?', '?'],
  [' !', '!'],
  [' ,', ','],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [' do not', " don't"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
];
/** Matches every text to which CLEANUP applies. */
const NEEDS_CLEANUP = / [.?!,'nd]/;
const BYTE = /^<0x([0-9A-Fa-f]{2})>$/;

/** Maximum characters that are added per character of the tokens, and to a text of any length. */
const MAX_GROWTH = 8;
const FREE_GROWTH = 2 ** 14;

const lengthOf = (tokens: readonly string[]) => tokens.reduce((sum, token) => sum + token.length, 0);

/** Returns the number of characters that decoders may add to these tokens. */
export const growthLimit = (tokens: readonly string[]): Budget => ({
  left: MAX_GROWTH * lengthOf(tokens) + FREE_GROWTH,
});

function spend(budget: Budget, added: number) {
  budget.left -= added;
  if (budget.left >= 0) return;
  throw new HeadlightError('FORMAT', `decode: the tokenizer makes the text more than ${MAX_GROWTH} times longer`, {
    parameter: 'ids',
  });
}

/** Returns a decoder that also subtracts the growth of the text from the budget. */
const counted =
  (decoder: Decoder): Decoder =>
  (tokens, budget) => {
    const decoded = decoder(tokens, budget);
    spend(budget, Math.max(0, lengthOf(decoded) - lengthOf(tokens)));
    return decoded;
  };

const each = (change: (token: string, i: number) => string): Decoder => counted((tokens) => tokens.map(change));

export const clean = (text: string) =>
  NEEDS_CLEANUP.test(text) ? CLEANUP.reduce((result, [from, to]) => result.replaceAll(from, to), text) : text;

function wordPiece(fields: Fields): Decoder {
  const prefix = fields.string('prefix', '##');
  const cleanup = fields.boolean('cleanup', true);
  return each((token, i) => {
    const text = i === 0 ? token : token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`;
    return cleanup ? clean(text) : text;
  });
}

function metaspace(fields: Fields): Decoder {
  const char = fields.string('replacement', '▁');
  const first = readPrepend(fields) === 'never' ? ' ' : '';
  return each((token, i) => token.replaceAll(char, i === 0 ? first : ' '));
}

function replace(fields: Fields): Decoder {
  const pattern = readPattern(fields, 'pattern');
  const content = fields.string('content');
  if (!pattern) return (tokens) => tokens;
  return (tokens, budget) => {
    /** Results by token. Most tokens of a text occur several times. */
    const cache: Map<string, { text: string; added: number }> = new Map();
    return tokens.map((token) => {
      let replaced = cache.get(token);
      if (replaced) spend(budget, replaced.added);
      else cache.set(token, (replaced = replaceIn(token, pattern, content, budget)));
      return replaced.text;
    });
  };
}

/** Checks the budget first, because the text may exceed the maximum length of a string. */
function replaceIn(token: string, pattern: Pattern, content: string, budget: Budget) {
  const matches = pattern(token);
  const added = (matches.length / 2) * content.length;
  spend(budget, added);
  let text = '';
  let at = 0;
  for (let i = 0; i < matches.length; i += 2) {
    text += token.slice(at, matches[i]) + content;
    at = matches[i + 1];
  }
  return { text: text + token.slice(at), added };
}

function strip(fields: Fields): Decoder {
  const char = fields.string('content');
  const [start, stop] = [fields.integer('start'), fields.integer('stop')];
  return each((token) => {
    const chars = Array.from(token);
    let [begin, end] = [0, chars.length];
    while (begin < start && begin < end && chars[begin] === char) begin++;
    while (chars.length - end < stop && begin < end && chars[end - 1] === char) end--;
    return chars.slice(begin, end).join('');
  });
}

/** Returns a decoder that decodes runs of byte tokens as UTF-8. An invalid run becomes one U+FFFD per byte. */
function byteFallback(): Decoder {
  return (tokens) => {
    const texts: string[] = [];
    let bytes: number[] = [];
    const flush = () => {
      if (bytes.length === 0) return;
      const text = decodeUtf8([Uint8Array.from(bytes)]);
      texts.push(text.includes('\ufffd') && !isUtf8(bytes) ? '\ufffd'.repeat(bytes.length) : text);
      bytes = [];
    };
    for (const token of tokens) {
      const hex = BYTE.exec(token);
      if (hex) bytes.push(Number.parseInt(hex[1], 16));
      else {
        flush();
        texts.push(token);
      }
    }
    flush();
    return texts;
  };
}

/** Returns true if the bytes are valid UTF-8, which may contain an encoded U+FFFD. */
function isUtf8(bytes: number[]) {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes));
    return true;
  } catch {
    return false;
  }
}

const KINDS: Record<string, (fields: Fields) => Decoder> = {
  Sequence(fields) {
    const steps = fields.objects('decoders').map(readDecoder);
    return (tokens, budget) => steps.reduce((result, step) => step(result, budget), tokens);
  },
  ByteLevel: () => (tokens) => [decodeUtf8(tokens.map(fromByteChars))],
  WordPiece: wordPiece,
  Metaspace: metaspace,
  BPEDecoder(fields) {
    const suffix = fields.string('suffix', '</w>');
    return counted((tokens) => tokens.map((token, i) => token.replaceAll(suffix, i === tokens.length - 1 ? '' : ' ')));
  },
  Replace: replace,
  Strip: strip,
  ByteFallback: byteFallback,
  Fuse: () => (tokens) => [tokens.join('')],
};

export const readDecoder = (fields: Fields): Decoder => fields.choose('decoder', KINDS)(fields);
