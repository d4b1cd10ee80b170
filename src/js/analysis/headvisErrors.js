// Makes errors about files of HeadVis, with the name of the file.

import { HeadlightError } from '../check/errors.js';
import { quote } from '../check/quote.js';

/** @param {string} file @param {string} reason @param {unknown} [cause] */
export const wrongFile = (file, reason, cause) =>
  new HeadlightError('FORMAT', `readHeadvis: ${file} ${reason}`, { parameter: file, cause });

/** @param {string} file @param {string} name @param {unknown} got @param {string} expected */
export const wrongValue = (file, name, got, expected) =>
  wrongFile(file, `is wrong: ${name} is ${quote(got)}, expected ${expected}`);
