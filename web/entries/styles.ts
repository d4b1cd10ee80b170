// The style sheets of the first screen. Parts that are loaded later add their own style sheets. Rules for small screens
// come after the rules that they override.

import { firstStyles as first } from '../features/first/feature.ts';
import { headerStyles as header } from '../features/header/feature.ts';
import { headGridStyles as model } from '../features/heads/feature.ts';
import { heatmapStyles as picture } from '../features/heatmap/feature.ts';
import { openingStyles as opening } from '../features/open/feature.ts';
import { readingStyles as reading } from '../features/reading/feature.ts';
import { whatifStyles as whatif } from '../features/whatif/feature.ts';
import base from '../ui/page.css';
import small from '../ui/phone.css';

export const styles = [base, header, model, picture, reading, whatif, small, opening, first];
