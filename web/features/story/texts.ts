// The texts around the steps of the story, by language.

import { panel as en } from './panel.en.ts';
import { panel as zh } from './panel.zh.ts';

export const TEXTS = { en, zh };
