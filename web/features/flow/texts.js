// The texts of the flow in the language of the page.

import { useTexts } from '../../ui/context.js';
import { texts as en } from './flow.en.js';
import { texts as zh } from './flow.zh.js';

export const useFlowTexts = () => useTexts({ en, zh });
