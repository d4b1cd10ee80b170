// The same with the binaries inside, for the page that is one file.

import { load } from '../../src/js/load/inline.js';
import model from '../train/learned.safetensors';
import { teach } from '../train/worker.js';
import { answer } from './answer.js';

if (self.name === 'teach') teach(load);
else answer(load, async () => model);
