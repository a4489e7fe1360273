/** Keeps what the code under test prints out of the terminal: a library that complains in every world would flood it. */
import { present } from '../lab/time/current-world.ts';

/** How many lines are kept. */
const KEPT = 200;
/** How long a line is at most, in characters. */
const LONGEST = 500;

/** What the code under test has printed. */
export interface Captured {
  /** The first lines. */
  readonly lines: readonly string[];
  /** How many lines there were in all. */
  readonly count: number;
}

const METHODS = ['log', 'info', 'debug', 'warn', 'error', 'trace', 'dir', 'table'] as const;

/** Runs work, and catches what code in worlds prints and leaves unhandled meanwhile. */
export async function captured<T>(work: (output: Captured) => Promise<T>): Promise<T> {
  const lines: string[] = [];
  const output = { lines, count: 0 };
  const keep: Sink = (text) => {
    output.count++;
    if (lines.length < KEPT) lines.push(String(text).trimEnd().slice(0, LONGEST));
  };
  if (keepers.size === 0) restore = divert();
  keepers.add(keep);
  try {
    return await work(output);
  } finally {
    keepers.delete(keep);
    if (keepers.size === 0) for (const undo of restore) undo();
  }
}

type Sink = (text: unknown) => void;

/** The explorations that run: the first of them diverts the output, and the last one puts it back. */
const keepers = new Set<Sink>();
let restore: readonly (() => void)[] = [];

function divert(): (() => void)[] {
  const keep: Sink = (text) => {
    present.inside?.printed(String(text).trimEnd().slice(0, LONGEST));
    for (const each of keepers) each(text);
  };
  return [...METHODS.map((name) => divertConsole(name, keep)), ...divertStreams(keep), divertErrors(keep)];
}

function divertConsole(name: (typeof METHODS)[number], keep: (text: unknown) => void): () => void {
  const before = console[name];
  console[name] = (...args: unknown[]): void => {
    if (present.inside === undefined) (before as (...all: unknown[]) => void)(...args);
    else keep(args.join(' '));
  };
  return () => {
    console[name] = before;
  };
}

function divertStreams(keep: (text: unknown) => void): (() => void)[] {
  return [process.stdout, process.stderr].map((stream) => {
    const before = stream.write;
    stream.write = ((...args: Parameters<typeof before>): boolean => {
      if (present.inside === undefined) return Reflect.apply(before, stream, args) as boolean;
      keep(args[0]);
      return true;
    }) as typeof before;
    return () => {
      stream.write = before;
    };
  });
}

/** What code in a world leaves unhandled is its own matter: it must not end the process or fail its tests. What others do is theirs. */
function divertErrors(keep: (text: unknown) => void): () => void {
  present.keeper = keep;
  return () => {
    present.keeper = undefined;
  };
}
