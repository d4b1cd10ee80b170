// The search on the map, by the name of a head or by its role. Heads that do not match are pale.

import { useEffect, useRef } from 'preact/hooks';
import { useAtlasTexts } from './texts.js';

/** @import { AtlasMap, AtlasRole } from '../../store/atlasProtocol.js' */
/** @typedef {(AtlasRole | null)[]} Roles */

/**
 * @param {string} query
 * @param {AtlasMap} map
 * @param {Roles} roles
 * @param {{ roles: Record<AtlasRole | 'none', string> }} texts
 * @param {number} head
 */
export function matches(query, { heads }, roles, texts, head) {
  const wanted = query.trim().toLowerCase();
  const name = `${Math.floor(head / heads)}.${head % heads}`;
  return name.startsWith(wanted) || texts.roles[roles[head] ?? 'none'].toLowerCase().includes(wanted);
}

/**
 * @param {object} props
 * @param {string} props.query
 * @param {(query: string | null) => void} props.setQuery
 * @param {AtlasMap} props.map
 * @param {Roles} props.roles
 * @param {(head: number) => void} props.choose
 */
export function MapFinder({ query, setQuery, map, roles, choose }) {
  const texts = useAtlasTexts();
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
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
          /** @type {HTMLElement | null} */ (area ?? null)?.focus();
        }}
      />
      {query !== '' && <span class="quiet-text">{texts.found(found.length)}</span>}
    </label>
  );
}
