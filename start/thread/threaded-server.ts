/** A server in a thread of its own, with the members of one in the program's thread. */
import { createConnection } from 'node:net';
import type { Duplex } from 'node:stream';
import { badOption } from '../../base/options.ts';
import { AddressedServer } from '../control/address.ts';
import type { Interception, Intervention, RequestFilter } from '../control/interceptor.ts';
import { ended, type RecordedRequest, type RequestRecording } from '../control/recording.ts';
import type { DumpEntry, Seed } from '../dataset.ts';
import { type ConnectorClass, connectorFor } from '../running/connector.ts';
import type { LostlockServer, Remains } from '../running/server.ts';
import type { ThreadOptions } from '../start-options.ts';
import type { Described } from './messages.ts';
import { ServerThread } from './thread.ts';

/** What can be done with a server from another thread: everything but what takes functions, and its inner objects. */
type ThreadMembers = Omit<LostlockServer, 'node' | 'scripts' | 'replicas' | 'sentinels' | 'intercept'>;

/** A Sentinel in the thread of its server. */
export interface ThreadedSentinel extends AsyncDisposable {
  /** The address that it listens on. */
  readonly host: string;
  /** The TCP port that it listens on. */
  readonly port: number;
  /** Stops the Sentinel, and leaves the server alone. */
  stop(): Promise<void>;
}

/**
 * A running server in a thread of its own, as `startServer({ thread: true })` returns it. It answers while the program's
 * event loop is blocked. Its methods are those of `LostlockServer` and wait for the thread, which takes a fraction of a
 * millisecond each. Functions cannot be sent to another thread, so there are no `scripts` and no `when` in rules.
 */
export class ThreadedServer extends AddressedServer implements ThreadMembers {
  /** For ioredis: `new Redis({ Connector: server.connector })` connects over TCP. */
  readonly connector: ConnectorClass;
  /** The replicas of this server, in the same thread. */
  readonly replicas: readonly ThreadedServer[];
  /** The Sentinels, in the same thread. */
  readonly sentinels: readonly ThreadedSentinel[];
  readonly #thread: ServerThread;
  readonly #id: number;
  #isKept = false;
  #remains: Remains | undefined;

  /** @internal */
  constructor(thread: ServerThread, described: Described) {
    super(described);
    this.#thread = thread;
    this.#id = described.id;
    this.connector = connectorFor(() => this.#dial());
    this.replicas = described.replicas.map((each) => new ThreadedServer(thread, each));
    this.sentinels = described.sentinels.map(({ id, host, port }) => {
      const stop = (): Promise<void> => thread.stop(id);
      return { host, port, stop, [Symbol.asyncDispose]: stop };
    });
  }

  #call(member: keyof LostlockServer & string, ...args: readonly unknown[]): unknown {
    return this.#thread.call({ id: this.#id, member, args });
  }

  /** Opens a TCP connection to the server. Throws when the server has stopped, or when every port speaks TLS. */
  connect(): Duplex {
    void this.connected; // Throws when the server has stopped.
    return this.#dial();
  }

  #dial(): Duplex {
    if (this.port === this.tlsPort)
      throw new Error('lostlock: connect() on a server in a thread whose ports all speak TLS: use its url');
    return createConnection(this.port, this.host);
  }

  /** As `LostlockServer.seed`. */
  seed(data: Seed): void {
    this.#call('seed', data);
  }

  /** As `LostlockServer.dump`. */
  dump(): DumpEntry[] {
    if (this.#remains !== undefined) return this.#remains.dump;
    return this.#call('dump') as DumpEntry[];
  }

  /** As `LostlockServer.flush`. */
  flush(): void {
    this.#call('flush');
  }

  /** As `LostlockServer.unknownCommands`. */
  unknownCommands(): { readonly command: string; readonly count: number }[] {
    return this.#call('unknownCommands') as { command: string; count: number }[];
  }

  /** As `LostlockServer.intercept`, without `when`. */
  intercept(filter: Omit<RequestFilter, 'when'>, intervention: Intervention): Interception {
    if ((filter as RequestFilter)?.when !== undefined) {
      throw badOption(
        'when',
        (filter as RequestFilter).when,
        'no value (a server in a thread cannot call functions)',
      );
    }
    const id = this.#call('intercept', filter, intervention) as number;
    const thread = this.#thread;
    return {
      get matches() {
        return thread.call({ id, member: 'matches' }) as number;
      },
      get hits() {
        return thread.call({ id, member: 'hits' }) as number;
      },
      remove: () => void thread.call({ id, member: 'remove', args: [] }),
    };
  }

  /** As `LostlockServer.requests`. Each reading of `entries` copies the requests so far. */
  requests(): RequestRecording {
    if (this.#remains !== undefined) return ended(this.#remains.requests);
    const id = this.#call('requests') as number;
    const thread = this.#thread;
    const stop = (): void => void thread.call({ id, member: 'stop', args: [] });
    return {
      get entries() {
        return thread.call({ id, member: 'entries' }) as RecordedRequest[];
      },
      clear: () => void thread.call({ id, member: 'clear', args: [] }),
      stop,
      [Symbol.dispose]: stop,
    };
  }

  /** As `LostlockServer.disconnectAll`. */
  disconnectAll(): number {
    return this.#call('disconnectAll') as number;
  }

  /** As `LostlockServer.connected`. */
  get connected(): boolean {
    return this.#thread.call({ id: this.#id, member: 'connected' }) as boolean;
  }

  set connected(value: boolean) {
    this.#thread.call({ id: this.#id, member: 'connected', value });
  }

  /** As `LostlockServer.fastForward`. @param ms milliseconds, 0 or more */
  fastForward(ms: number): void {
    this.#call('fastForward', ms);
  }

  /** As `LostlockServer.setTime`. @param date a Date, or milliseconds since the epoch */
  setTime(date: Date | number): void {
    this.#call('setTime', date);
  }

  /** As `LostlockServer.restart`. */
  restart(): void {
    this.#call('restart');
  }

  /** @internal As `LostlockServer.keepReadable`. */
  keepReadable(): void {
    this.#call('keepReadable');
    this.#isKept = true;
  }

  /** @internal As `LostlockServer.remains`. */
  remains(): Remains | undefined {
    return this.#call('remains') as Remains | undefined;
  }

  /** Stops the server, and ends the thread with the server that was started. Resolves when no handle is left. */
  async stop(): Promise<void> {
    if (this.#isKept && !this.#thread.hasEnded) this.#remains ??= this.remains();
    await this.#thread.stop(this.#id);
    if (this.#id === 0) await this.#thread.end();
  }
}

/** Starts a server in a thread of its own. Rejects as `startServer` does. */
export async function startThread(options: ThreadOptions): Promise<ThreadedServer> {
  const thread = new ServerThread(options);
  try {
    return new ThreadedServer(thread, await thread.started);
  } catch (error) {
    await thread.end();
    throw error;
  }
}
