/** Lua's coroutines. Only the resumable form can run them; the fast form gives up at the first one. */
import { allocate } from '../../protocol/allowance.ts';
import { allocatePlaces } from '../runtime/memory.ts';
import { raise, raiseBare, S } from '../runtime/state.ts';
import {
  type Frame,
  type LuaFunction,
  type LuaValue,
  listOf,
  Signal,
  Switch,
  Thread,
  toText,
} from '../runtime/values.ts';
import { argumentError } from './args.ts';
import type { Module } from './builder.ts';

const GENERATOR_FUNCTION: object = Object.getPrototypeOf(resume);
const natives = new WeakSet<object>();

/** The maximum number of coroutines that are nested, each resumed by the next. */
const MAX_THREADS = 200;

/** The bytes of a coroutine with its first frame. */
const THREAD_BYTES = 600;

function checkThread(args: readonly LuaValue[]): Thread {
  const value = args[0];
  return value instanceof Thread ? value : argumentError(0, 'coroutine expected');
}

function create(...args: LuaValue[]): Thread {
  if (!S.resumable) throw new Signal('coroutine');
  const body = args[0];
  const isLua = typeof body === 'function' && Object.getPrototypeOf(body) === GENERATOR_FUNCTION;
  if (!isLua || natives.has(body)) argumentError(0, 'Lua function expected');
  allocate(THREAD_BYTES);
  return new Thread(body);
}

function* resume(...args: LuaValue[]): Frame {
  const thread = checkThread(args);
  if (thread.status !== 'suspended') {
    const state =
      thread.status === 'dead' ? 'dead' : thread.status === 'running' ? 'running' : 'non-suspended';
    return [false, `cannot resume ${state} coroutine`];
  }
  let level = 1;
  for (let outer = S.thread; outer?.resumer !== undefined; outer = outer.resumer) level++;
  if (level >= MAX_THREADS) return [false, 'C stack overflow'];
  allocatePlaces(args.length);
  return yield new Switch(thread, args.slice(1));
}

/** coroutine.yield */
function* suspend(...args: LuaValue[]): Frame {
  const thread = S.thread;
  if (thread?.resumer === undefined || S.nested > thread.nested) {
    raiseBare('attempt to yield across metamethod/C-call boundary');
  }
  return yield new Switch(undefined, args);
}

function wrap(...args: LuaValue[]): LuaFunction {
  const thread = create(...args);
  const step = function* (...values: LuaValue[]): Frame {
    const { site } = S;
    const [ok, ...results] = listOf(yield* resume(thread, ...values));
    if (ok === true) return results;
    S.site = site;
    const text = toText(results[0]);
    return text === undefined ? raiseBare(results[0]) : raise(text);
  };
  natives.add(step);
  return step;
}

const status: LuaFunction = (...args) => checkThread(args).status;

const running: LuaFunction = () => (S.thread?.resumer === undefined ? undefined : S.thread);

/** Marks library functions that are written as generators, so that they are not mistaken for Lua functions. */
export function markNative(value: LuaValue): void {
  if (typeof value === 'function') natives.add(value);
}

/** The table `coroutine`. @param call converts a generator to a function of the form of execution */
export function coroutineLibrary(call: (native: (...args: LuaValue[]) => Frame) => LuaFunction): Module {
  return {
    entries: [
      ['create', create],
      ['resume', call(resume)],
      ['running', running],
      ['status', status],
      ['wrap', wrap],
      ['yield', call(suspend)],
    ],
    announced: 6,
  };
}
