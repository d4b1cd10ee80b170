// The same with the binaries inside, for the page that is one file.

import { load } from '../src/js/inline.js';
import { answer } from './answer.js';
import model from './learned.safetensors';
import { teach } from './teach.js';

if (self.name === 'teach') teach(load);
else answer(load, async () => model);
