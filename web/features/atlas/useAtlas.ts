// The map that is shown, the roles of its heads, and the requests of the atlas.

import { useEffect, useMemo } from 'preact/hooks';
import type { AtlasMap, AtlasRole } from '../../model/protocol/atlasProtocol.ts';
import { useSession } from '../../store/context.ts';
import { ownRole } from '../../store/shownRoles.ts';
import { shownAxes } from './axes.ts';
import { rolesOn, shownMap } from './map/shownMap.ts';
import { useAtlasTexts } from './texts.ts';

/** The page of a head is read again after this many milliseconds of a running scan. */
const REFRESH = 2500;

export function useMap(): AtlasMap | null {
  const session = useSession();
  const scanned = session.atlas.map.value;
  const measured = session.atlas.measured.value;
  const run = session.run.value;
  return useMemo(() => shownMap(scanned, run, measured), [scanned, measured, scanned ? null : run]);
}

export function useRoles(map: AtlasMap | null): (AtlasRole | null)[] {
  const roles = useSession().roles.value;
  return useMemo(() => (map ? rolesOn(map, roles) : []), [map, roles]);
}

/** Returns a function from a head, l·H + h, to the name of its role. */
export function useRoleNames(map: AtlasMap | null, roles: (AtlasRole | null)[]) {
  const session = useSession();
  const texts = useAtlasTexts();
  const { heads } = map ?? { heads: 1 };
  return (i: number) => ownRole(session, Math.floor(i / heads), i % heads)?.[0] ?? texts.roles[roles[i] ?? 'none'];
}

export function useAxes(map: AtlasMap) {
  const { axes } = useSession().state.value;
  return useMemo(() => shownAxes(map, axes), [map, axes]);
}

/** Requests a stored scan, the page of the chosen head, and the cost of switching it off. */
export function useRequests(roles: (AtlasRole | null)[]) {
  const session = useSession();
  const { atlas } = session;
  const { layer, head, model } = session.state.value;
  const map = atlas.map.value;
  const hasRun = session.run.value !== null;
  useEffect(() => {
    if (hasRun) atlas.enter();
  }, [model, hasRun, map === null]);
  const isRunning = map?.state === 'running' || map?.state === 'paused';
  const stage = !map ? -1 : isRunning ? Math.floor(map.time / REFRESH) : Infinity;
  useEffect(() => {
    if (map && map.layers > layer && map.heads > head) atlas.readHead(layer, head, stage);
  }, [map?.key, stage, layer, head]);
  const isQuick = map !== null && map.time < QUICK && !isRunning && session.about.value?.guess === 'next';
  useEffect(() => {
    if (isQuick) atlas.measure(layer, head, roles[layer * (map?.heads ?? 0) + head] ?? null);
    // A measurement whose result is no longer shown is stopped, because it would delay other answers.
    return () => atlas.stopMeasuring();
  }, [map?.key, isQuick, layer, head]);
}
/** After a scan that took fewer milliseconds, the cost of the chosen head is measured without a request. */
const QUICK = 40_000;
