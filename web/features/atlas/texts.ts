// The texts of the atlas in the language of the page.

import { useTexts } from '../../store/context.ts';
import { texts as en } from './atlas.en.ts';
import { texts as zh } from './atlas.zh.ts';

export const useAtlasTexts = () => useTexts({ en, zh });
