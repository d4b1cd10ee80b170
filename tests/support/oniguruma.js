// Runs Oniguruma, the reference for the regular expressions of tokenizers.

import { createOnigurumaEngine } from '@shikijs/engine-oniguruma';
import wasm from '@shikijs/engine-oniguruma/wasm-inlined';

const engine = await createOnigurumaEngine(wasm);

/**
 * Finds all matches from left to right, without empty matches directly after another match.
 * @param {string} source
 * @returns {(text: string) => number[]} the beginning and the end of each match
 */
export function oniguruma(source) {
  const scanner = engine.createScanner([source]);
  return (text) => {
    const found = [];
    for (let at = 0, last = -1; at <= text.length; ) {
      const match = scanner.findNextMatchSync(text, at);
      if (!match) break;
      const { start, end } = match.captureIndices[0];
      if (end > start || start !== last) found.push(start, end);
      last = end;
      at = end > start ? end : start + (text.codePointAt(start) > 0xffff ? 2 : 1);
    }
    return found;
  };
}
