// The roles of heads that are displayed, and their texts.

import { weightText } from '../model/numbers.ts';
import type { RoleName } from '../model/roles.ts';
import { isRevealed } from '../model/storySteps.ts';
import type { Session } from './session.ts';

/**
 * Returns the displayed role of a head. In the story, a role that the visitor must find is not displayed until it is
 * found.
 */
export function shownRole(session: Session, layer: number, head: number) {
  const { panel, step } = session.state.value;
  const role = session.roles.value?.[layer]?.[head];
  return panel === 'story' && !isRevealed(step, session.storyLog.value, role) ? null : role;
}

/** Returns the name of a role in the page's language. A source may define additional roles in its `terms`. */
export const roleName = (session: Session, role: string): string =>
  session.words.value.roleNames[role as RoleName] ?? session.about.value?.terms?.[session.language.value][role][0];

/** Returns the text about the mean weight that a head gives to the keys of its role; empty if it is not known. */
export function roleWeightText(session: Session, layer: number, head: number) {
  const role = session.roles.value?.[layer]?.[head];
  const weight = session.roleWeights.value?.[layer]?.[head] ?? null;
  return role && weight !== null ? session.words.value.givesWeight(weightText(weight)) : '';
}

/** Returns the text that says on which tokens the roles were measured. */
export function measuredText(session: Session) {
  const { folder, kind, trained, reads } = session.about.value ?? {};
  const { measuredOn } = session.words.value;
  if (folder) return measuredOn.folder;
  return kind === 'transformer' && !trained && reads !== 'sound' ? measuredOn.passages : measuredOn.text;
}

/**
 * Returns the name and the description of a role that only the source of the shown heads has, such as handmade heads;
 * undefined for other roles.
 */
export function ownRole(session: Session, layer: number, head: number) {
  const role = session.roles.value?.[layer]?.[head];
  return role ? session.about.value?.terms?.[session.language.value]?.[role] : undefined;
}
