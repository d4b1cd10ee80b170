// Opens the story at one of its steps.

import { beginning } from './steps.js';

/** Goes to a step: the instrument moves, as one change that can be undone. */
export function goTo(session, step) {
  session.markStoryMoved();
  session.setHover(null);
  session.update(beginning(step));
}
