// Opens the story at one of its steps.

import { beginning } from './steps.js';

/** @import { Session } from '../../store/session.js' */

/** Goes to a step, as one change that can be undone. @param {Session} session @param {number} step */
export function goTo(session, step) {
  session.markStoryMoved();
  session.setHover(null);
  session.update(beginning(step));
}
