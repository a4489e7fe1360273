/** Draws how the ratio to redis-server depends on the amount of data, connections and so on: one line for each kind of request. */
import { escapeText } from './oversell/report.ts';
import { cpuRatio, type Row } from './report.ts';

/** A line: points of an amount and a ratio. */
export interface Curve {
  readonly name: string;
  readonly points: readonly (readonly [amount: number, ratio: number])[];
}

const COLORS = ['#4477aa', '#ee6677', '#228833', '#aa7700', '#66ccee', '#aa3377', '#777777'];
const [LEFT, TOP, WIDTH, HEIGHT] = [50, 60, 420, 200];
/** The height of a panel with its labels. */
const PANEL = TOP + HEIGHT + 40;

/** The amounts in the names of rows, behind the name of the line. */
const AXES: readonly (readonly [title: string, pattern: RegExp])[] = [
  ['keys, in pipelines of 16', /^(.*) over (\d+) keys, 50 connections, pipeline 16$/],
  ['connections, over 1000 keys', /^(.*) over 1000 keys, (\d+) connections?, pipeline 1$/],
  ['KiB of a value, in pipelines of 16', /^(.*) of (\d+) KiB over .*, pipeline 16$/],
  ['subscribers', /^(PUBLISH) to (\d+) subscribers?$/],
];

/** One drawing: the lines that rows form whose names differ only in one amount. */
export interface Panel {
  readonly title: string;
  readonly curves: readonly Curve[];
}

/** The panels that can be drawn of these rows. */
export function panelsOf(rows: readonly Row[]): Panel[] {
  return AXES.map(([title, pattern]) => ({ title, curves: curvesOf(rows, pattern) })).filter(
    ({ curves }) => curves.length > 0,
  );
}

function curvesOf(rows: readonly Row[], pattern: RegExp): Curve[] {
  const lines = new Map<string, [number, number][]>();
  for (const row of rows) {
    const [, name, amount] = pattern.exec(row.name) ?? [];
    const times = cpuRatio(row);
    if (name === undefined || times === undefined) continue;
    const line = name.replace(', all live', '');
    const points = lines.get(line) ?? [];
    points.push([Number(amount), times]);
    lines.set(line, points);
  }
  return [...lines]
    .filter(([, points]) => points.length > 1)
    .map(([name, points]) => ({ name, points: points.sort(([a], [b]) => a - b) }));
}

/** The panels below each other, as SVG. Amounts are on a logarithmic scale. */
export function drawCurves(title: string, panels: readonly Panel[]): string {
  const drawn = panels.map(
    (panel, i) => `<g transform="translate(0 ${i * PANEL})">\n${drawPanel(panel).join('\n')}\n</g>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${LEFT + WIDTH + 260}" height="${panels.length * PANEL + 20}" font-family="sans-serif" font-size="12">`,
    `<title>${escapeText(title)}</title>`,
    '<style>text{fill:#333}</style>',
    '<rect width="100%" height="100%" fill="white"/>',
    `<text x="${LEFT}" y="20">${escapeText(title)}</text>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function drawPanel({ title, curves }: Panel): string[] {
  const amounts = curves.flatMap(({ points }) => points.map(([amount]) => Math.log10(amount)));
  const [least, most] = [Math.min(...amounts), Math.max(...amounts)];
  const top =
    Math.ceil(Math.max(1, ...curves.flatMap(({ points }) => points.map(([, each]) => each))) * 2) / 2;
  const x = (amount: number): number =>
    LEFT + ((Math.log10(amount) - least) / Math.max(most - least, 1)) * WIDTH;
  const y = (value: number): number => TOP + HEIGHT - (value / top) * HEIGHT;
  const parts = [`<text x="${LEFT}" y="${TOP - 14}">${escapeText(title)}</text>`];
  for (let value = 0; value <= top; value += 0.5) {
    const dash = value === 1 ? '' : ' stroke-dasharray="2 4"';
    parts.push(
      `<line x1="${LEFT}" x2="${LEFT + WIDTH}" y1="${y(value)}" y2="${y(value)}" stroke="#888"${dash}/>`,
      `<text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
    );
  }
  for (let power = Math.ceil(least); power <= most; power++) {
    const label = (10 ** power).toLocaleString('en');
    parts.push(`<text x="${x(10 ** power)}" y="${TOP + HEIGHT + 18}" text-anchor="middle">${label}</text>`);
  }
  for (const [i, { name, points }] of curves.entries()) {
    const color = COLORS[i % COLORS.length];
    const path = points.map(([amount, value]) => `${x(amount).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    parts.push(`<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>`);
    for (const [amount, value] of points)
      parts.push(`<circle cx="${x(amount).toFixed(1)}" cy="${y(value).toFixed(1)}" r="3" fill="${color}"/>`);
    parts.push(
      `<rect x="${LEFT + WIDTH + 16}" y="${TOP + i * 20}" width="10" height="10" fill="${color}"/>`,
      `<text x="${LEFT + WIDTH + 32}" y="${TOP + i * 20 + 9}">${escapeText(name)}</text>`,
    );
  }
  return parts;
}
