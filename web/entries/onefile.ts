// The entry of the one-file page. It shows the instrument, or data that headlight.py has written into the file.

import { isFolded } from './embeddedFiles.ts';

if (isFolded('given')) import('./notebook.ts').then(({ show }) => show());
else import('./page.ts');
