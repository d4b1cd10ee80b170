// The atlas: a map of all heads, measured over many texts, next to the passages with the strongest attention of the
// chosen head. The reading column of the atlas is the page of that head.

import { useRef } from 'preact/hooks';
import { useSession } from '../../store/context.ts';
import { px } from '../../ui/px.ts';
import { HeadPage } from './headPage.tsx';
import { HeadMap } from './map/headMap.tsx';
import { MapHeader } from './map/mapHeader.tsx';
import { MapTable } from './map/mapTable.tsx';
import { Passages } from './passages.tsx';
import { useAtlasTexts } from './texts.ts';
import { useMap, useRequests, useRoles } from './useAtlas.ts';

export { default as styles } from './atlas.css';
export { HeadPage as AtlasHead } from './headPage.tsx';

/** If the area is narrower than this many pixels, the passages are below the map. */
const NARROW = 760;

export function Atlas({
  width,
  height,
  compact = false,
  free = false,
}: {
  width: number;
  height: number;
  compact?: boolean;
  free?: boolean;
}) {
  const session = useSession();
  const texts = useAtlasTexts();
  const map = useMap();
  const roles = useRoles(map);
  const list = useRef(null as HTMLOListElement | null);
  useRequests(roles);
  const narrow = width < NARROW;
  const enter = () => list.current?.querySelector('button')?.focus();
  const isTable = session.atlas.table.value;
  return (
    <div
      class={`atlas ${narrow ? 'narrow-atlas' : ''} ${isTable ? 'table-atlas' : ''}`}
      style={px({ height: free ? undefined : height })}
    >
      <section class="atlas-map" aria-label={texts.title(map ? map.layers * map.heads : 0)}>
        <MapHeader map={map} />
        {map ? (
          isTable ? (
            <MapTable map={map} roles={roles} />
          ) : (
            <HeadMap map={map} roles={roles} onEnter={enter} />
          )
        ) : (
          <p class="atlas-note">{session.run.value ? texts.unknown : texts.reading}</p>
        )}
      </section>
      <Passages roles={roles} list={list} />
      {free && compact && <HeadPage />}
    </div>
  );
}

/** The legend of the map. */
export function AtlasMarks() {
  const session = useSession();
  const texts = useAtlasTexts();
  const map = session.atlas.map.value;
  const moving = map?.state === 'running' || map?.state === 'paused';
  const sized = Object.keys(session.atlas.measured.value).length > 1 && !map?.pictures;
  return (
    <span class="atlas-marks">
      {map?.pictures ? texts.picture : texts.shape}
      {moving && !map?.pictures && ` · ${texts.open}`}
      {sized && ` · ${texts.size}`}
    </span>
  );
}
