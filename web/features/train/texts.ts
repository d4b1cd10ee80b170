// The texts of training in the language of the page.

import { useTexts } from '../../store/context.ts';
import { texts as en } from './train.en.ts';
import { texts as zh } from './train.zh.ts';

export const useTrainTexts = () => useTexts({ en, zh });
