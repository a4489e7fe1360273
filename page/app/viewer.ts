/** The page as a whole: header, controls, drawings, story and details, and the keys that step through a run. */
import { Axis, timeText } from '../drawing/axis.ts';
import { type Theme, themes } from '../drawing/theme.ts';
import { momentsOf, partingOf, RunView, type Selection } from '../drawing/view.ts';
import type { StoryStep, Timeline, TimelineMessage } from '../format.ts';
import { plainSentence } from '../plain.ts';
import { readable } from '../text.ts';
import { showDetails, verdictWord } from './details.ts';
import { button, element } from './elements.ts';
import { savePicture } from './saving.ts';
import { RunStage } from './stage.ts';
import { toolsFor } from './tools.ts';

const HELP: readonly (readonly [keys: string, what: string])[] = [
  ['\u2190 \u2192', 'events'],
  ['\u2191 \u2193', 'sentences'],
  ['b', 'broken promise'],
  ['+ \u2212', 'zoom'],
  ['0', 'whole run'],
];

/** The width of a printed drawing in CSS pixels: that of A4 between its margins. */
const PRINTED = 718;

/** Shows one run, or two on the same axis. */
export class Viewer {
  readonly #root: HTMLElement;
  readonly #runs: readonly Timeline[];
  #stages: RunStage[] = [];
  /** The stage in which events are selected: the first one, or the one that was clicked on. */
  #chosen: RunStage | undefined;
  #shown = 0;
  #sentence = -1;
  #sentences: HTMLButtonElement[] = [];
  /** The events of the run in the order of time, for stepping. */
  #events: Selection[] = [];
  readonly #details = element('section', { 'aria-live': 'polite', 'aria-label': 'Details' });
  #theme: 'light' | 'dark' | undefined;
  #awaitsFrame = false;
  #isPrinting = false;

  constructor(root: HTMLElement, runs: readonly Timeline[]) {
    this.#root = root;
    this.#runs = runs;
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#redraw());
    new ResizeObserver(() => this.#redraw()).observe(root);
    // Until something has the focus, the keys step through the run.
    document.addEventListener('keydown', (event) => {
      if (event.target === document.body) this.#key(event);
    });
    addEventListener('beforeprint', () => this.#print(true));
    addEventListener('afterprint', () => this.#print(false));
  }

  /** Shows a run, with another one below it if wanted. */
  show(shown: number, beside?: number): void {
    this.#shown = shown;
    this.#sentence = -1;
    const run = this.#run;
    const other = beside === undefined ? undefined : this.#runs[beside];
    const axis = new Axis([...momentsOf(run), ...(other === undefined ? [] : momentsOf(other))]);
    const runs = other === undefined ? [run] : [run, other];
    this.#stages = runs.map(
      (each) =>
        new RunStage(
          new RunView(each, axis),
          {
            theme: () => this.#colours(),
            select: (stage, selection) => this.#select(selection, stage),
            show: (window) => this.#move(window),
          },
          other === undefined ? '' : each.title,
        ),
    );
    this.#chosen = undefined;
    const parting = other === undefined ? undefined : partingOf(run, other);
    for (const [i, { scene }] of this.#stages.entries()) scene.parting = parting?.[i];
    this.#listEvents();
    this.#build(beside);
    this.#redraw();
  }

  get #run(): Timeline {
    return this.#runs[this.#shown] as Timeline;
  }

  get #first(): RunStage {
    return this.#stages[0] as RunStage;
  }

  get #stage(): RunStage {
    return this.#chosen ?? this.#first;
  }

  get #scene(): RunView {
    return this.#stage.scene;
  }

  #colours(): Theme {
    if (this.#isPrinting) return themes.light;
    const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    return themes[this.#theme ?? system];
  }

  #build(beside: number | undefined): void {
    const focused = document.activeElement?.getAttribute('name');
    const run = this.#run;
    const header = this.#header(beside);
    const region = element(
      'div',
      {
        class: 'drawing',
        tabindex: '0',
        role: 'group',
        'aria-label': `Timeline of ${run.title}. Step with the arrow keys.`,
      },
      ...this.#stages.map(({ root }) => root),
    );
    region.addEventListener('keydown', (event) => this.#key(event));
    const story = element('ol', { class: 'story' });
    this.#sentences = run.story.map((step, i) => this.#sentenceOf(step, i));
    for (const sentence of this.#sentences) story.append(element('li', {}, sentence));
    story.addEventListener('keydown', (event) => this.#key(event));
    const help = element(
      'p',
      { class: 'keys' },
      ...HELP.flatMap(([keys, what]) => [element('kbd', {}, keys), ` ${what}  `]),
    );
    const aside = element(
      'aside',
      { class: 'told', 'aria-label': 'Story and details' },
      element('h2', {}, 'What happened'),
      story,
      this.#details,
      help,
    );
    const tools = this.#tools();
    const compared = tools.querySelectorAll('select')[1];
    if (beside !== undefined && compared !== undefined) compared.value = String(beside);
    this.#root.replaceChildren(header, tools, element('main', {}, region, aside), this.#footer());
    showDetails(this.#details, run, undefined, (to) => this.#select(to));
    const again = [...tools.querySelectorAll('select')].find(({ name }) => name === focused);
    again?.focus({ preventScroll: true });
  }

  /** What was played, how it ended, and why. */
  #header(beside: number | undefined): HTMLElement {
    const run = this.#run;
    const { verdict } = run;
    const header = element('header', {}, element('h1', {}, run.title));
    const plain = plainSentence(run);
    if (verdict === undefined && plain !== undefined)
      header.append(element('p', { class: 'verdict' }, plain));
    if (verdict !== undefined) {
      const word = element('strong', {}, verdictWord(verdict));
      const look = { class: verdict.safe ? 'verdict safe' : 'verdict' };
      // Why two holders do no harm matters more than how there came to be two.
      const first = verdict.safe ? undefined : plain;
      header.append(element('p', look, word, ` ${first ?? verdict.why}`));
      if (first !== undefined)
        header.append(
          element('details', {}, element('summary', {}, 'Details'), element('p', {}, verdict.why)),
        );
      if (verdict.cure !== undefined)
        header.append(
          element('p', {}, `What would have prevented it: ${verdict.cure} `, ...this.#cureButton(beside)),
        );
    }
    return header;
  }

  /** Shows the run in which the loss is prevented beside this one, on the same axis. */
  #cureButton(beside: number | undefined): HTMLElement[] {
    const cured = this.#run.verdict?.cured;
    if (cured === undefined || this.#runs[cured] === undefined || cured === beside) return [];
    return [button('Show that run below', () => this.show(this.#shown, cured))];
  }

  #footer(): HTMLElement {
    const { clock, replay } = this.#run;
    const isSeed = /^\d+$/.test(replay ?? '');
    const again =
      replay === undefined ? '' : isSeed ? ` Seed ${replay} gives the same run.` : ` Replay text: ${replay}`;
    return element('footer', { class: 'keys' }, `lostlock, ${clock} clock.${again}`);
  }

  #sentenceOf(step: StoryStep, index: number): HTMLButtonElement {
    const made = button('', () => this.#tell(index));
    made.append(element('time', {}, timeText(step.at)), element('span', { class: moodOf(step) }, step.text));
    return made;
  }

  #tools(): HTMLElement {
    return toolsFor(this.#runs, this.#shown, {
      show: (run) => this.show(run),
      compare: (run) => this.show(this.#shown, run),
      filter: (filter) => {
        for (const { scene } of this.#stages) scene.filter = filter;
        this.#listEvents();
        this.#redraw();
      },
      search: (text) => this.#search(text),
      breach: () => this.#breach(),
      step: (by) => this.#step(by),
      zoom: (factor) => this.#stage.zoom(factor),
      whole: () => this.#move(this.#scene.whole()),
      theme: () => {
        this.#theme = this.#colours() === themes.dark ? 'light' : 'dark';
        document.documentElement.dataset.theme = this.#theme;
        this.#redraw();
      },
      save: (kind) => {
        const scenes = this.#stages.map(({ scene }) => scene);
        savePicture(kind, scenes, this.#colours(), this.#first.root.clientWidth);
      },
    });
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Record<string, () => void> = {
      ArrowRight: () => this.#step(1),
      ArrowLeft: () => this.#step(-1),
      ArrowDown: () => this.#tell(Math.min(this.#sentence + 1, this.#sentences.length - 1)),
      ArrowUp: () => this.#tell(Math.max(this.#sentence - 1, 0)),
      b: () => this.#breach(),
      '+': () => this.#stage.zoom(1 / 1.5),
      '-': () => this.#stage.zoom(1.5),
      0: () => this.#move(this.#scene.whole()),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  #listEvents(): void {
    const { run } = this.#scene;
    const messages = run.messages.flatMap((_, index): Selection[] =>
      this.#scene.shows(index) ? [{ type: 'message', index }] : [],
    );
    const marks = run.marks.map((_, index): Selection => ({ type: 'mark', index }));
    const overlaps = run.overlaps.flatMap(({ key }, index): Selection[] =>
      this.#scene.showsKey(key) ? [{ type: 'overlap', index }] : [],
    );
    const timed = [...messages, ...marks, ...overlaps].map((each) => ({
      each,
      at: this.#scene.timesOf(each)[0],
    }));
    this.#events = timed.sort((a, b) => a.at - b.at).map(({ each }) => each);
  }

  /** Selects the next or previous event. */
  #step(by: 1 | -1): void {
    const { selection } = this.#scene;
    const now = this.#events.findIndex(
      ({ type, index }) => type === selection?.type && index === selection.index,
    );
    const next = now === -1 ? (by === 1 ? 0 : this.#events.length - 1) : now + by;
    const event = this.#events[next];
    if (event !== undefined) this.#select(event);
  }

  /** Selects a sentence of the story, and the event that it tells. */
  #tell(index: number): void {
    const { about, at } = this.#run.story[index] ?? {};
    this.#sentence = index;
    if (about === undefined) {
      this.#choose(this.#first);
      this.#showTimes(at ?? 0, at ?? 0);
      this.#markSentence();
      return;
    }
    if ('message' in about) this.#select({ type: 'message', index: about.message }, this.#first, index);
    else if ('mark' in about) this.#select({ type: 'mark', index: about.mark }, this.#first, index);
    else this.#select({ type: 'overlap', index: about.overlap }, this.#first, index);
  }

  #breach(): void {
    if (this.#run.overlaps.length > 0) this.#select({ type: 'overlap', index: 0 }, this.#first);
  }

  #select(selection: Selection | undefined, stage = this.#stage, sentence?: number): void {
    this.#choose(stage);
    this.#scene.select(selection);
    // The story is that of the first run.
    const told = stage === this.#first ? (sentence ?? this.#sentenceAbout(selection)) : -1;
    this.#sentence = told ?? this.#sentence;
    showDetails(this.#details, this.#scene.run, selection, (to) => this.#select(to));
    this.#markSentence();
    if (selection !== undefined) this.#showTimes(...this.#scene.timesOf(selection));
    this.#redraw();
  }

  /** Makes a stage the one whose events are selected and stepped through. */
  #choose(stage: RunStage): void {
    if (stage === this.#stage) return;
    this.#scene.select(undefined);
    this.#chosen = stage;
    this.#listEvents();
  }

  #sentenceAbout(selection: Selection | undefined): number | undefined {
    const found = this.#run.story.findIndex(({ about }) => {
      const [type, index] = Object.entries(about ?? {})[0] ?? [];
      return type === selection?.type && index === selection?.index;
    });
    return found === -1 ? undefined : found;
  }

  #markSentence(): void {
    for (const [i, sentence] of this.#sentences.entries()) {
      if (i === this.#sentence) {
        sentence.setAttribute('aria-current', 'true');
        showInside(sentence, this.#details);
      } else sentence.removeAttribute('aria-current');
    }
  }

  /** Moves the window so that a time is in it. */
  #showTimes(from: number, to: number): void {
    const { axis, window } = this.#scene;
    const [left, right] = [
      axis.place(from),
      axis.place(Math.min(to, axis.time(axis.place(from) + (window[1] - window[0]) / 2))),
    ];
    if (left >= window[0] && right <= window[1]) return;
    const size = window[1] - window[0];
    const middle = (left + right) / 2;
    this.#move([middle - size / 2, middle + size / 2]);
  }

  #move([from, to]: [number, number]): void {
    const [first, last] = this.#scene.whole();
    const size = Math.min(Math.max(to - from, 40), last - first);
    const start = Math.min(Math.max((from + to - size) / 2, first), last - size);
    for (const { scene } of this.#stages) scene.window = [start, start + size];
    this.#redraw();
  }

  #search(text: string): string {
    if (text === '') return '';
    const lower = text.toLowerCase();
    const { messages, marks } = this.#scene.run;
    const fits = ({ type, index }: Selection): boolean => {
      const found =
        type === 'message' ? searched(messages[index]) : type === 'mark' ? marks[index]?.text : undefined;
      return found?.toLowerCase().includes(lower) === true;
    };
    const hits = this.#events.filter(fits);
    const { selection } = this.#scene;
    const now = hits.findIndex(({ type, index }) => type === selection?.type && index === selection.index);
    const next = hits[(now + 1) % Math.max(1, hits.length)];
    if (next !== undefined) this.#select(next);
    return next === undefined ? 'nothing found' : `${hits.indexOf(next) + 1} of ${hits.length}`;
  }

  #redraw(): void {
    if (this.#awaitsFrame) return;
    this.#awaitsFrame = true;
    requestAnimationFrame(() => {
      this.#awaitsFrame = false;
      this.#draw();
    });
  }

  #draw(): void {
    for (const stage of this.#stages) stage.draw(this.#isPrinting ? PRINTED : undefined);
  }

  /** Draws as for paper, or as on the screen again. */
  #print(isPrinting: boolean): void {
    this.#isPrinting = isPrinting;
    this.#draw();
  }
}

/**
 * Scrolls the list so that a sentence is in view, above the details. The page itself stays where it is: else the drawing would leave it.
 */
function showInside(sentence: HTMLElement, details: HTMLElement): void {
  const list = sentence.closest('aside');
  if (list === null) return;
  const [box, own] = [list.getBoundingClientRect(), sentence.getBoundingClientRect()];
  const bottom = box.bottom - details.offsetHeight;
  if (own.top < box.top) list.scrollTop -= box.top - own.top;
  else if (own.bottom > bottom) list.scrollTop += own.bottom - bottom;
}

/** Red is for what is broken: two holders, and a promise. What only harms is bold. */
function moodOf({ mood, about, lane }: StoryStep): string {
  return mood !== 'bad' || lane === '*' || (about !== undefined && 'overlap' in about) ? mood : 'harm';
}

/** Where a search looks. A shortened text lacks the rest of a long key. */
function searched(
  { text, bytes }: Pick<TimelineMessage, 'text' | 'bytes'> = { text: '', bytes: '' },
): string {
  return text.includes('...') ? `${text} ${readable(bytes)}` : text;
}
