// The texts of training in the language of the page.

import { useTexts } from '../../ui/context.js';
import { texts as en } from './train.en.js';
import { texts as zh } from './train.zh.js';

export const useTrainTexts = () => useTexts({ en, zh });
