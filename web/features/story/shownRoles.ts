// The roles of heads that are displayed.

import type { Session } from '../../store/session.ts';
import { isRevealed } from './steps.ts';

/** Returns the displayed role of a head; in the story none for a role that the visitor has yet to find. */
export function shownRole(session: Session, layer: number, head: number) {
  const { panel, step } = session.state.value;
  const role = session.roles.value?.[layer]?.[head];
  return panel === 'story' && !isRevealed(step, session.storyLog.value, role) ? null : role;
}
