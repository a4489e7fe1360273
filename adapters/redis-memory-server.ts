/**
 * `lostlock/redis-memory-server`: the class of the package redis-memory-server, without its download and its process. A
 * project moves by changing the import (https://github.com/mhassan1/redis-memory-server).
 */

import { defined } from '../base/defined.ts';
import { badOption, checkFlag, checkInteger, checkNames, checkString } from '../base/options.ts';
import { optionsOfArguments } from '../cli/start-options.ts';
import { type LostlockServer, type StartOptions, startServer } from '../index.ts';
import { dialectOfVersion, substituteFor } from '../start/version.ts';

/** The options of a `RedisMemoryServer`. */
export interface RedisMemoryServerOptions {
  /** Where the server listens, and with which arguments. */
  readonly instance?: {
    /** The TCP port. By default, and if the port is taken, a free one. */
    readonly port?: number | null;
    /** The address to listen on; default 127.0.0.1. Several are separated by commas. */
    readonly ip?: string;
    /** More arguments of redis-server, such as `['--requirepass', 'secret']` or `['--requirepass secret']`. */
    readonly args?: readonly (string | number)[];
  };
  /** Nothing is downloaded. The version chooses the server to answer as; by default the one of `startServer`. */
  readonly binary?: { readonly version?: string };
  /** The options of the child process. They are ignored, because there is none. */
  readonly spawn?: object;
  /** True: starts at once. `await RedisMemoryServer.create({ autoStart: true })` also waits until it has started. */
  readonly autoStart?: boolean;
}

/** The result of `getInstanceInfo` for a running server. */
export interface RedisMemoryInstance {
  /** The TCP port. */
  readonly port: number;
  /** The address that it listens on. */
  readonly ip: string;
  /** The server, with everything that `startServer` returns. */
  readonly instance: LostlockServer;
}

/** Throws TypeError for the first wrong option. */
function check(options: RedisMemoryServerOptions): void {
  checkNames(options, ['instance', 'binary', 'spawn', 'autoStart'], 'RedisMemoryServer');
  const { instance = {}, binary = {}, spawn, autoStart } = options;
  checkNames(instance, ['port', 'ip', 'args'], 'instance');
  checkNames(binary, ['version'], 'binary');
  if (typeof instance.port === 'number') checkInteger('instance.port', instance.port, 0, 65535);
  if (instance.ip !== undefined) checkString('instance.ip', instance.ip);
  const { args = [] } = instance;
  if (!Array.isArray(args) || !args.every((word) => typeof word === 'string' || typeof word === 'number')) {
    throw badOption('instance.args', args, 'an array of strings and numbers');
  }
  if (spawn !== undefined && (typeof spawn !== 'object' || spawn === null)) {
    throw badOption('spawn', spawn, 'an object of options');
  }
  if (autoStart !== undefined) checkFlag('autoStart', autoStart);
}

function startOptions({ instance = {}, binary }: RedisMemoryServerOptions, port: number): StartOptions {
  const dialect = dialectOfVersion('binary.version', binary?.version ?? '');
  return {
    ...optionsOfArguments('instance.args', (instance.args ?? []).map(String)),
    port,
    ...(instance.ip !== undefined && { host: instance.ip.replaceAll(',', ' ') }),
    ...defined({ dialect }),
  };
}

/** The versions of which this process has been told that another one answers for them. */
const told = new Set<string>();

/** Tells the process once when no dialect has the version. There is no log that a user would see. */
function warnOfSubstitute(version: string): void {
  const text = substituteFor(version, dialectOfVersion('binary.version', version));
  if (text === undefined || told.has(version)) return;
  told.add(version);
  process.emitWarning(`RedisMemoryServer: ${text}`, { code: 'LOSTLOCK_DIALECT' });
}

/** A server that starts when it is first needed. */
export class RedisMemoryServer implements AsyncDisposable {
  readonly #options: RedisMemoryServerOptions;
  #starting: Promise<RedisMemoryInstance> | undefined;
  #running: RedisMemoryInstance | undefined;
  /** The port of the last start, which the next start takes again. */
  #lastPort: number | undefined;

  /** Throws TypeError for a wrong option. */
  constructor(options: RedisMemoryServerOptions = {}) {
    check(options);
    this.#options = options;
    startOptions(options, 0); // Wrong arguments and versions are reported here.
    // A failed start is reported by the method that needs the server, which tries again.
    if (options.autoStart === true) this.start().catch(() => {});
  }

  /** Creates a server, and starts it if `autoStart` is true. */
  static async create(options: RedisMemoryServerOptions = {}): Promise<RedisMemoryServer> {
    const server = new RedisMemoryServer({ ...options, autoStart: false });
    if (options.autoStart === true) await server.start();
    return server;
  }

  /** Starts the server. Resolves to true; rejects when it is running or starting, and when it cannot start. */
  async start(): Promise<boolean> {
    if (this.#starting !== undefined) throw new Error('lostlock: the server is running already, or starting');
    await this.ensureInstance();
    return true;
  }

  async #start(): Promise<RedisMemoryInstance> {
    try {
      const instance = await this.#listen();
      this.#running = { port: instance.port, ip: instance.host, instance };
      this.#lastPort = instance.port;
      return this.#running;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
  }

  async #listen(): Promise<LostlockServer> {
    warnOfSubstitute(this.#options.binary?.version ?? '');
    const port = this.#lastPort ?? this.#options.instance?.port ?? 0;
    try {
      return await startServer(startOptions(this.#options, port));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      return startServer(startOptions(this.#options, 0));
    }
  }

  /** Stops the server. Resolves to true, even if it is not running or could not start. */
  async stop(): Promise<boolean> {
    // A failed start is reported by the method that needed the server.
    const { instance } = (await this.#starting?.catch(() => undefined)) ?? {};
    this.#starting = undefined;
    this.#running = undefined;
    await instance?.stop();
    return true;
  }

  /** The running server; false if there is none. */
  getInstanceInfo(): RedisMemoryInstance | false {
    return this.#running ?? false;
  }

  /** The running server, which is started if there is none. */
  async ensureInstance(): Promise<RedisMemoryInstance> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** The host; starts the server if it is not running. */
  async getHost(): Promise<string> {
    return this.getIp();
  }

  /** The address; starts the server if it is not running. */
  async getIp(): Promise<string> {
    return (await this.ensureInstance()).ip;
  }

  /** The port; starts the server if it is not running. */
  async getPort(): Promise<number> {
    return (await this.ensureInstance()).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

export default RedisMemoryServer;
