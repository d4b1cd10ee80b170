// The page that is one file: the instrument, or what headlight.py has written into it.

import { isFolded } from './embeddedFiles.js';

if (isFolded('given')) import('./notebook.js').then(({ show }) => show());
else import('./page.js');
