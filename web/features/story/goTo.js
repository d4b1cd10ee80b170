// Opens the story at one of its steps.

import { recall } from '../../store/storage.js';
import { BEFORE, beginning } from './steps.js';

/** @import { Session } from '../../store/session.js' */

/** Goes to a step. This is one change that can be undone. @param {Session} session @param {number} step */
export function goTo(session, step) {
  session.markStoryMoved();
  session.setHover(null);
  session.update(beginning(step));
}

/**
 * Opens the story at the step where it was left, or the first time at its questions. The browser stores the answers to
 * the questions under the name `story`.
 * @param {Session} session @param {number} step
 */
export const openStory = (session, step) => goTo(session, step === 0 && recall('story') === undefined ? BEFORE : step);
