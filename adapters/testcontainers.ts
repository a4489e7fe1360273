/**
 * `lostlock/testcontainers`: RedisContainer of @testcontainers/redis, without a container. A project moves by changing the
 * import (https://node.testcontainers.org/modules/redis).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { badOption, checkInteger, checkString } from '../base/options.ts';
import { optionsOfArguments } from '../cli/start-options.ts';
import { type DialectName, type LostlockServer, startServer } from '../index.ts';
import { fromText } from '../protocol/bytes.ts';
import { logLine } from '../start/log-line.ts';
import { dialectOfImage, substituteFor } from '../start/version.ts';

/** Redis' port, which is mapped to the port of the server. */
const REDIS_PORT = 6379;

/** The folder of a container in which Redis writes. */
const DATA = '/data';

/** A port as `withExposedPorts` takes it: the container's, and if it is fixed, the host's. */
export type ExposedPort = number | { readonly container: number; readonly host: number };

/** A port of the container, with its protocol. */
export type PortWithProtocol = `${number}/${'tcp' | 'udp'}`;

/** Variables with which images add arguments to the command. */
const ARGUMENT_VARIABLES = ['REDIS_ARGS', 'VALKEY_EXTRA_FLAGS'];

/** How Testcontainers stops a container. None of it has an effect here. */
export interface StopOptions {
  /** How long the container may take to stop, in milliseconds. */
  readonly timeout?: number;
  /** Whether the container is removed; a server always is. */
  readonly remove?: boolean;
  /** Whether its volumes are removed; the folder that stands for /data always is. */
  readonly removeVolumes?: boolean;
}

/** What to start. Each method changes it and returns it. */
export class RedisContainer {
  readonly #dialect: DialectName | undefined;
  /** Which server answers for the image, if it is another one. */
  readonly #substitute: string | undefined;
  #port = 0;
  #password: string | undefined;
  #folder: string | undefined;
  #name: string | undefined;
  #arguments: readonly string[] = [];
  #logConsumer: ((stream: Readable) => unknown) | undefined;

  /**
   * Throws TypeError for an image that is neither Redis nor Valkey.
   * @param image its tag chooses the server to answer as; 'redis:latest', or a digest alone, is the default of `startServer`
   */
  constructor(image = 'redis:latest') {
    checkString('image', image);
    this.#dialect = dialectOfImage('image', image);
    this.#substitute = substituteFor(image, this.#dialect);
  }

  /** The password that AUTH requires. */
  withPassword(password: string): this {
    checkString('withPassword', password);
    this.#password = password;
    return this;
  }

  /** Writes an append-only file into this folder, and reads what is there. */
  withPersistence(sourcePath: string): this {
    checkString('withPersistence', sourcePath);
    this.#folder = sourcePath;
    return this;
  }

  /** The port 6379, and the port of this machine to which it is mapped; by default a free one. */
  withExposedPorts(...ports: ExposedPort[]): this {
    for (const port of ports) {
      const { container, host } = typeof port === 'number' ? { container: port, host: 0 } : (port ?? {});
      if (container !== REDIS_PORT) throw badOption('withExposedPorts', port, `the port ${REDIS_PORT}`);
      checkInteger('withExposedPorts.host', host, 0, 65535);
      this.#port = host;
    }
    return this;
  }

  /** The command of the container: 'redis-server' or 'valkey-server', and its arguments. Throws TypeError for others. */
  withCommand(command: readonly string[]): this {
    const [program, ...rest] = Array.isArray(command) ? (command as readonly string[]) : [];
    if (program !== 'redis-server' && program !== 'valkey-server') {
      throw badOption('withCommand', command, "['redis-server', ...arguments]");
    }
    optionsOfArguments('withCommand', rest);
    this.#arguments = rest;
    return this;
  }

  /** The name that `getName` returns. */
  withName(name: string): this {
    checkString('withName', name);
    this.#name = name;
    return this;
  }

  /** The function receives a stream of the log's lines when the server starts. */
  withLogConsumer(logConsumer: (stream: Readable) => unknown): this {
    if (typeof logConsumer !== 'function')
      throw badOption('withLogConsumer', logConsumer, 'a function (stream)');
    this.#logConsumer = logConsumer;
    return this;
  }

  /** Accepted and ignored, because the server reads no environment. Throws TypeError for a variable that holds arguments. */
  withEnvironment(environment: Readonly<Record<string, string>>): this {
    for (const name of ARGUMENT_VARIABLES) {
      const value = environment?.[name];
      if (value !== undefined)
        throw badOption(`withEnvironment.${name}`, value, 'no value (use withCommand)');
    }
    return this;
  }

  /** Accepted and ignored, because `start` takes only milliseconds. @param _startupTimeoutMs milliseconds */
  withStartupTimeout(_startupTimeoutMs: number): this {
    return this;
  }

  /** Accepted and ignored: the server answers when `start` resolves. */
  withWaitStrategy(_waitStrategy: object): this {
    return this;
  }

  /** Accepted and ignored: no container outlives the process, so that each `start` starts an empty server. */
  withReuse(): this {
    return this;
  }

  /** Starts the server. Rejects as `startServer`. */
  async start(): Promise<StartedRedisContainer> {
    const { settings = {}, ...options } = optionsOfArguments('withCommand', this.#arguments);
    const isInData = settings.appendonly === true && [undefined, DATA].includes(settings.dir);
    // A container has a folder of its own, in which it writes.
    const data =
      this.#folder === undefined && isInData ? mkdtempSync(join(tmpdir(), 'lostlock-data-')) : undefined;
    const dir = this.#folder ?? data;
    const lines = this.#logConsumer && new Readable({ read: () => {} });
    const end = (): void => {
      lines?.push(null);
      if (data !== undefined) rmSync(data, { recursive: true, force: true });
    };
    if (lines !== undefined) this.#logConsumer?.(lines);
    try {
      const server = await startServer({
        ...options,
        port: this.#port,
        settings: { ...settings, ...(dir !== undefined && { dir: fromText(dir), appendonly: true }) },
        ...(this.#dialect !== undefined && { dialect: this.#dialect }),
        ...(this.#password !== undefined && { password: this.#password }),
        ...(lines !== undefined && {
          log: (level, text, role) =>
            lines.push(`${logLine(level, text, { pid: process.pid, role, at: Date.now() })}\n`),
        }),
      });
      if (this.#substitute !== undefined) server.node.log('notice', this.#substitute);
      return new StartedRedisContainer(server, this.#name, end);
    } catch (error) {
      end();
      throw error;
    }
  }
}

/** A running server. */
export class StartedRedisContainer implements AsyncDisposable {
  /** The server, with everything that `startServer` returns. */
  readonly server: LostlockServer;
  readonly #id: string;
  readonly #name: string | undefined;
  readonly #end: () => void;

  /**
   * Gives a running server the methods of a container.
   * @param name what `getName` returns
   * @param end runs when the server has stopped
   */
  constructor(server: LostlockServer, name?: string, end: () => void = () => {}) {
    this.server = server;
    this.#id = server.node.runId;
    this.#name = name;
    this.#end = end;
  }

  /** 40 hexadecimal digits: the server's first run ID. */
  getId(): string {
    return this.#id;
  }

  /** The name of `withName`, or one with the ID. */
  getName(): string {
    return this.#name ?? `lostlock-${this.getId().slice(0, 12)}`;
  }

  /** The name of this machine. */
  getHostname(): string {
    return hostname();
  }

  getHost(): string {
    return this.server.host;
  }

  /** The port of this machine. */
  getPort(): number {
    return this.server.port;
  }

  /**
   * The port of this machine. Throws RangeError unless the container's port 6379, 6379/tcp, is asked for.
   * @param port the container's, as 6379 or '6379/tcp'
   * @param protocol the protocol of a port that is a number; default 'tcp'
   */
  getMappedPort(port: number | PortWithProtocol, protocol = 'tcp'): number {
    const asked = typeof port === 'number' ? `${port}/${protocol.toLowerCase()}` : port;
    if (asked === `${REDIS_PORT}/tcp`) return this.server.port;
    throw new RangeError(`lostlock: port ${asked} is not exposed; ${REDIS_PORT}/tcp is`);
  }

  /** The port of this machine. */
  getFirstMappedPort(): number {
    return this.server.port;
  }

  /** The password; empty if there is none. */
  getPassword(): string {
    return this.server.getPassword() ?? '';
  }

  /** The URL for any client. */
  getConnectionUrl(): string {
    return this.server.url;
  }

  /**
   * Stops the server and starts it on the same port. What was stored is loaded.
   * @param _options accepted and ignored, because nothing has to be waited for
   */
  async restart(_options?: { readonly timeout?: number }): Promise<void> {
    this.server.restart();
  }

  /**
   * Stops the server, and removes the folder that it had as /data. Resolves when no handle is left.
   * @param _options accepted and ignored, because nothing is left to be removed later
   */
  async stop(_options?: StopOptions): Promise<void> {
    await this.server.stop();
    this.#end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
