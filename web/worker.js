// The C core, off the page's thread.

import { load } from '../src/js/browser.js';
import { answer } from './answer.js';
import { teach } from './teach.js';

(self.name === 'teach' ? teach : answer)(load);
