// The same with the binaries inside, for the page that is one file.

import { load } from '../../src/js/load/inline.js';
import model from '../train/learned.safetensors';
import { teach } from '../train/session.js';
import { answer } from './answer.js';
import { spareThreads } from './spare.js';

if (self.name === 'teach') teach(() => load({ threads: spareThreads() }));
else answer(load, async () => model);
