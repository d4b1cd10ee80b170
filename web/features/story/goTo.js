// Opens the story at one of its steps.

import { recall } from '../../store/storage.js';
import { BEFORE, beginning } from './steps.js';

/** @import { Session } from '../../store/session.js' */

/** Goes to a step, as one change that can be undone. @param {Session} session @param {number} step */
export function goTo(session, step) {
  session.markStoryMoved();
  session.setHover(null);
  session.update(beginning(step));
}

/**
 * Opens the story where it was left: the first time with its questions. `story` is the name under which their answers
 * are stored.
 * @param {Session} session @param {number} step
 */
export const openStory = (session, step) => goTo(session, step === 0 && recall('story') === undefined ? BEFORE : step);
