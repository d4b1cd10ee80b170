// From tokens back to text: each decoder changes the list of tokens, which are joined in the end.

import { HeadlightError } from '../check/errors.js';
import { decodeUtf8, fromByteSigns } from './bytelevel.js';
import { readPattern } from './pattern.js';
import { readPrepend } from './splitters.js';

/** @import { Fields } from './fields.js' */

/** @typedef {(tokens: string[], most: number) => string[]} Decoder most: characters of the result */

/** What tokenization has torn apart, and how it is written. @type {[string, string][]} */
const CLEANED = [
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
const BYTE = /^<0x([0-9A-Fa-f]{2})>$/;

/** Characters that may be made of one, and that may be added to any text. */
const MOST_GROWTH = 10;
const FREE_GROWTH = 2 ** 16;

/** How long a text of these tokens may become. @param {number} length of all of them */
export const mostDecoded = (length) => MOST_GROWTH * length + FREE_GROWTH;

/** @param {number} length @param {number} most */
function checkLength(length, most) {
  if (length > most)
    throw new HeadlightError('FORMAT', `decode: the tokenizer makes the text more than ${MOST_GROWTH} times longer`, {
      parameter: 'ids',
    });
}

/** @param {(token: string, i: number, most: number) => string} change @returns {Decoder} */
const each = (change) => (tokens, most) => tokens.map((token, i) => change(token, i, most));

/** @param {Fields} fields @returns {Decoder} */
function wordPiece(fields) {
  const prefix = fields.string('prefix', '##');
  const cleanup = fields.boolean('cleanup', true);
  const clean = (/** @type {string} */ text) =>
    CLEANED.reduce((result, [torn, whole]) => result.replaceAll(torn, whole), text);
  return each((token, i) => {
    const text = i === 0 ? token : token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`;
    return cleanup ? clean(text) : text;
  });
}

/** @param {Fields} fields @returns {Decoder} */
function metaspace(fields) {
  const sign = fields.string('replacement', '▁');
  const first = readPrepend(fields) === 'never' ? ' ' : '';
  return each((token, i) => token.replaceAll(sign, i === 0 ? first : ' '));
}

/** @param {Fields} fields @returns {Decoder} */
function replace(fields) {
  const pattern = readPattern(fields, 'pattern');
  const content = fields.string('content');
  if (!pattern) return (tokens) => tokens;
  return each((token, _, most) => {
    let text = '';
    let at = 0;
    const places = pattern(token);
    checkLength(token.length + (places.length / 2) * content.length, most + token.length);
    for (let i = 0; i < places.length; i += 2) {
      text += token.slice(at, places[i]) + content;
      at = places[i + 1];
    }
    return text + token.slice(at);
  });
}

/** @param {Fields} fields @returns {Decoder} */
function strip(fields) {
  const sign = fields.string('content');
  const [start, stop] = [fields.integer('start'), fields.integer('stop')];
  return each((token) => {
    const signs = Array.from(token);
    let [begin, end] = [0, signs.length];
    while (begin < start && begin < end && signs[begin] === sign) begin++;
    while (signs.length - end < stop && begin < end && signs[end - 1] === sign) end--;
    return signs.slice(begin, end).join('');
  });
}

/** Tokens of single bytes, one after the other, become text, or as many U+FFFD. @returns {Decoder} */
function byteFallback() {
  return (tokens) => {
    /** @type {string[]} */
    const texts = [];
    /** @type {number[]} */
    let bytes = [];
    const flush = () => {
      if (bytes.length === 0) return;
      const text = decodeUtf8([Uint8Array.from(bytes)]);
      texts.push(text.includes('\ufffd') && !isText(bytes) ? '\ufffd'.repeat(bytes.length) : text);
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

/** Whether bytes are UTF-8: U+FFFD may have been in the text. @param {number[]} bytes */
function isText(bytes) {
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
    return (tokens, most) =>
      steps.reduce((result, step) => {
        const decoded = step(result, most);
        checkLength(
          decoded.reduce((sum, token) => sum + token.length, 0),
          most,
        );
        return decoded;
      }, tokens);
  },
  ByteLevel: () => (tokens) => [decodeUtf8(tokens.map(fromByteSigns))],
  WordPiece: wordPiece,
  Metaspace: metaspace,
  BPEDecoder(fields) {
    const suffix = fields.string('suffix', '</w>');
    return (tokens) => tokens.map((token, i) => token.replaceAll(suffix, i === tokens.length - 1 ? '' : ' '));
  },
  Replace: replace,
  Strip: strip,
  ByteFallback: byteFallback,
  Fuse: () => (tokens) => [tokens.join('')],
};

/** @param {Fields} fields @returns {Decoder} */
export const readDecoder = (fields) => fields.choose('decoder', KINDS)(fields);
