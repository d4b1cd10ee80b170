// Draws a beam of light from the thumbnail of a head to the large picture, for a moment after the head was chosen.

import { useEffect, useRef, useState } from 'preact/hooks';
import { HEADS } from '../model/firstVisit.ts';
import { useSession } from '../store/context.ts';
import { reducedMotion } from '../ui/motion.ts';

/** Returns the SVG paths of the beam and of its two edges; null if the thumbnail or the large picture is missing. */
function pathsOf(drawing: Element) {
  const root = drawing.getRootNode() as ShadowRoot;
  const [from, to] = ['.thumbnail[aria-checked=true] .frame', '.picture .matrix'].map((name) =>
    root.querySelector(name)?.getBoundingClientRect(),
  );
  if (!from || !to) return null;
  const area = drawing.getBoundingClientRect();
  const at = (x: number, y: number) => `${x - area.left} ${y - area.top}`;
  const upper = `M${at(from.right, from.top)}L${at(to.left, to.top)}`;
  const lower = `${at(to.left, to.bottom)}L${at(from.right, from.bottom)}`;
  return { light: `${upper}L${lower}z`, edges: `${upper}M${lower}` };
}

export function Beam() {
  const session = useSession();
  const { layer, head, first: step } = session.state.value;
  // In the step of the first visit in which all heads appear, the beam is shown although the head is not a new one.
  const appears = step === HEADS;
  const drawing = useRef(null as SVGSVGElement | null);
  const [paths, setPaths] = useState({ light: '', edges: '' });
  const last = useRef('');
  useEffect(() => {
    const before = last.current;
    last.current = `${layer}.${head}`;
    if (before === '' || reducedMotion() || (before === last.current && !appears)) return;
    const found = drawing.current && pathsOf(drawing.current);
    if (found) setPaths(found);
  }, [layer, head, appears]);
  return (
    <svg ref={drawing} key={paths.light} class="beam" aria-hidden="true">
      <linearGradient id="light">
        <stop />
        <stop offset="1" stop-opacity="0.2" />
      </linearGradient>
      <path d={paths.light} fill="url(#light)" />
      <path d={paths.edges} class="edges" />
    </svg>
  );
}
