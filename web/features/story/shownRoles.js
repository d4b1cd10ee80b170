// The roles of heads that are displayed.

import { isRevealed } from './steps.js';

/** @import { Session } from '../../store/session.js' */

/**
 * Returns the displayed role of a head. In the story, a role that the visitor must find is not displayed until it is
 * found.
 * @param {Session} session
 * @param {number} layer
 * @param {number} head
 */
export function shownRole(session, layer, head) {
  const { panel, step } = session.state.value;
  const role = session.roles.value?.[layer]?.[head];
  return panel === 'story' && !isRevealed(step, session.storyLog.value, role) ? null : role;
}
