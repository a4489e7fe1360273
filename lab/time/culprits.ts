/** Finds which code has started real I/O in a world, for the error that names it. */
import { type CodePlace, callerOf, placeText } from './caller.ts';
import { present } from './current-world.ts';

/** How many callers are looked at: between a package and Node's function there are a few of Node's own. */
const DEPTH = 12;

/** Node's names of resources, and the kind of functions that start them. */
const KINDS: readonly (readonly [resource: RegExp, kind: string])[] = [
  [/^FS/, 'fs'],
  [/^(TCP|Pipe|TLS|UDP|GetAddrInfo)/, 'net'],
  [/^Process/, 'child_process'],
];

/** Remembers who calls a function that starts real I/O. @param kind 'fs', 'net', 'child_process', or the label of one function */
export function noteStart(kind: string, called: (...args: never[]) => unknown): void {
  const place = callerOf(called, DEPTH);
  if (place !== undefined) present.began.set(kind, placeText(place));
}

/** The code that has started a resource, in words; undefined when that is not known. */
export function starterOf(resource: string): string | undefined {
  if (resource === 'Timeout' || resource === 'Immediate') {
    const places = [...new Set(realTimers(resource).map(placeText))];
    return places.length === 0 ? undefined : places.slice(0, 3).join(', ');
  }
  const kind = KINDS.find(([names]) => names.test(resource))?.[1] ?? resource.replace(/ \(.*/, '');
  return present.began.get(kind);
}

/** A value of the inspected program. */
interface Remote {
  readonly objectId?: string;
  readonly value?: unknown;
}

/** What the inspector answers, as far as it is used here. */
interface InspectorAnswer {
  readonly result?: Remote & readonly { readonly name: string; readonly value?: Remote }[];
  readonly objects?: Remote;
  readonly internalProperties?: readonly { readonly name: string; readonly value?: Remote }[];
}

/** Makes a timer of Node, and returns its prototype. */
const PROTOTYPE = {
  Timeout:
    '(({ setInterval, clearInterval }, f = setInterval(() => {}, 1e9)) => (clearInterval(f), Object.getPrototypeOf(f)))',
  Immediate:
    '(({ setImmediate, clearImmediate }, f = setImmediate(() => {})) => (clearImmediate(f), Object.getPrototypeOf(f)))',
};

/** The callbacks of those timers that wait and were made after the resource with an id of async_hooks. */
const CALLBACKS = `function (since) {
  const id = (timer) => timer[Object.getOwnPropertySymbols(timer).find(({ description }) => description === 'asyncId')];
  return this.filter((timer) => !timer._destroyed && id(timer) > since).map((timer) => timer._onTimeout ?? timer._onImmediate);
}`;

/**
 * False when no code has called setImmediate() since what runs now was queued: Node counts what its own C++ code has queued as
 * immediates too. True where a runtime has no inspector.
 */
export function hasImmediates(): boolean {
  return (waitingTimers('Immediate')?.length ?? 1) > 0;
}

/** Where the callbacks of real timers were written that wait and were made after what runs now was queued. */
function realTimers(name: keyof typeof PROTOTYPE): CodePlace[] {
  return (waitingTimers(name) ?? []).filter(({ file }) => file !== '' && !file.startsWith('node:'));
}

/**
 * The timers that wait and were made after what runs now was queued. Nothing else than the inspector tells of those that a module made with
 * functions which it has kept. Undefined where a runtime has none, or it does not answer.
 */
function waitingTimers(name: keyof typeof PROTOTYPE): CodePlace[] | undefined {
  const since = process.getBuiltinModule?.('node:async_hooks')?.executionAsyncId?.();
  const { Session } = process.getBuiltinModule?.('node:inspector') ?? {};
  if (since === undefined || Session === undefined) return undefined;
  const session = new Session();
  try {
    session.connect();
    return callbacksIn(session as unknown as InspectorSession, PROTOTYPE[name], since);
  } catch {
    return undefined; // The error is about something else.
  } finally {
    session.disconnect();
  }
}

/** A session with this process, whose answers come at once. */
interface InspectorSession {
  on(
    event: string,
    listener: (message: { readonly params: { scriptId: string; url: string } }) => void,
  ): void;
  post(
    method: string,
    params: object,
    answered: (error: Error | null, answer: InspectorAnswer) => void,
  ): void;
}

/** Where the callbacks were written; `file` is empty where that is not known. */
function callbacksIn(session: InspectorSession, prototype: string, since: number): CodePlace[] | undefined {
  const urls = new Map<string, string>();
  const ask = (method: string, params: object = {}): InspectorAnswer => {
    let got: InspectorAnswer = {};
    session.post(method, params, (_, answer) => {
      got = answer ?? {};
    });
    return got;
  };
  /** The elements of a list. */
  const each = (list: Remote | undefined): Remote[] =>
    (ask('Runtime.getProperties', { objectId: list?.objectId, ownProperties: true }).result ?? [])
      .filter(({ name }) => /^\d+$/.test(name))
      .flatMap(({ value }) => value ?? []);
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  ask('Debugger.enable');
  const expression = `${prototype}(process.getBuiltinModule('node:timers'))`;
  const prototypeObjectId = (ask('Runtime.evaluate', { expression }).result as Remote | undefined)?.objectId;
  const { objects } = ask('Runtime.queryObjects', { prototypeObjectId });
  const call = { functionDeclaration: CALLBACKS, arguments: [{ value: since }] };
  const waiting = ask('Runtime.callFunctionOn', { objectId: objects?.objectId, ...call }).result;
  if (waiting === undefined) return undefined;
  return each(waiting).map(({ objectId }) => {
    const { internalProperties = [] } = ask('Runtime.getProperties', { objectId, ownProperties: true });
    const found = internalProperties.find(({ name }) => name === '[[FunctionLocation]]')?.value?.value;
    const { scriptId = '', lineNumber = 0 } = (found ?? {}) as { scriptId?: string; lineNumber?: number };
    return { file: urls.get(scriptId) ?? '', line: lineNumber + 1 };
  });
}
