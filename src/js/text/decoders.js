// From tokens back to text: each decoder changes the list of tokens, which are joined in the end.

import { HeadlightError } from '../check/errors.js';
import { decodeUtf8, fromByteSigns } from './bytelevel.js';
import { readPattern } from './pattern.js';
import { readPrepend } from './splitters.js';

/** @import { Fields } from './fields.js' */
/** @import { Pattern } from './pattern.js' */

/** @typedef {{ left: number }} Room characters that may still be added */
/** @typedef {(tokens: string[], room: Room) => string[]} Decoder */

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
/** How each of them begins. */
const TORN = / [.?!,'nd]/;
const BYTE = /^<0x([0-9A-Fa-f]{2})>$/;

/** Characters that may be added for each one, and to any text. */
const MOST_GROWTH = 8;
const FREE_GROWTH = 2 ** 14;

/** @param {readonly string[]} tokens */
const lengthOf = (tokens) => tokens.reduce((sum, token) => sum + token.length, 0);

/** How long the text of these tokens may become. @param {readonly string[]} tokens @returns {Room} */
export const roomOf = (tokens) => ({ left: MOST_GROWTH * lengthOf(tokens) + FREE_GROWTH });

/** @param {Room} room @param {number} added */
function spend(room, added) {
  room.left -= added;
  if (room.left >= 0) return;
  throw new HeadlightError('FORMAT', `decode: the tokenizer makes the text more than ${MOST_GROWTH} times longer`, {
    parameter: 'ids',
  });
}

/** @param {Decoder} decoder @returns {Decoder} */
const counted = (decoder) => (tokens, room) => {
  const decoded = decoder(tokens, room);
  spend(room, Math.max(0, lengthOf(decoded) - lengthOf(tokens)));
  return decoded;
};

/** @param {(token: string, i: number) => string} change @returns {Decoder} */
const each = (change) => counted((tokens) => tokens.map(change));

/** @param {Fields} fields @returns {Decoder} */
function wordPiece(fields) {
  const prefix = fields.string('prefix', '##');
  const cleanup = fields.boolean('cleanup', true);
  const clean = (/** @type {string} */ text) =>
    CLEANED.reduce((result, [torn, whole]) => result.replaceAll(torn, whole), text);
  return each((token, i) => {
    const text = i === 0 ? token : token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`;
    return cleanup && TORN.test(text) ? clean(text) : text;
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
  return (tokens, room) => {
    /** A text has few different tokens. @type {Map<string, { text: string, added: number }>} */
    const known = new Map();
    return tokens.map((token) => {
      let replaced = known.get(token);
      if (replaced) spend(room, replaced.added);
      else known.set(token, (replaced = replaceIn(token, pattern, content, room)));
      return replaced.text;
    });
  };
}

/**
 * Counts before it makes the text: a token may become longer than a text can be.
 * @param {string} token
 * @param {Pattern} pattern
 * @param {string} content
 * @param {Room} room
 */
function replaceIn(token, pattern, content, room) {
  const places = pattern(token);
  const added = (places.length / 2) * content.length;
  spend(room, added);
  let text = '';
  let at = 0;
  for (let i = 0; i < places.length; i += 2) {
    text += token.slice(at, places[i]) + content;
    at = places[i + 1];
  }
  return { text: text + token.slice(at), added };
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
    return (tokens, room) => steps.reduce((result, step) => step(result, room), tokens);
  },
  ByteLevel: () => (tokens) => [decodeUtf8(tokens.map(fromByteSigns))],
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
