// The style sheets of the first screen; parts that are loaded later bring their own. What small screens change comes
// after what it changes.

import header from './header.css';
import model from './model.css';
import opening from './open.css';
import picture from './picture.css';
import reading from './reading.css';
import small from './small.css';
import base from './style.css';
import whatif from './whatif.css';

export const styles = [base, header, model, picture, reading, whatif, small, opening];
