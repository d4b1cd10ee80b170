// The cells of a trace as a table.

import { type Place, ROWS, type Trace } from '../../model/trace/places.ts';
import { useSession } from '../../store/context.ts';
import { cellAt, shareText } from './shares.ts';
import { textsIn } from './traceState.ts';
import { placesOf } from './useTraceKeys.ts';

export function TraceTable({ trace }: { trace: Trace }) {
  const own = textsIn(useSession());
  const { cells, layers, heads, lower } = trace;
  const places = placesOf(trace).filter((place) => place >= 0);
  const rows = ROWS.filter((part) => part in cells);
  const down = Array.from({ length: layers }, (_, i) => layers - 1 - i);
  const text = (place: Place) => {
    const cell = cellAt(trace, place);
    return cell ? shareText(cell.share) : '';
  };
  return (
    // The table scrolls, by keyboard too, so it can have the focus.
    <div class="trace-table" role="group" aria-label={own.table.caption} tabIndex={0}>
      <table>
        <caption>{own.table.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{own.table.layer}</th>
            <th scope="col">{own.table.part}</th>
            {places.map((place) => (
              <th key={place} scope="col" lang="en">
                <i>{lower.pieces[place].name}</i>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {down.flatMap((layer) =>
            rows.map((part) => (
              <tr key={`${part}${layer}`}>
                <th scope="row">{layer}</th>
                <td>{own.parts[part]}</td>
                {places.map((place) => (
                  <td key={place}>{text({ part, layer, place })}</td>
                ))}
              </tr>
            )),
          )}
        </tbody>
      </table>
      <table>
        <caption>{own.eachHead}</caption>
        <thead>
          <tr>
            <th scope="col">{own.table.layer}</th>
            {Array.from({ length: heads }, (_, head) => (
              <th key={head} scope="col">
                {own.table.head} {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {down.map((layer) => (
            <tr key={layer}>
              <th scope="row">{layer}</th>
              {Array.from({ length: heads }, (_, head) => (
                <td key={head}>{text({ part: 'head', layer, place: head })}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
