/** `lostlock --lab`: a pair on the real clock with its LAB commands, and a port for them that outlives every node. */

import { badOption, checkInteger, checkNames } from '../../base/options.ts';
import { asciiLower, fromText } from '../../protocol/bytes.ts';
import { ReplyError } from '../../protocol/reply.ts';
import { nodeHost } from '../../server/host/node.ts';
import { Listener } from '../../server/host/tcp.ts';
import { createNode } from '../../server/index.ts';
import type { Server } from '../../server/server.ts';
import type { Settings } from '../../server/settings/settings.ts';
import { type RealClockPair, startOnRealClock } from '../real-clock/pair.ts';
import type { DialectOptions } from '../replica-group/dialects.ts';
import { labCommand } from './commands.ts';

/** The options of a lab that other processes control. */
export interface LabOptions extends DialectOptions {
  /** How many replicas the primary has; default 1. */
  readonly replicas?: number;
  /** The port that leads to the primary. 0, the default, picks a free one. */
  readonly port?: number;
  /** The port that answers LAB. 0, the default, picks a free one. */
  readonly labPort?: number;
  /** Parameters of the nodes, by their names in redis.conf. */
  readonly settings?: Partial<Settings>;
}

const NAMES = ['replicas', 'port', 'labPort', 'settings', 'dialect', 'strict'];

/** A lab that other processes control. */
export class LabServer implements AsyncDisposable {
  /** The pair. */
  readonly pair: RealClockPair;
  /** The port that answers LAB. */
  readonly labPort: number;
  readonly #control: Server;
  readonly #listener: Listener;

  /** @param labPort the port on which `listener` listens */
  constructor(pair: RealClockPair, control: Server, listener: Listener, labPort: number) {
    this.pair = pair;
    this.labPort = labPort;
    this.#control = control;
    this.#listener = listener;
  }

  /** The URL that leads to the primary. */
  get url(): string {
    return this.pair.url;
  }

  /** Stops the nodes and the port for LAB. Resolves when no handle is left. */
  async stop(): Promise<void> {
    this.#control.stop();
    await Promise.all([this.#listener.close(), this.pair.close()]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** ioredis is for tests in this process. A lab that other processes control needs none. */
class NoIoredis {
  constructor() {
    throw badOption('client', undefined, 'startPair: this lab is controlled by other processes');
  }
}

/** What the lab's port answers beside LAB: what a client asks when it connects and before it leaves. */
const ANSWERED = ['lab', 'ping', 'hello', 'auth', 'client', 'select', 'info', 'command', 'reset', 'quit'];

/**
 * Refuses all other commands. The lab's port leads to no data, and a client that is there by mistake should hear of it at
 * once.
 * @param url returns the URL of the primary
 */
function refuseData(control: Server, url: () => string): void {
  control.interceptor = (client, argv) => {
    const name = asciiLower(argv[0] ?? '');
    if (ANSWERED.includes(name) || !control.commands.has(name)) return false;
    const text = `ERR '${name}' is not for this port, which controls the lab and has no data; the primary is at ${url()}`;
    client.reply(new ReplyError(fromText(text)));
    return true;
  };
}

/** Starts a lab. Rejects with TypeError for a wrong option, and with Node's error when a port is taken. */
export async function startLab(options: LabOptions = {}): Promise<LabServer> {
  checkNames(options, NAMES, 'startLab');
  const { labPort = 0, ...rest } = options;
  checkInteger('labPort', labPort, 0, 65535);
  let pair: RealClockPair | undefined;
  const command = labCommand(() => pair as RealClockPair);
  const { sets } = await startOnRealClock(
    { ...rest, clock: 'real', labCommands: [command], trace: true },
    'startPair',
    async () => NoIoredis as never,
  );
  pair = sets[0] as RealClockPair;
  const control = createNode(nodeHost(), { commands: [command] });
  const listener = new Listener(control.connections);
  try {
    const { port } = await listener.listen({ host: '127.0.0.1', port: labPort });
    control.settings.port = port; // INFO shows it.
    refuseData(control, () => (pair as RealClockPair).url);
    return new LabServer(pair, control, listener, port);
  } catch (error) {
    control.stop();
    await pair.close();
    throw error;
  }
}
