// The error for files that cannot be shown, and for requests that fail. From the code and the values of the error, the
// page makes a text in the page's language.

import type { ProblemValue } from '../../model/protocol/protocol.ts';

export class Problem extends Error {
  declare code: string;
  declare values: ProblemValue[];

  /** `code`: a name in the page's texts of problems. */
  constructor(code: string, ...values: ProblemValue[]) {
    super(`${code}: ${values.join(', ')}`);
    this.code = code;
    this.values = values;
  }
}
