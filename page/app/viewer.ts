/** The page as a whole: verdict, controls, drawings, story and details, and the keys that step through a run. */
import { Axis } from '../drawing/axis.ts';
import { isBroken } from '../drawing/numbers.ts';
import { type Theme, themes } from '../drawing/theme.ts';
import {
  FIRST_FILTER,
  isSame,
  momentsOf,
  partingOf,
  RunView,
  type Selection,
  toldBy,
} from '../drawing/view.ts';
import type { Timeline, TimelineBack, TimelineFile } from '../format.ts';
import { markdownOf } from '../markdown.ts';
import { runNames } from '../names.ts';
import { answerOf } from '../plain.ts';
import { addressOf, readAddress, showAddress } from './address.ts';
import { answerFor, type CurePair, pairOf } from './answer.ts';
import { backLink, contentsOf } from './contents.ts';
import { showDetails } from './details.ts';
import { copyText, element } from './elements.ts';
import { eventsOf } from './events.ts';
import { savePicture } from './saving.ts';
import { type Hit, searchIn } from './search.ts';
import { RunStage } from './stage.ts';
import { StepBar } from './step-bar.ts';
import { StoryList, showInside } from './story-list.ts';
import { toolsFor } from './tools.ts';
import { fitted, type Window, windowAbout, windowOfBreak } from './windows.ts';

const HELP: readonly (readonly [keys: string, what: string])[] = [
  ['\u2190 \u2192', 'step'],
  ['b', 'broken promise'],
  ['+ \u2212', 'zoom'],
  ['0', 'whole run'],
];

/** The width of a printed drawing in CSS pixels: that of A4 between its margins. */
const PRINTED = 718;
/** From this width on, the list of sentences stands beside the drawing, in CSS pixels. */
const WIDE = 901;

/** Shows one run, or two on the same axis, or the list of all runs. */
export class Viewer {
  readonly #root: HTMLElement;
  readonly #runs: readonly Timeline[];
  readonly #names: readonly string[];
  readonly #back: TimelineBack | undefined;
  #stages: RunStage[] = [];
  /** The stage in which events are selected: the first one, or the one that was clicked on. */
  #chosen: RunStage | undefined;
  #shown = 0;
  /** The run that is shown below, if any. */
  #beside: number | undefined;
  #pair: CurePair | undefined;
  /** The sentence that is shown; -1 for none: then all of the run is. */
  #step = -1;
  #isExpert = false;
  #isLinear = false;
  #story = new StoryList(
    { story: [] },
    () => {},
    () => {},
  );
  /** The events of the run in the order of time, for stepping through messages. */
  #events: Selection[] = [];
  #hits: readonly Hit[] = [];
  #hit = -1;
  readonly #bar = new StepBar((by) => this.#next(by));
  readonly #details = element('section', {
    'aria-live': 'polite',
    'aria-label': 'Details',
    class: 'details',
  });
  #theme: 'light' | 'dark' | undefined;
  #awaitsFrame = false;
  #isPrinting = false;
  /** What of each run is seen on the screen, while it is printed whole. */
  readonly #onScreen = new WeakMap<RunView, Pick<RunView, 'now' | 'step' | 'window'>>();

  constructor(root: HTMLElement, { runs, back }: TimelineFile) {
    this.#root = root;
    this.#runs = runs;
    this.#back = back;
    this.#names = runNames(runs);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#redraw());
    new ResizeObserver(() => this.#redraw()).observe(root);
    // Until something has the focus, the keys step through the run.
    document.addEventListener('keydown', (event) => {
      if (event.target === document.body) this.#key(event);
    });
    addEventListener('scroll', () => this.#fitList(), { passive: true });
    addEventListener('beforeprint', () => this.#print(true));
    addEventListener('afterprint', () => this.#print(false));
    addEventListener('popstate', () => this.open());
  }

  /** Shows what the address names: a run, a sentence of it, or the list of runs, with which a file of several begins. */
  open(): void {
    const { list, run, step } = readAddress(location.hash, this.#names);
    if (list || (run === undefined && this.#runs.length > 2)) {
      this.#list();
      return;
    }
    this.#show(run ?? 0);
    if (step !== undefined) this.#tell(Math.min(step, this.#run.story.length - 1));
  }

  #list(): void {
    this.#stages = [];
    this.#root.className = '';
    this.#root.replaceChildren(...contentsOf(this.#runs, this.#names, (run) => this.#go(run), this.#back));
    scrollTo(0, 0);
  }

  /** Shows another run, which the history remembers. */
  #go(run: number): void {
    showAddress(addressOf(this.#names[run] as string), true);
    this.#show(run);
  }

  /** @param beside another run, to be shown below it */
  #show(shown: number, beside?: number, filter = FIRST_FILTER): void {
    this.#shown = shown;
    this.#beside = beside;
    this.#step = -1;
    this.#hits = [];
    this.#pair = pairOf(this.#runs, shown, this.#pair);
    const run = this.#run;
    const other = beside === undefined ? undefined : this.#runs[beside];
    const { without, with: cured } = this.#pair ?? {};
    // With and without the cure, the axis is the same: so the eye sees what changes.
    const measured = [run, other, this.#runs[without ?? -1], this.#runs[cured ?? -1]];
    const moments = new Set(measured.filter((each) => each !== undefined));
    const axis = new Axis([...moments].flatMap(momentsOf), this.#isLinear);
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
          other === undefined ? '' : `${each.title}. ${answerOf(each).word}`.trim(),
        ),
    );
    this.#chosen = undefined;
    const parting = other === undefined ? undefined : partingOf(run, other);
    for (const [i, { scene }] of this.#stages.entries())
      Object.assign(scene, { filter, parting: parting?.[i] });
    this.#events = eventsOf(this.#scene);
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
    const refocus = this.#refocus();
    const run = this.#run;
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
    this.#story = new StoryList(
      run,
      (index) => this.#tell(index),
      () => this.#number(),
    );
    this.#number();
    this.#story.root.addEventListener('keydown', (event) => this.#key(event));
    const help = HELP.flatMap(([keys, what]) => [element('kbd', {}, keys), ` ${what}  `]);
    const aside = element(
      'aside',
      { class: 'told', 'aria-label': 'Story and details' },
      element('h2', {}, 'What happened'),
      this.#story.root,
      this.#details,
      element('p', { class: 'keys help' }, ...help),
    );
    const isOpen = this.#root.querySelector<HTMLDetailsElement>('.tools details')?.open === true;
    const tools = this.#tools();
    const more = tools.querySelector('details');
    if (more !== null) more.open = isOpen;
    const compared = tools.querySelector<HTMLSelectElement>('select[name="Compare with"]');
    if (beside !== undefined && compared !== null) compared.value = String(beside);
    this.#root.className = 'run';
    this.#root.replaceChildren(
      element('header', {}, ...backLink(this.#back), element('h1', {}, run.title)),
      answerFor(this.#runs, this.#shown, this.#pair, (other) => this.#go(other)),
      this.#bar.root,
      tools,
      element('main', {}, region, aside),
      this.#footer(),
    );
    showDetails(this.#details, run, undefined, (to) => this.#select(to));
    this.#tellStep();
    refocus();
  }

  /** Where a control is built anew, the focus stays on it: returns what focuses the new one. */
  #refocus(): () => void {
    const focused = document.activeElement;
    const controls = 'select, .toggle button, [type=checkbox]';
    if (focused?.matches(controls) !== true) return () => {};
    const labelOf = (each: Element): string =>
      each.getAttribute('name') ?? (each.closest('label') ?? each).textContent ?? '';
    const label = labelOf(focused);
    return () => {
      const all = [...this.#root.querySelectorAll<HTMLElement>(controls)];
      all.find((each) => labelOf(each) === label)?.focus({ preventScroll: true });
    };
  }

  /** The sentences that are shown have their numbers in the drawing. */
  #number(): void {
    this.#first.scene.numbers = this.#story.shown;
    this.#redraw();
  }

  #footer(): HTMLElement {
    const { clock, replay } = this.#run;
    const isSeed = /^\d+$/.test(replay ?? '');
    const again =
      replay === undefined ? '' : isSeed ? ` Seed ${replay} gives the same run.` : ` Replay text: ${replay}`;
    return element('footer', { class: 'keys' }, `lostlock, ${clock} clock.${again}`);
  }

  #tools(): HTMLElement {
    const state = {
      hasBreak: this.#breakAt !== undefined,
      isExpert: this.#isExpert,
      isLinear: this.#isLinear,
      filter: this.#scene.filter,
    };
    return toolsFor(this.#runs, this.#shown, state, {
      list: () => {
        showAddress('#runs', true);
        this.#list();
      },
      show: (run) => this.#go(run),
      compare: (run) => this.#show(this.#shown, run),
      filter: (filter) => {
        for (const { scene } of this.#stages) scene.filter = filter;
        this.#events = eventsOf(this.#scene);
        this.#redraw();
      },
      search: (text) => this.#search(text),
      found: (by) => this.#found(by),
      expert: (isExpert) => {
        this.#isExpert = isExpert;
        this.#showDetails();
      },
      scale: (isLinear) => {
        this.#isLinear = isLinear;
        const [step, { filter }] = [this.#step, this.#scene];
        this.#show(this.#shown, this.#beside, filter);
        if (step >= 0) this.#tell(step);
      },
      breach: () => this.#breach(),
      zoom: (factor) => this.#stage.zoom(factor),
      whole: () => this.#whole(),
      theme: () => {
        this.#theme = this.#colours() === themes.dark ? 'light' : 'dark';
        document.documentElement.dataset.theme = this.#theme;
        this.#redraw();
      },
      copy: () => copyText(markdownOf(this.#run)),
      save: (kind) => {
        const scenes = this.#stages.map(({ scene }) => scene);
        savePicture(kind, scenes, this.#colours(), this.#first.root.clientWidth);
      },
    });
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || this.#stages.length === 0) return;
    const actions: Record<string, () => void> = {
      ArrowRight: () => this.#next(1),
      ArrowLeft: () => this.#next(-1),
      ArrowDown: () => this.#stepStory(1),
      ArrowUp: () => this.#stepStory(-1),
      b: () => this.#breach(),
      '+': () => this.#stage.zoom(1 / 1.5),
      '-': () => this.#stage.zoom(1.5),
      0: () => this.#whole(),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  /** To the next or the previous sentence; for experts, message. */
  #next(by: 1 | -1): void {
    if (this.#isExpert || this.#run.story.length === 0) this.#stepEvents(by);
    else this.#stepStory(by);
  }

  /** Before the first sentence stands all of the run. */
  #stepStory(by: 1 | -1): void {
    const next = Math.min(this.#step + by, this.#run.story.length - 1);
    if (next < 0) this.#untell();
    else this.#tell(next);
  }

  #stepEvents(by: 1 | -1): void {
    const { selection } = this.#scene;
    const now = this.#events.findIndex((event) => isSame(event, selection));
    const next = now === -1 ? (by === 1 ? 0 : this.#events.length - 1) : now + by;
    const event = this.#events[next];
    if (event !== undefined) this.#select(event);
  }

  /** Shows a sentence of the story, and the event that it tells; what comes later is faint. */
  #tell(index: number): void {
    const step = this.#run.story[index];
    if (step === undefined) return;
    const { at } = step;
    const selection = toldBy(step);
    this.#choose(this.#first);
    this.#scene.select(selection);
    this.#step = index;
    this.#showDetails();
    const [from, to] = selection === undefined ? [at, at] : this.#scene.timesOf(selection);
    this.#showTimes(Math.min(from, at), Math.max(at, Math.min(to, at)));
    this.#tellStep();
    this.#redraw();
  }

  /** Shows no sentence, but all of the run. */
  #untell(): void {
    this.#step = -1;
    this.#scene.select(undefined);
    this.#showDetails();
    this.#tellStep();
    this.#redraw();
  }

  #tellStep(): void {
    const { story } = this.#run;
    for (const { scene } of this.#stages) {
      scene.step = scene === this.#first.scene && this.#step >= 0 ? this.#step : undefined;
      scene.now = this.#step < 0 ? undefined : story[this.#step]?.at;
    }
    const sentence = this.#story.mark(this.#step);
    if (sentence !== undefined) showInside(sentence, this.#details);
    this.#bar.show(this.#run, this.#step);
    if (this.#runs.length > 1 || this.#step >= 0 || location.hash !== '')
      showAddress(addressOf(this.#names[this.#shown] as string, this.#step), false);
  }

  /** The first sentence that says that a promise is broken. */
  get #breakAt(): number | undefined {
    const index = this.#run.story.findIndex(isBroken);
    return index === -1 ? undefined : index;
  }

  /** Shows the broken promise from near. */
  #breach(): void {
    const index = this.#breakAt;
    if (index === undefined) return;
    this.#tell(index);
    this.#move(windowOfBreak(this.#scene, this.#run.story[index]?.at ?? 0));
  }

  #whole(): void {
    this.#move(this.#scene.whole());
    this.#untell();
  }

  /** Selects an event, as with a click; its sentence is marked, if it has one. */
  #select(selection: Selection | undefined, stage = this.#stage): void {
    this.#choose(stage);
    this.#scene.select(selection);
    // The story is that of the first run.
    this.#step = stage === this.#first ? this.#sentenceAbout(selection) : -1;
    this.#showDetails();
    if (selection !== undefined) this.#showTimes(...this.#scene.timesOf(selection));
    this.#tellStep();
    if (this.#step === -1 && this.#isExpert && selection !== undefined)
      this.#scene.now = this.#scene.timesOf(selection)[1];
    this.#redraw();
  }

  #showDetails(): void {
    const { run, selection } = this.#scene;
    showDetails(this.#details, run, selection, (to) => this.#select(to), this.#isExpert);
  }

  /** Makes a stage the one whose events are selected and stepped through. */
  #choose(stage: RunStage): void {
    if (stage === this.#stage) return;
    this.#scene.select(undefined);
    this.#chosen = stage;
    this.#events = eventsOf(this.#scene);
  }

  #sentenceAbout(selection: Selection | undefined): number {
    return this.#run.story.findIndex((step) => isSame(toldBy(step), selection));
  }

  /** Moves the window so that a time is in it. */
  #showTimes(from: number, to: number): void {
    const window = windowAbout(this.#scene, from, to);
    if (window !== undefined) this.#move(window);
  }

  #move(window: Window): void {
    const fitting = fitted(this.#scene, window);
    for (const { scene } of this.#stages) scene.window = fitting;
    this.#redraw();
  }

  /** Finds a text, and shows the first place. Returns what to say about it. */
  #search(text: string): string {
    this.#hits = searchIn(this.#scene, this.#events, this.#run.story, text);
    this.#hit = -1;
    this.#scene.found = new Set(
      this.#hits.flatMap(({ selection }) => (selection?.type === 'message' ? [selection.index] : [])),
    );
    this.#redraw();
    if (text === '') return '';
    return this.#hits.length === 0 ? 'nothing found' : this.#found(1);
  }

  /** Goes to the next place at which the text was found, or to the previous one. */
  #found(by: 1 | -1): string {
    const { length } = this.#hits;
    if (length === 0) return '';
    this.#hit = (this.#hit + by + length) % length;
    const hit = this.#hits[this.#hit];
    if (hit?.sentence !== undefined) this.#tell(hit.sentence);
    else this.#select(hit?.selection);
    return `${this.#hit + 1} of ${length}`;
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
    const below = innerWidth < WIDE ? this.#bar.root.offsetHeight : 8;
    const room = this.#isPrinting ? undefined : (innerHeight - below) / Math.max(1, this.#stages.length);
    for (const stage of this.#stages) stage.draw(room, this.#isPrinting ? PRINTED : undefined);
    this.#fitList();
  }

  /** Ends the list of sentences at the lower edge of the window. Otherwise Next would lead to a sentence below the window. */
  #fitList(): void {
    const list = this.#root.querySelector<HTMLElement>('aside.told');
    if (list === null) return;
    const isBeside = !this.#isPrinting && innerWidth >= WIDE;
    const top = Math.max(0, list.getBoundingClientRect().top);
    list.style.maxHeight = isBeside ? `${Math.max(200, innerHeight - top)}px` : '';
  }

  /** Draws the whole run as for paper, or as on the screen again. Between the two, the browser may ask for further drawings. */
  #print(isPrinting: boolean): void {
    this.#isPrinting = isPrinting;
    for (const { scene } of this.#stages) {
      if (isPrinting) {
        const { now, step, window } = scene;
        this.#onScreen.set(scene, { now, step, window });
        Object.assign(scene, { now: undefined, step: undefined, window: scene.whole() });
      } else Object.assign(scene, this.#onScreen.get(scene));
    }
    this.#draw();
  }
}
