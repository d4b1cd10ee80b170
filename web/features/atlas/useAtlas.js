// The map that is shown and the roles of its heads. They come from a scan, or before the first scan from the current
// text.

import { useEffect, useMemo } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { axesOf } from './axes.js';
import { sentenceMap } from './sentenceMap.js';
import { usualRoles } from './usualRole.js';

/** @import { AtlasMap, AtlasRole } from '../../store/atlasProtocol.js' */
/** @import { AxisName } from './axes.js' */

/** The page of a head is read again after this many milliseconds of a running scan. */
const REFRESH = 2500;

/**
 * Returns the map with the costs that have been measured; null if nothing has been measured.
 * @returns {AtlasMap | null}
 */
export function useMap() {
  const session = useSession();
  const scanned = session.atlas.map.value;
  const measured = session.atlas.measured.value;
  const run = session.run.value;
  return useMemo(() => {
    const map = scanned ?? sentenceMap(run);
    if (!map) return null;
    const costs = Array.from(
      { length: map.layers * map.heads },
      (_, i) => measured[`${Math.floor(i / map.heads)}.${i % map.heads}`] ?? Number.NaN,
    );
    return { ...map, costs };
  }, [scanned, measured, scanned ? null : run]);
}

/**
 * Returns the usual roles, by l·H + h. Before a scan they are the roles in the current text, which the rest of the page
 * shows.
 * @param {AtlasMap | null} map
 * @returns {(AtlasRole | null)[]}
 */
export function useRoles(map) {
  const session = useSession();
  const shown = session.roles.value;
  return useMemo(() => {
    if (!map) return [];
    if (map.source !== 'sentence') return usualRoles(map);
    const known = /** @type {(AtlasRole | null)[]} */ ((shown ?? []).flat());
    return Array.from({ length: map.layers * map.heads }, (_, i) => known[i] ?? null);
  }, [map, shown]);
}

/**
 * Returns the names of both axes: those in the page's state if the map has values for them, otherwise the default.
 * @param {AtlasMap} map @returns {AxisName[]}
 */
export function useAxes(map) {
  const { axes } = useSession().state.value;
  return useMemo(() => {
    const known = axesOf(map);
    return axes.split('.').map((name, i) => known.find((axis) => axis === name) ?? (i === 0 ? 'distance' : 'spread'));
  }, [map, axes]);
}

/**
 * Requests a stored scan, the page of the chosen head, and the cost of switching it off.
 * @param {(AtlasRole | null)[]} roles
 */
export function useRequests(roles) {
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
/**
 * After a scan that took fewer milliseconds than this, the cost of the chosen head is measured without a request by the
 * visitor.
 */
const QUICK = 40_000;
