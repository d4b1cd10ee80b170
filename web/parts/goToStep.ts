// Opens the story at one of its steps.

import { BEFORE, beginning } from '../model/storySteps.ts';
import type { Session } from '../store/session.ts';
import { recall } from '../store/storage.ts';

/** Goes to a step. This is one change that can be undone. */
export function goTo(session: Session, step: number) {
  session.markStoryMoved();
  session.setHover(null);
  session.update(beginning(step));
}

/** Opens the story where it was left, first at its questions, whose answers the browser stores under `story`. */
export const openStory = (session: Session, step: number) =>
  goTo(session, step === 0 && recall('story') === undefined ? BEFORE : step);
