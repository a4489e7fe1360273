/** A program's process: started with a port of its own, stopped and killed by signals, and heard when it prints. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { pass } from '../../../lab/real-clock/wait.ts';
import type { HandedWorld } from '../../../lab/remote/programs/desk.ts';
import type { ProgramPort } from '../../../lab/remote/programs/port.ts';
import { cpuOf } from './cpu.ts';
import { guardian } from './guardian.ts';

/** The longest line of output that is kept, in characters. */
const LONGEST = 500;
/** How many of its last lines tell why a program ended. */
const TAIL = 20;
/** How long a program may take to ask for its first world, in milliseconds: busy machines start programs slowly. */
const STARTS_WITHIN = 60_000;
/** How long a killed process may take to be gone, in milliseconds. */
const GONE_WITHIN = 5000;

/** How to start a program. */
export interface ProgramCommand {
  /** The program and its arguments. Empty for a process that somebody else starts, and that is not ours to stop. */
  readonly command: readonly string[];
  /** Variables of its environment, beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One call of NEXT. */
interface NextCall {
  readonly answer: (world: HandedWorld | undefined) => void;
  timer: NodeJS.Timeout | undefined;
}

/** A call of NEXT that is kept for one client. */
export interface ReservedCall {
  /** Answers it. */
  give(world: HandedWorld): void;
  /** Leaves it to others. */
  release(): void;
}

/** A process of a program. */
export class ProgramProcess {
  readonly port: ProgramPort;
  /** True when it has sent a beat: then its silence says something. */
  beats = false;
  /** Called with each line that it prints. */
  onLine: (text: string) => void = () => {};
  /** Called when it has ended, unless `kill` has ended it. @param how in words */
  onEnd: (how: string) => void = () => {};
  readonly #child: ChildProcess | undefined;
  readonly #waiting: NextCall[] = [];
  #wanted: ((call: NextCall) => void)[] = [];
  #failed: ((error: Error) => void)[] = [];
  readonly #tail: string[] = [];
  #how: string | undefined;
  #killed = false;
  /** What it had used when it was killed. */
  #usedMs: number | undefined;
  readonly #gone: Promise<void>;
  #started: () => void = () => {};
  /** Settles when it asks for its first world, or ends. */
  readonly hasStarted: Promise<void> = new Promise((resolve) => {
    this.#started = resolve;
  });

  /** Starts the program, unless its command is empty. */
  constructor({ command, env = {} }: ProgramCommand, port: ProgramPort) {
    this.port = port;
    const [program, ...words] = command;
    if (program === undefined) {
      this.#gone = Promise.resolve();
      this.#started();
      return;
    }
    const child = spawn(program, words, {
      env: {
        ...process.env,
        PYTHONUNBUFFERED: '1',
        ...env,
        LOSTLOCK_LAB: `redis://127.0.0.1:${port.port}`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    if (child.pid !== undefined) guardian.add(child.pid);
    for (const stream of [child.stdout, child.stderr]) this.#listen(stream);
    this.#gone = new Promise((resolve) => {
      const ended = (how: string): void => {
        if (this.#how !== undefined) return;
        this.#how = how;
        this.#started();
        if (child.pid !== undefined) {
          // What it has started ends with it.
          signal(child.pid, 'SIGKILL');
          guardian.remove(child.pid);
        }
        resolve();
        if (this.#killed) return;
        const error = this.#endedError();
        for (const fail of this.#failed.splice(0)) fail(error);
        this.onEnd(how);
      };
      child.once('error', (error) => ended(`it cannot be started: ${error.message}`));
      child.once('exit', (status, sign) =>
        // What it has printed last may still be on its way.
        setTimeout(
          () => ended(sign === null ? `it ended with status ${status}` : `it ended with ${sign}`),
          20,
        ),
      );
    });
  }

  #listen(stream: Readable): void {
    let open = '';
    stream.setEncoding('utf8');
    stream.on('error', () => {});
    stream.on('data', (text: string) => {
      const lines = (open + text).split('\n');
      open = lines.pop() ?? '';
      for (const line of lines) this.#print(line);
    });
    stream.on('end', () => {
      if (open !== '') this.#print(open);
      open = '';
    });
  }

  #print(line: string): void {
    const text = line.trimEnd().slice(0, LONGEST);
    this.#tail.push(text);
    if (this.#tail.length > TAIL) this.#tail.shift();
    this.onLine(text);
  }

  /** Its id; undefined for one that somebody else has started, or that could not start. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How much time of the processor it has used, in milliseconds; 0 when that is not known. */
  get usedMs(): number {
    return this.#usedMs ?? cpuOf(this.pid) ?? 0;
  }

  /** True while it runs. */
  get alive(): boolean {
    return this.#how === undefined && !this.#killed;
  }

  /** Why it has ended, with what it printed last. */
  #endedError(): Error {
    const printed = this.#tail.length === 0 ? '' : `\n${this.#tail.map((line) => `  ${line}`).join('\n')}`;
    const text = `the program ended before it had played its world: ${this.#how}${printed}`;
    return Object.assign(new Error(text), { code: 'LOSTLOCK_NO_WORLD' });
  }

  /** Answers NEXT: when a client of a world is handed to it, or with undefined when the time is over. */
  next(within: number | undefined): Promise<HandedWorld | undefined> {
    this.#started();
    return new Promise((resolve) => {
      const call: NextCall = { answer: resolve, timer: undefined };
      const wanted = this.#wanted.shift();
      if (wanted !== undefined) return wanted(call);
      this.#waiting.push(call);
      if (within === undefined) return;
      call.timer = setTimeout(() => {
        const at = this.#waiting.indexOf(call);
        if (at < 0) return;
        this.#waiting.splice(at, 1);
        resolve(undefined);
      }, within);
    });
  }

  /** Waits until it asks for a world. Rejects when it ends before, or does not ask. */
  async reserve(within: number = STARTS_WITHIN): Promise<ReservedCall> {
    const call = this.#waiting.shift() ?? (await this.#called(within));
    clearTimeout(call.timer);
    return {
      give: (world) => call.answer(world),
      release: () => {
        const wanted = this.#wanted.shift();
        if (wanted !== undefined) wanted(call);
        else this.#waiting.push(call);
      },
    };
  }

  #called(within: number): Promise<NextCall> {
    if (!this.alive) return Promise.reject(this.#endedError());
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#wanted = this.#wanted.filter((each) => each !== wanted);
        this.#failed = this.#failed.filter((each) => each !== failed);
      };
      const wanted = (call: NextCall): void => {
        settle();
        resolve(call);
      };
      const failed = (error: Error): void => {
        settle();
        reject(error);
      };
      const timer = setTimeout(
        () => failed(new Error(`the program did not ask for a world (LAB NEXT) within ${within} ms`)),
        within,
      );
      this.#wanted.push(wanted);
      this.#failed.push(failed);
    });
  }

  /** True when it asks for a world that nobody has reserved. */
  get asks(): boolean {
    return this.#waiting.length > 0;
  }

  /** Stops it, and what it has started, as SIGSTOP does. */
  stop(): void {
    if (this.alive && this.#child?.pid !== undefined) signal(this.#child.pid, 'SIGSTOP');
  }

  /** Continues it. */
  proceed(): void {
    if (this.alive && this.#child?.pid !== undefined) signal(this.#child.pid, 'SIGCONT');
  }

  /** Kills it, and what it has started. */
  kill(): void {
    if (!this.alive) return;
    this.#usedMs = cpuOf(this.pid);
    this.#killed = true;
    if (this.#child?.pid !== undefined) signal(this.#child.pid, 'SIGKILL');
    const error = new Error('the program was ended');
    for (const fail of this.#failed.splice(0)) fail(error);
  }

  /** Ends it and its port. Calls of NEXT of a process that is not ours are told that the time is over. Resolves when both are gone. */
  async close(): Promise<void> {
    for (const { answer, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      answer(undefined);
    }
    this.kill();
    if (this.#child === undefined) await pass(20);
    await Promise.race([this.#gone, pass(GONE_WITHIN)]);
    for (const stream of [this.#child?.stdout, this.#child?.stderr]) stream?.destroy();
    await this.port.close();
  }
}

/** Sends a signal to a process group. */
function signal(group: number, sign: NodeJS.Signals): void {
  try {
    process.kill(-group, sign);
  } catch {
    // It has ended already.
  }
}
