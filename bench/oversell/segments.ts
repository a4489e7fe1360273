/** How much faster a stock is sold that is split over several locks: a chapter and a chart. */
import { escapeText } from './report.ts';

/** The numbers of segments that are measured; each is a step of its own. */
export const SEGMENT_COUNTS = [1, 2, 4, 8, 16];

/** The name of the step with this number of segments. */
export const segmentStep = (count: number): string => `segmented, ${count}`;

/** The number of segments of a step; 0 for a step without segments. */
export const segmentsOf = (step: string): number => Number(/^segmented, (\d+)$/.exec(step)?.[1] ?? 0);

/** The result of one step. */
export interface SegmentRun {
  readonly segments: number;
  readonly perSecond: number;
  readonly p99: number;
  readonly oversold: number;
}

const speedUp = (runs: readonly SegmentRun[], { perSecond }: SegmentRun): number =>
  perSecond / runs[0]!.perSecond;

/** The results as a chapter of the report. */
export function segmentChapter(runs: readonly SegmentRun[], workMs: number): string {
  const rows = runs.map(
    (run) =>
      `| ${run.segments} | ${Math.round(run.perSecond)} | ${speedUp(runs, run).toFixed(1)} | ${run.p99} | ${run.oversold} |`,
  );
  return `## One stock behind several locks

The same service, calm, with ${workMs} ms of work under the lock.

| segments | sales per s | speed-up | p99, ms | oversold |
|---|---|---|---|---|
${rows.join('\n')}

![speed-up by segments](segments.svg)
`;
}

/** Sales per second as bars, with the ideal as a line above each. */
export function segmentPlot(runs: readonly SegmentRun[]): string {
  const [left, top, height, bar, gap] = [60, 40, 220, 60, 30];
  const first = runs[0]!.perSecond;
  const most = Math.max(...runs.map(({ perSecond }) => perSecond), first);
  const width = left + runs.length * (bar + gap) + 20;
  const y = (value: number): number => top + height - (Math.min(value, most) / most) * height;
  const parts = runs.flatMap((run, index) => {
    const x = left + index * (bar + gap);
    const ideal = first * (run.segments / runs[0]!.segments);
    const label = `${Math.round(run.perSecond)}/s, ×${speedUp(runs, run).toFixed(1)}`;
    return [
      `<rect x="${x}" y="${y(run.perSecond).toFixed(1)}" width="${bar}" height="${(top + height - y(run.perSecond)).toFixed(1)}" fill="#4477aa"/>`,
      ...(ideal <= most
        ? [
            `<line x1="${x - 6}" x2="${x + bar + 6}" y1="${y(ideal).toFixed(1)}" y2="${y(ideal).toFixed(1)}" stroke="#ee6677" stroke-width="2"/>`,
          ]
        : []),
      `<text x="${x + bar / 2}" y="${(y(run.perSecond) - 6).toFixed(1)}" text-anchor="middle" class="small">${escapeText(label)}</text>`,
      `<text x="${x + bar / 2}" y="${top + height + 18}" text-anchor="middle">${run.segments}</text>`,
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top + height + 40}" font-family="sans-serif" font-size="12">`,
    '<title>Sales per second by the number of segments; red: as many times the first as there are segments</title>',
    '<style>text{fill:#333}.small{font-size:10px}</style>',
    '<rect width="100%" height="100%" fill="white"/>',
    ...parts,
    `<text x="${width / 2}" y="${top + height + 34}" text-anchor="middle">segments</text>`,
    '</svg>',
    '',
  ].join('\n');
}
