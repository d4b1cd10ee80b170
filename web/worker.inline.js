// The same with the binaries inside, for the page that is one file.

import { load } from '../src/js/inline.js';
import { answer } from './answer.js';
import { teach } from './teach.js';

(self.name === 'teach' ? teach : answer)(load);
