/** The page's file: self-contained, small, and safe whatever bytes the data has; its axis; a drawing as SVG. */
import { expect, test } from 'vitest';
import { namedStories, stories } from '../../lab/demo/stories.ts';
import { timelineFile } from '../../lab/timeline/timeline.ts';
import { pageCode } from '../../page/bundle.ts';
import { Axis, timesText, timeText } from '../../page/drawing/axis.ts';
import { drawScene } from '../../page/drawing/draw.ts';
import { sceneHeight } from '../../page/drawing/legend.ts';
import { type Lettering, type Pen, SvgPen } from '../../page/drawing/pen.ts';
import { sheetOf } from '../../page/drawing/sheet.ts';
import { themes } from '../../page/drawing/theme.ts';
import { partingOf, RunView, type Shown } from '../../page/drawing/view.ts';
import type { Timeline } from '../../page/format.ts';
import { safeJson, timelineHtml } from '../../page/html.ts';
import { longTimeline } from '../support/long-timeline.ts';

const failover = stories[0] as (typeof stories)[number];

async function story(seed = 7): Promise<Timeline> {
  return (await failover(seed)).timeline as Timeline;
}

/** Texts that would break out of a script element, a comment or an attribute. */
const HOSTILE = `</script><script>alert(1)</script><!--<script>"'&\u0000\u00ff\u2028`;

test('without data the page is below 300 kB, and names no address to load anything from', async () => {
  const code = await pageCode();
  const page = timelineHtml(timelineFile([]), code);
  expect(page.length).toBeLessThan(300_000);
  expect(page.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|\bimport\(|\bfetch\(/);
  expect(page).toContain("default-src 'none'");
});

test('no byte of the data can end its script element, and all of them survive', async () => {
  const run = { ...(await story()), title: HOSTILE };
  const page = timelineHtml(timelineFile([run]), { script: 'const x = "</script>";', style: '' });
  expect(page.match(/<script/g)).toHaveLength(2);
  expect(page.match(/<\/script/g)).toHaveLength(2);
  const data = /id="data">(.*)<\/script>/.exec(page)?.[1] ?? '';
  expect(data).not.toMatch(/[<>&]|[^ -~]/);
  expect(JSON.parse(data).runs[0].title).toBe(HOSTILE);
  expect(safeJson({ a: '\u0000\u00ff' })).toBe('{"a":"\\u0000\\u00ff"}');
});

test('the page has the title of its first run, and says what it is about', async () => {
  const [run, other] = [await story(7), await story(8)];
  const page = timelineHtml(timelineFile([run, other]), { script: '', style: '' });
  expect(page).toContain(`<title>${run.title} - lostlock</title>`);
  expect(page).toContain('name="description" content="A timeline of messages, faults and locks. ');
  const hostile = timelineHtml(
    timelineFile([{ ...run, title: HOSTILE, verdict: { ...run.verdict!, sentence: HOSTILE } }]),
    {
      script: '',
      style: '',
    },
  );
  expect(hostile.match(/<script/g)).toHaveLength(2);
  expect(hostile).toContain('faults and locks. &#60;/script&#62;');
});

test('a title of any letters is what the browser shows', async () => {
  const title = 'Schl\u00fcssel \u{1f512}';
  const page = timelineHtml(timelineFile([{ ...(await story()), title }]), { script: '', style: '' });
  expect(page).toContain(`<title>${title} - lostlock</title>`);
  expect(page).not.toContain('&#55357;');
});

test('without JavaScript the page tells the verdict, the story and the cure of each run, as text', async () => {
  const [run, other] = [await story(), (await namedStories.wait?.(7))?.timeline as Timeline];
  const cured = { ...run, verdict: { ...run.verdict!, cure: 'A asks <WAIT>.' } };
  const story_ = [...other.story, { at: 0, lane: 'A', text: '<b>\u00e4</b>\u202e', mood: 'plain' as const }];
  const page = timelineHtml(timelineFile([cured, { ...other, story: story_ }]), { script: '', style: '' });
  const [, content = ''] = /<div id="page">([\s\S]*?)<\/div>/.exec(page) ?? [];
  expect(content).toContain('knew nothing of A, and told B yes.');
  expect(content).toContain('What would have prevented it: A asks &#60;WAIT&#62;.');
  for (const { text } of [...run.story, ...other.story]) expect(content).toContain(text);
  expect(content).toContain('&#60;b&#62;\u00e4&#60;/b&#62;&#8238;');
  expect(content.match(/<h1>/g)).toHaveLength(2);
});

test('an SVG has the colours of dark pages as well, for itself alone', async () => {
  const svg = drawn(await story());
  const [, id = ''] = /^<svg [^>]*id="([^"]*)"/.exec(svg) ?? [];
  const [, rules = ''] = /<style>@media \(prefers-color-scheme:dark\)\{(.*)\}<\/style>/.exec(svg) ?? [];
  expect(rules).toContain(`#${id} [fill="${themes.light.ground}"]{fill:${themes.dark.ground}}`);
  for (const rule of rules.split('}').filter((each) => each !== ''))
    expect(rule.startsWith(`#${id} [`)).toBe(true);
  const used = new Set(
    [...svg.replace(/<style>.*<\/style>/, '').matchAll(/(?:fill|stroke)="(#\w+)"/g)].map(
      ([, colour]) => colour,
    ),
  );
  const same = new Set([...themes.light.holders, themes.light.holderInk]);
  for (const colour of used) if (!same.has(colour as string)) expect(rules).toContain(`"${colour}"]`);
});

test('the axis shortens idle time, keeps the order of moments, and finds back to each of them', () => {
  const moments = [0, 1000, 2000, 3000, 30_000_000, 30_001_000];
  const axis = new Axis(moments);
  const places = moments.map((time) => axis.place(time));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(axis.end).toBeLessThan(60_000);
  for (const time of moments) expect(axis.time(axis.place(time))).toBeCloseTo(time, 3);
  expect(axis.gaps).toHaveLength(1);
});

test('times have the digits that tell them apart', () => {
  expect([timeText(3240), timeText(29_994_321)]).toEqual(['3.2 ms', '29.99 s']);
  expect([timeText(3240, 20), timeText(29_994_321, 100)]).toEqual(['3.24 ms', '29.9943 s']);
  expect(timesText(1001, 1003)).toEqual(['1.001 ms', '1.003 ms']);
  expect(timesText(1000, 2000)).toEqual(['1 ms', '2 ms']);
});

/** The relative luminance of a colour, as WCAG counts it. */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

test('eight clients have colours of their own, on which texts can be read', () => {
  for (const { holders, holderInk } of Object.values(themes)) {
    expect(new Set(holders).size).toBe(8);
    for (const colour of holders)
      expect((luminance(colour) + 0.05) / (luminance(holderInk) + 0.05)).toBeGreaterThan(4.5);
  }
});

test('a key that is there at the end is drawn as long as the lease of its holder, and its text is free', async () => {
  const run = await story();
  const texts: [text: string, x: number, y: number, width: number][] = [];
  const bars: [y: number, end: number][] = [];
  const pen = new SvgPen(1280, 600);
  const spy: Pen = Object.assign(Object.create(pen) as Pen, {
    rect: (x: number, y: number, width: number) => bars.push([y, x + width]),
    text: (x: number, y: number, text: string, look: Lettering) =>
      texts.push([text, x, y, pen.widthOf(text, look)]),
    lines: () => {},
    triangles: () => {},
    bars: () => {},
    widthOf: (text: string, look: Lettering) => pen.widthOf(text, look),
    clipped: (_x: number, _y: number, _w: number, _h: number, draw: () => void) => draw(),
  });
  const scene = new RunView(run);
  drawScene(sheetOf(spy, scene, themes.light, 1280));
  const held = scene.laneY('B') as number;
  const known = scene.laneY('redis-2') as number;
  const endAt = (y: number): number => Math.max(...bars.filter(([top]) => top === y).map(([, end]) => end));
  expect(endAt(known - 8)).toBeCloseTo(endAt(held - 11), 3);
  const [label] = texts.filter(([text]) => text === 'my:lock = B');
  const [lost] = texts.filter(([text]) => text.startsWith('never arrived'));
  expect(label).toBeDefined();
  expect(Math.abs((label?.[2] as number) - (lost?.[2] as number))).toBeGreaterThan(14);
});

test('a drawing shows both holders, the overlap, and the message that never arrived', async () => {
  const scene = new RunView(await story());
  const pen = new SvgPen(1200, sceneHeight(scene, 1200));
  drawScene(sheetOf(pen, scene, themes.light, 1200));
  const svg = pen.svg('The lost lock');
  for (const text of [
    'A holds my:lock',
    'B holds my:lock',
    'both hold it: 29.',
    'never arrived: SET my:lock A',
    'crash',
  ])
    expect(svg).toContain(text);
});

/** The drawing of a run as SVG. @param filter what is shown; default as at first */
function drawn(run: Timeline, width = 1200, filter: Partial<Shown> = {}): string {
  const scene = new RunView(run);
  scene.filter = { ...scene.filter, ...filter };
  const pen = new SvgPen(width, sceneHeight(scene, width));
  drawScene(sheetOf(pen, scene, themes.light, width));
  return pen.svg('A drawing');
}

test('a page links to the page that it belongs to, with an address that can run nothing', async () => {
  const run = await story();
  const page = (address: string): string =>
    timelineHtml(timelineFile([run], { text: 'All <runs>', address }), { script: '', style: '' });
  for (const address of ['../catalogue.html', 'https://example.org/a', '/a?b#c'])
    expect(page(address)).toContain(`<a href="${address}">All &#60;runs&#62;</a>`);
  for (const address of [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'java\nscript:x',
    '\u0001javascript:x',
  ])
    expect(page(address)).not.toContain('<a href');
});

test('two drawings in one page share no ids, so that neither cuts the other, and one drawing has the same ids each time', async () => {
  const run = await story();
  const ids = (svg: string): string[] => [...svg.matchAll(/id="([^"]*)"/g)].map(([, id = '']) => id);
  const [wide, narrow] = [drawn(run, 1200), drawn(run, 900)];
  expect(ids(wide).length).toBeGreaterThan(0);
  expect(ids(wide).filter((id) => ids(narrow).includes(id))).toEqual([]);
  expect(drawn(run, 1200)).toBe(wide);
  for (const svg of [wide, narrow])
    for (const [, id = ''] of svg.matchAll(/url\(#([^)]*)\)/g)) expect(ids(svg)).toContain(id);
});

test('a lost write has a mark or a cross of its copy, also when replication is not shown, and a write without a copy has its mark', async () => {
  const run = await story();
  expect(drawn(run)).not.toContain('>write lost<');
  expect(drawn(run, 1200, { kinds: new Set(['request']) })).toContain('>write lost<');
  const mark = {
    at: run.end - 1000,
    lane: 'redis-1',
    kind: 'lost',
    text: 'offset 9 is lost: A DEL k',
  } as const;
  const step = { at: mark.at, lane: mark.lane, text: 'A write is lost.', mood: 'bad' } as const;
  const told = { ...step, about: { mark: run.marks.length } };
  expect(drawn({ ...run, marks: [...run.marks, mark], story: [...run.story, told] })).toContain(
    '>write lost<',
  );
});

test('what a resource takes and refuses is written in its lane, and a legend explains the lines', async () => {
  const fence = (await namedStories.fence?.(7))?.timeline as Timeline;
  const svg = drawn(fence);
  expect(svg).toContain('>accepts the write of B with fence 2.<');
  expect(svg).toContain('>refuses the write of A with fence 1: it has seen 2.<');
  for (const word of ['request', 'reply', 'replication', 'acknowledgement', 'never arrives', 'time left out'])
    expect(svg).toContain(`>${word}<`);
});

test('each client inside a resource has a bar in the lane of the resource, with its fence', async () => {
  const run = await story();
  const visit = { client: 'B', key: 'stock', kind: 'visit', from: 0, to: run.end, lease: null } as const;
  const lanes = [...run.lanes, { name: 'stock', kind: 'resource' as const }];
  const holds = [{ ...visit, renewals: [], fence: 4 }, ...run.holds];
  expect(drawn({ ...run, lanes, holds })).toContain('>B is inside (fence 4)<');
});

test('two locks of one client, and two keys of one node, are drawn below each other', async () => {
  const run = await story();
  const holds = run.holds.flatMap((hold) => [hold, { ...hold, key: 'other' }]);
  const keys = run.keys.flatMap((key) => [key, { ...key, key: 'other' }]);
  const svg = drawn({ ...run, holds, keys });
  const heightOf = (text: string): number =>
    Number(new RegExp(`y="([\\d.]+)"[^>]*>${text}<`).exec(svg)?.[1] ?? Number.NaN);
  expect(Math.abs(heightOf('B holds my:lock') - heightOf('B holds other'))).toBeGreaterThan(20);
  expect(Math.abs(heightOf('my:lock = B') - heightOf('other = B'))).toBeGreaterThan(14);
});

test('long names of lanes are shortened in the middle, and what is under way at the end is not called lost', async () => {
  const run = await story();
  const lanes = ['the-client-with-1', 'the-client-with-2'].map((name) => ({
    name,
    kind: 'resource' as const,
  }));
  const last = { ...run.messages[0], sent: run.end - 9000, due: run.end + 9000, arrived: null };
  const waiting = { ...last, fate: 'waiting', kind: 'request', text: 'GET k' };
  const messages = [...run.messages, waiting] as Timeline['messages'];
  const svg = drawn({ ...run, lanes: [...run.lanes, ...lanes], messages });
  expect(svg).toMatch(/>the-\S*\.\.\S*-1</);
  expect(svg).toMatch(/>the-\S*\.\.\S*-2</);
  expect(svg).toContain('>still on its way: GET k<');
});

test('a party that is cut off from two others has one label, and no text leaves a narrow drawing', async () => {
  const run = (await namedStories['redlock-clock']?.(7))?.timeline as Timeline;
  const labels = (svg: string): number => svg.match(/>cut off</g)?.length ?? 0;
  const cut = new Set(
    run.marks.filter(({ kind }) => kind === 'partition').map(({ at, lane }) => `${at} ${lane}`),
  );
  expect(labels(drawn(run))).toBe(cut.size);
  const width = 390;
  for (const [, x, size, text = ''] of drawn(run, width).matchAll(
    /<text x="([\d.]+)"[^>]* font-size="(\d+)"[^>]*>((?:never arrived|both hold)[^<]*)</g,
  ))
    expect(Number(x) + text.length * Number(size) * 0.5).toBeLessThan(width);
});

test('of two messages that are lost at one place, the texts do not cover each other', async () => {
  const run = (await namedStories['fence-rolled-back']?.(7))?.timeline as Timeline;
  for (const width of [626, 1043, 1400]) {
    const found = [
      ...drawn(run, width).matchAll(/<text x="([\d.]+)" y="([\d.]+)"[^>]*>(never arrived[^<]*)</g),
    ];
    const boxes = found.map(([, x, y, text = '']) => [Number(x), Number(y), text.length * 12 * 0.56]);
    expect(boxes.length).toBeGreaterThan(0);
    for (const [i, [x = 0, y = 0, size = 0]] of boxes.entries())
      for (const [ox = 0, oy = 0, other = 0] of boxes.slice(i + 1))
        expect(Math.abs(y - oy) >= 14 || x + size <= ox || ox + other <= x).toBe(true);
  }
});

test('a crowd of messages is drawn column by column, and what was lost still stands out', () => {
  const scene = new RunView(longTimeline(20_000));
  const pen = new SvgPen(1200, sceneHeight(scene, 1200));
  drawScene(sheetOf(pen, scene, themes.light, 1200));
  const svg = pen.svg('A crowd');
  expect(svg.length).toBeLessThan(300_000);
  expect(svg).toContain(`fill="${themes.light.request}" fill-opacity="0.5"`);
  const crosses = svg
    .split('\n')
    .find((part) => part.includes(`stroke="${themes.light.ink}" stroke-width="3"`));
  expect(crosses?.match(/M/g)).toHaveLength(2 * 20);
  // The filter holds in a crowd, too.
  scene.filter = { ...scene.filter, key: 'another' };
  const none = new SvgPen(1200, sceneHeight(scene, 1200));
  drawScene(sheetOf(none, scene, themes.light, 1200));
  expect(none.svg('Nothing')).not.toContain('fill-opacity="0.5"');
});

test('a key filter finds long keys and keys of any bytes, and hides what is about other keys', async () => {
  const run = await story();
  const key = `${'long:'.repeat(40)}\u0000\u00c3\u00a4`;
  const request = run.messages[run.holds[0]?.grant as number]?.cause as number;
  const messages = run.messages.map((message, i) => (i === request ? { ...message, bytes: key } : message));
  const scene = new RunView({ ...run, messages });
  scene.filter = { ...scene.filter, key };
  expect(scene.shows(request)).toBe(true);
  expect(scene.shows(run.holds[0]?.grant as number)).toBe(true);
  expect(messages.filter((_, i) => scene.shows(i)).length).toBeLessThan(4);
  expect(drawn(run, 1200, { key: 'my:lock' })).toContain('both hold it');
  expect(drawn(run, 1200, { key: 'another' })).not.toContain('both hold it');
});

test('a selected message has its whole way: the request, its reply, and the copy of the write', async () => {
  const scene = new RunView(await story());
  const reply = scene.run.holds[0]?.grant as number;
  scene.select({ type: 'message', index: reply });
  expect([...scene.way].map((index) => scene.run.messages[index]?.kind).sort()).toEqual([
    'reply',
    'request',
    'stream',
  ]);
});

test('two runs part at their first different message, and equal runs do not', async () => {
  const [one, again, other] = [await story(7), await story(7), await story(8)];
  expect(partingOf(one, again)).toBe(undefined);
  expect(partingOf(one, other)).toHaveLength(2);
});
