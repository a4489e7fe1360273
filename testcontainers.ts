/**
 * `lostlock/testcontainers`: RedisContainer of @testcontainers/redis, without a container. A project moves by changing the
 * import (https://node.testcontainers.org/modules/redis).
 */
import { optionsOfArguments } from './embed/arguments.ts';
import { badOption, checkInteger, checkString } from './embed/options.ts';
import { dialectOfImage } from './embed/version.ts';
import { type DialectName, type LostlockServer, startServer } from './index.ts';

/** Redis' port, which is mapped to the port of the server. */
const REDIS_PORT = 6379;

/** A port as `withExposedPorts` takes it: the container's, and if it is fixed, the host's. */
export type ExposedPort = number | { readonly container: number; readonly host: number };

/** What to start. Each method changes it and returns it. */
export class RedisContainer {
  readonly #dialect: DialectName | undefined;
  #port = 0;
  #password: string | undefined;
  #folder: string | undefined;
  #arguments: readonly string[] = [];

  /**
   * Throws TypeError for an image that is neither Redis nor Valkey.
   * @param image its tag chooses the server to answer as; 'redis:latest' is the default of `startServer`
   */
  constructor(image = 'redis:latest') {
    checkString('image', image);
    this.#dialect = dialectOfImage('image', image);
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

  /** Starts the server. Rejects as `startServer`. */
  async start(): Promise<StartedRedisContainer> {
    const { settings, ...options } = optionsOfArguments('withCommand', this.#arguments);
    const stored = this.#folder === undefined ? {} : { dir: this.#folder, appendonly: true };
    const server = await startServer({
      ...options,
      port: this.#port,
      settings: { ...settings, ...stored },
      ...(this.#dialect !== undefined && { dialect: this.#dialect }),
      ...(this.#password !== undefined && { password: this.#password }),
    });
    return new StartedRedisContainer(server);
  }
}

/** A running server. */
export class StartedRedisContainer implements AsyncDisposable {
  /** The server, with everything that `startServer` returns. */
  readonly server: LostlockServer;

  /** Gives a running server the methods of a container. */
  constructor(server: LostlockServer) {
    this.server = server;
  }

  /** The host. */
  getHost(): string {
    return this.server.host;
  }

  /** The port of this machine. */
  getPort(): number {
    return this.server.port;
  }

  /** The port of this machine. Throws RangeError unless the container's port 6379 is asked for. */
  getMappedPort(port: number): number {
    if (port !== REDIS_PORT) throw new RangeError(`lostlock: port ${port} is not exposed; ${REDIS_PORT} is`);
    return this.server.port;
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

  /** Stops the server and starts it on the same port. What `withPersistence` stored is loaded. */
  async restart(): Promise<void> {
    this.server.restart();
  }

  /** Stops the server. Resolves when no handle is left. */
  stop(): Promise<void> {
    return this.server.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
