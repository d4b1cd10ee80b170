// Draws the results as a bar chart: for each shape, how many times as long the fastest other package takes.

import { byShape, groupRuns } from './table.js';

const [LEFT, BAR, GAP, WIDTH, UNIT] = [190, 16, 8, 760, 110];
const escapeXml = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

export function drawChart(results) {
  const run = groupRuns(results)
    .filter(({ threads }) => threads === 1)
    .at(-1);
  const rows = byShape(run.results).filter(({ peer, weights }) => peer && !weights);
  const height = rows.length * (BAR + GAP) + 70;
  const most = Math.max(...rows.map(({ ratio }) => ratio));
  const scale = Math.min(UNIT, (WIDTH - LEFT - 60) / most);
  const bars = rows.map(({ shape, ratio }, i) => {
    const y = 50 + i * (BAR + GAP);
    return `<text x="${LEFT - 8}" y="${y + 12}" text-anchor="end">${escapeXml(shape)}</text>
<rect class="bar" x="${LEFT}" y="${y}" width="${(ratio * scale).toFixed(1)}" height="${BAR}" rx="2"/>
<text x="${(LEFT + ratio * scale + 6).toFixed(1)}" y="${y + 12}">${ratio.toFixed(1)}×</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}"
font-family="system-ui, sans-serif" font-size="13" role="img"
aria-label="Time of the fastest other package as a multiple of Headlight's">
<style>text{fill:#222}.bar{fill:#3b6fd4}.one{stroke:#888;stroke-dasharray:3 3}
@media(prefers-color-scheme:dark){text{fill:#ddd}.bar{fill:#7aa2f7}}</style>
<text x="${LEFT}" y="20" font-weight="600">Time of the fastest other package, Headlight = 1</text>
<text x="${LEFT}" y="38">${escapeXml(`${run.engine}, one thread`)}</text>
<line class="one" x1="${LEFT + scale}" x2="${LEFT + scale}" y1="46" y2="${height - 18}"/>
${bars.join('\n')}
</svg>
`;
}
