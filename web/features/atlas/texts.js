// The texts of the atlas in the language of the page.

import { useTexts } from '../../ui/context.js';
import { texts as en } from './atlas.en.js';
import { texts as zh } from './atlas.zh.js';

export const useAtlasTexts = () => useTexts({ en, zh });
