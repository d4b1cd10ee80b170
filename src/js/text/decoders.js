// Decoders convert tokens back to text. Each decoder changes the list of tokens. At the end the tokens are
// concatenated.

import { HeadlightError } from '../check/errors.js';
import { decodeUtf8, fromByteChars } from './bytelevel.js';
import { readPattern } from './pattern.js';
import { readPrepend } from './splitters.js';

/** @import { Fields } from './fields.js' */
/** @import { Pattern } from './pattern.js' */

/** @typedef {{ left: number }} Budget characters that may still be added */
/** @typedef {(tokens: string[], budget: Budget) => string[]} Decoder */

/**
 * Replacements of the option cleanup, which remove spaces that the tokenization of English has added.
 * @type {[string, string][]}
 */
const CLEANUP = [
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

/** @param {readonly string[]} tokens */
const lengthOf = (tokens) => tokens.reduce((sum, token) => sum + token.length, 0);

/**
 * Returns the number of characters that decoders may add to these tokens.
 * @param {readonly string[]} tokens
 * @returns {Budget}
 */
export const growthLimit = (tokens) => ({ left: MAX_GROWTH * lengthOf(tokens) + FREE_GROWTH });

/** @param {Budget} budget @param {number} added */
function spend(budget, added) {
  budget.left -= added;
  if (budget.left >= 0) return;
  throw new HeadlightError('FORMAT', `decode: the tokenizer makes the text more than ${MAX_GROWTH} times longer`, {
    parameter: 'ids',
  });
}

/**
 * Returns a decoder that also subtracts the growth of the text from the budget.
 * @param {Decoder} decoder
 * @returns {Decoder}
 */
const counted = (decoder) => (tokens, budget) => {
  const decoded = decoder(tokens, budget);
  spend(budget, Math.max(0, lengthOf(decoded) - lengthOf(tokens)));
  return decoded;
};

/** @param {(token: string, i: number) => string} change @returns {Decoder} */
const each = (change) => counted((tokens) => tokens.map(change));

/** @param {string} text */
export const clean = (text) =>
  NEEDS_CLEANUP.test(text) ? CLEANUP.reduce((result, [from, to]) => result.replaceAll(from, to), text) : text;

/** @param {Fields} fields @returns {Decoder} */
function wordPiece(fields) {
  const prefix = fields.string('prefix', '##');
  const cleanup = fields.boolean('cleanup', true);
  return each((token, i) => {
    const text = i === 0 ? token : token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`;
    return cleanup ? clean(text) : text;
  });
}

/** @param {Fields} fields @returns {Decoder} */
function metaspace(fields) {
  const char = fields.string('replacement', '▁');
  const first = readPrepend(fields) === 'never' ? ' ' : '';
  return each((token, i) => token.replaceAll(char, i === 0 ? first : ' '));
}

/** @param {Fields} fields @returns {Decoder} */
function replace(fields) {
  const pattern = readPattern(fields, 'pattern');
  const content = fields.string('content');
  if (!pattern) return (tokens) => tokens;
  return (tokens, budget) => {
    /**
     * Results by token. Most tokens of a text occur several times.
     * @type {Map<string, { text: string, added: number }>}
     */
    const cache = new Map();
    return tokens.map((token) => {
      let replaced = cache.get(token);
      if (replaced) spend(budget, replaced.added);
      else cache.set(token, (replaced = replaceIn(token, pattern, content, budget)));
      return replaced.text;
    });
  };
}

/**
 * Replaces the matches in a token. Checks the budget before it creates the text, because that may exceed the maximum
 * length of a string.
 * @param {string} token
 * @param {Pattern} pattern
 * @param {string} content
 * @param {Budget} budget
 */
function replaceIn(token, pattern, content, budget) {
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

/** @param {Fields} fields @returns {Decoder} */
function strip(fields) {
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

/**
 * Returns a decoder that decodes runs of byte tokens as UTF-8. An invalid run becomes one U+FFFD per byte.
 * @returns {Decoder}
 */
function byteFallback() {
  return (tokens) => {
    /** @type {string[]} */
    const texts = [];
    /** @type {number[]} */
    let bytes = [];
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

/** Returns true if the bytes are valid UTF-8, which may contain an encoded U+FFFD. @param {number[]} bytes */
function isUtf8(bytes) {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes));
    return true;
  } catch {
    return false;
  }
}

/** @type {Record<string, (fields: Fields) => Decoder>} */
const KINDS = {
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

/** @param {Fields} fields @returns {Decoder} */
export const readDecoder = (fields) => fields.choose('decoder', KINDS)(fields);
