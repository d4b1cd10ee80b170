// The texts of the flow in the language of the page.

import { useTexts } from '../../store/context.ts';
import { texts as en } from './flow.en.ts';
import { texts as zh } from './flow.zh.ts';

export const useFlowTexts = () => useTexts({ en, zh });
