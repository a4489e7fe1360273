/** Loads the installed ioredis for the mock, past a test runner's mock of ioredis. */
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';

/** What the mock uses of ioredis' client. */
export interface MockedClient extends EventEmitter {
  status: string;
  /** True from a call of `disconnect` until the connection has ended. */
  manuallyClosing?: boolean;
  disconnect(): void;
  readonly options: {
    readonly host?: string;
    readonly port?: number;
    readonly db?: number;
    readonly keyPrefix?: string;
  };
  connect(callback?: unknown): Promise<void>;
  setStatus(status: string, argument?: unknown): void;
}

/** What the mock uses of ioredis' client of clusters. */
export interface MockedCluster extends EventEmitter {
  status: string;
  manuallyClosing?: boolean;
  /** The client that subscribes for the cluster. */
  subscriber: object;
  nodes(role?: string): MockedClient[];
}

/** An address, as ioredis reads it from a URL, a number or an object. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

/** A class, whatever its arguments are. */
export type Constructor<T> = new (...args: readonly unknown[]) => T;

/** The parts of ioredis that the mock is made of. */
export interface IoredisParts {
  readonly Redis: Constructor<MockedClient>;
  readonly Cluster: Constructor<MockedCluster>;
  /** Reads the startup nodes of a cluster. */
  readonly addressesOf: (nodes: readonly unknown[]) => NodeAddress[];
  /** The exports of ioredis that are no clients: Command, Pipeline, ScanStream and so on. */
  readonly others: Readonly<Record<string, unknown>>;
}

const own = createRequire(import.meta.url);

function load(path: string): Record<string, unknown> {
  try {
    return own(path) as Record<string, unknown>;
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    if (code !== 'MODULE_NOT_FOUND' || !String(message).includes(path)) throw error;
    throw Object.assign(
      new Error(
        'lostlock/ioredis-mock needs ioredis 5 or 6 beside lostlock: npm install --save-dev ioredis',
        { cause: error },
      ),
      { code: 'LOSTLOCK_NO_IOREDIS' },
    );
  }
}

function print(error: unknown, reply: unknown): void {
  console.log(error ? `Error: ${String(error)}` : `Reply: ${String(reply)}`);
}

/**
 * Loads ioredis' own files. `jest.mock('ioredis')`, `vi.mock('ioredis')` and a file in `__mocks__` replace its entry, so that to
 * load the entry from here would lead back to the mock. Throws an Error that says what to install if ioredis is missing.
 */
export function loadParts(): IoredisParts {
  const member = (file: string, name = 'default'): unknown => load(`ioredis/built/${file}.js`)[name];
  return {
    Redis: member('Redis') as IoredisParts['Redis'],
    Cluster: member('cluster/index') as IoredisParts['Cluster'],
    addressesOf: member('cluster/util', 'normalizeNodeOptions') as IoredisParts['addressesOf'],
    others: {
      Command: member('Command'),
      Pipeline: member('Pipeline'),
      ScanStream: member('ScanStream'),
      AbstractConnector: member('connectors/AbstractConnector'),
      SentinelConnector: member('connectors/SentinelConnector/index'),
      SentinelIterator: member('connectors/SentinelConnector/index', 'SentinelIterator'),
      ReplyError: replyErrorOf(),
      print,
    },
  };
}

/** The class of the errors that servers answer, which ioredis takes from a dependency of its own. */
function replyErrorOf(): unknown {
  const path = own.resolve('redis-errors', { paths: [own.resolve('ioredis/built/Redis.js')] });
  return (own(path) as { ReplyError: unknown }).ReplyError;
}
