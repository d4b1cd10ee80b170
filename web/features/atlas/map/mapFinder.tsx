// The search on the map, by the name of a head or by its role. Heads that do not match are pale.

import { useEffect, useRef } from 'preact/hooks';
import type { AtlasMap, AtlasRole } from '../../../model/protocol/atlasProtocol.ts';
import { useAtlasTexts } from '../texts.ts';
export type Roles = (AtlasRole | null)[];

export function matches(
  query: string,
  { heads }: AtlasMap,
  roles: Roles,
  texts: { roles: Record<AtlasRole | 'none', string> },
  head: number,
) {
  const wanted = query.trim().toLowerCase();
  const name = `${Math.floor(head / heads)}.${head % heads}`;
  return name.startsWith(wanted) || texts.roles[roles[head] ?? 'none'].toLowerCase().includes(wanted);
}

export function MapFinder({
  query,
  setQuery,
  map,
  roles,
  choose,
}: {
  query: string;
  setQuery: (query: string | null) => void;
  map: AtlasMap;
  roles: Roles;
  choose: (head: number) => void;
}) {
  const texts = useAtlasTexts();
  const field = useRef(null as HTMLInputElement | null);
  useEffect(() => field.current?.focus(), []);
  const found = roles.map((_, head) => head).filter((head) => query !== '' && matches(query, map, roles, texts, head));
  return (
    <label class="atlas-find">
      <span class="spoken">{texts.find}</span>
      <input
        ref={field}
        type="text"
        value={query}
        placeholder={texts.find}
        onInput={(event) => setQuery(event.currentTarget.value)}
        onBlur={() => query === '' && setQuery(null)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' && event.key !== 'Enter') return;
          event.stopPropagation();
          if (event.key === 'Enter' && found.length > 0) choose(found[0]);
          const area = event.currentTarget.closest('.atlas-figure')?.querySelector('.atlas-area');
          setQuery(null);
          ((area ?? null) as HTMLElement | null)?.focus();
        }}
      />
      {query !== '' && <span class="quiet-text">{texts.found(found.length)}</span>}
    </label>
  );
}
