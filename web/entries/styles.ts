// The style sheets of the first screen. Parts that are loaded later add their own style sheets. Rules for small screens
// come after the rules that they override.

import first from '../features/first/first.css';
import header from '../features/header/header.css';
import model from '../features/heads/headGrid.css';
import picture from '../features/heatmap/heatmap.css';
import opening from '../features/open/opening.css';
import reading from '../features/reading/reading.css';
import whatif from '../features/whatif/whatif.css';
import base from '../ui/page.css';
import small from '../ui/phone.css';

export const styles = [base, header, model, picture, reading, whatif, small, opening, first];
