// The C core, off the page's thread.

import { load } from '../src/js/browser.js';
import { answer } from './answer.js';

answer(load);
