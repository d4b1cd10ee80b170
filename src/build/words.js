// Rules for the words of comments and names. Each finding is a line number with what is wrong.

/** A sentence that begins with one of these words is usually a relative clause without its subject. */
const HEADLESS = /^(What|Of|Whoever|Those|Whether)\b/;
/** Words that only this project used, and the field's words in their place. @type {[RegExp, string][]} */
const PRIVATE = [
  [/\bwhoever\b/i, 'whoever: a user, a caller'],
  [/\bbeside\b/i, 'beside: next to, with'],
  [/\b(MOST|LEAST)_[A-Z]+/, 'use MAX_X or MIN_X'],
];
const IS_COMMENT = /^\s*(?:\/\/|\/\*\*?|\*(?!\/)|#(?!!))\s?(.*?)(?:\*\/)?$/;
const AFTER_CODE = /(?:^|\s)(?:\/\/|\/\*\*)\s(.*?)(?:\*\/)?$/;

/** The comment on a line, null where there is none. @param {string} line @param {boolean} hashes */
function commentOn(line, hashes) {
  const whole = IS_COMMENT.exec(line);
  if (whole) return /^\s*#/.test(line) && !hashes ? null : whole[1].trim();
  return hashes ? null : (AFTER_CODE.exec(line)?.[1].trim() ?? null);
}

/**
 * The places of a program whose comments break the rules.
 * @param {string} text
 * @param {{ hashes?: boolean }} [options] hashes: comments begin with #
 * @returns {{ line: number, reason: string }[]}
 */
export function findWords(text, { hashes = false } = {}) {
  const found = [];
  let ended = true;
  text.split('\n').forEach((line, i) => {
    const comment = commentOn(line, hashes);
    for (const [word, reason] of PRIVATE)
      if (word.test(comment ?? '') || (/[A-Z]_/.test(word.source) && word.test(line)))
        found.push({ line: i + 1, reason });
    if (comment === null) {
      ended = true;
      return;
    }
    const sentence = comment.replace(/^@\w+ (\{[^}]*\} )?(\[?[\w.=' ]+\]? )?/, '');
    if (ended && HEADLESS.test(sentence) && !sentence.includes('?'))
      found.push({ line: i + 1, reason: 'a sentence without a subject' });
    if (/[.:!?] (What|Of|Whoever|Those|Whether) [^?]*$/.test(comment) && !comment.includes('?'))
      found.push({ line: i + 1, reason: 'a sentence without a subject' });
    ended = comment === '' || /[.:!?}]$/.test(comment) || comment.startsWith('@');
  });
  return found;
}
