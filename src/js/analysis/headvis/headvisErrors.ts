// Makes errors about files of HeadVis, with the name of the file.

import { HeadlightError } from '../../check/errors.ts';
import { quote } from '../../check/quote.ts';

export const wrongFile = (file: string, reason: string, cause?: unknown) =>
  new HeadlightError('FORMAT', `readHeadvis: ${file} ${reason}`, { parameter: file, cause });

export const wrongValue = (file: string, name: string, got: unknown, expected: string) =>
  wrongFile(file, `is wrong: ${name} is ${quote(got)}, expected ${expected}`);
