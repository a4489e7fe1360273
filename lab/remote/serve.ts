/** `lostlock --lab`: a pair on the real clock with its LAB commands, and a port for them that outlives every node. */

import { join, resolve } from 'node:path';
import { defined } from '../../base/defined.ts';
import { badOption, checkInteger, checkNames, checkString } from '../../base/options.ts';
import { fromText } from '../../protocol/bytes.ts';
import { nodeHost } from '../../server/host/node.ts';
import type { Listener } from '../../server/host/tcp.ts';
import { createNode } from '../../server/index.ts';
import type { Server } from '../../server/server.ts';
import { defaultSettings, parameters, type Settings } from '../../server/settings/settings.ts';
import { Door } from '../../start/control/door.ts';
import { listen, reachableHost } from '../../start/listening.ts';
import { planTls, type TlsPlan } from '../../start/tls.ts';
import type { Entrance } from '../real-clock/entrance.ts';
import { type Files, filesIn, KeptDisk } from '../real-clock/kept-disk.ts';
import { type RealClockPair, startOnRealClock } from '../real-clock/pair.ts';
import type { DialectOptions } from '../replica-group/dialects.ts';
import { nodeNames } from '../replica-group/layout.ts';
import { labCommand } from './commands.ts';
import { NoIoredis } from './no-ioredis.ts';
import { refuseData } from './refuse-data.ts';
import { sessionOf } from './session.ts';

/** The options of a lab that other processes control. */
export interface LabOptions extends DialectOptions {
  /** How many replicas the primary has; default 1. */
  readonly replicas?: number;
  /** The port that leads to the primary. 0, the default, picks a free one. */
  readonly port?: number;
  /** The port that answers LAB. 0, the default, picks a free one. */
  readonly labPort?: number;
  /** Where the ports for clients and for LAB listen, as redis.conf's `bind`; default 127.0.0.1. The nodes themselves listen there only. */
  readonly host?: string;
  /** The path of a unix socket that leads to the primary. */
  readonly unixSocket?: string;
  /**
   * The folder in which each node keeps its dump file and its append-only file, in a folder of its own: `redis-1` and so on. The
   * primary begins with what is in `dir/redis-1`, or in `dir` itself. By default files are kept in memory.
   */
  readonly dir?: string;
  /** The password that every node and the port for LAB require. */
  readonly password?: string;
  /** Parameters of the nodes, by their names in redis.conf. Those of TLS are for the ports of clients and for LAB. */
  readonly settings?: Partial<Settings>;
}

const NAMES = [
  'replicas',
  'port',
  'labPort',
  'dir',
  'host',
  'unixSocket',
  'password',
  'settings',
  'dialect',
  'strict',
];

/** What makes the pair, once more for each `LAB NEW`. */
type Start = (before?: RealClockPair) => Promise<RealClockPair>;

/** A lab that other processes control. */
export class LabServer implements AsyncDisposable {
  /** The port that answers LAB. */
  readonly labPort: number;
  /** The URL for LAB. */
  readonly labUrl: string;
  readonly #place: LabPlace;
  readonly #control: Server;
  readonly #listeners: readonly Listener[];

  /** @internal @param labUrl the URL of the port for LAB, at which `listeners` listen */
  constructor(place: LabPlace, control: Server, listeners: readonly Listener[], labUrl: string) {
    this.#place = place;
    this.#control = control;
    this.#listeners = listeners;
    this.labUrl = labUrl;
    this.labPort = Number(new URL(labUrl).port);
  }

  /** The pair. LAB NEW replaces it. */
  get pair(): RealClockPair {
    return this.#place.pair;
  }

  /** The URL that leads to the primary. */
  get url(): string {
    return this.pair.url;
  }

  /** Stops the nodes and the port for LAB. Resolves when no handle is left. */
  async stop(): Promise<void> {
    this.#control.stop();
    await Promise.all([...this.#listeners.map((each) => each.close()), this.#place.close()]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** The pair of a lab, and those that take its place. */
class LabPlace {
  readonly #start: Start;
  #pair: RealClockPair | undefined;
  /** Settles when the last pair has started, or could not. */
  #last: Promise<void> = Promise.resolve();

  constructor(start: Start) {
    this.#start = start;
  }

  get pair(): RealClockPair {
    return this.#pair as RealClockPair;
  }

  /** Closes the pair, if there is one, and starts another at its ports. Rejects as `startOnRealClock` does. */
  renew(): Promise<void> {
    const renewed = this.#last.then(async () => {
      const before = this.#pair;
      await before?.close();
      this.#pair = await this.#start(before);
      sessionOf(this.#pair).record();
    });
    this.#last = renewed.catch(() => {});
    return renewed;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#pair?.close();
  }
}

/** The settings of the nodes, and those that are about TLS, which the nodes of a lab do not speak themselves. */
function partTls(settings: Partial<Settings>): { nodes: Partial<Settings>; tls: Partial<Settings> } {
  const parted = { nodes: {}, tls: {} };
  for (const [name, value] of Object.entries(settings))
    Object.assign(name.startsWith('tls-') ? parted.tls : parted.nodes, { [name]: value });
  return parted;
}

/** The settings of a password: nodes ask for it, and replicas log in with it. */
function secretOf(password: string | undefined): Partial<Settings> {
  if (password === undefined) return {};
  return { requirepass: fromText(password), masterauth: fromText(password) };
}

function checkOptions(options: LabOptions): void {
  checkNames(options, NAMES, 'startLab');
  if (options.labPort !== undefined) checkInteger('labPort', options.labPort, 0, 65535);
  for (const name of ['host', 'dir', 'unixSocket', 'password'] as const)
    if (options[name] !== undefined) checkString(name, options[name]);
  for (const name of ['tls-replication', 'tls-cluster'] as const) {
    if (options.settings?.[name] === true)
      throw badOption(`settings.${name}`, true, 'false: the links of a lab carry plain bytes');
  }
}

/**
 * Makes the disks of nodes. Each node has a folder for its files. The primary begins with the files that its folder had when the lab
 * started, also after LAB NEW; the folders of replicas are emptied, because a replica receives the data of the primary.
 * @param dump the name of the dump file
 * @param appended the name of the folder for append-only files
 * @param first the name of the node that begins as the primary
 */
function disksIn(dir: string, dump: string, appended: string, first: string): (node: string) => KeptDisk {
  const begun = new Map<string, Files>();
  const filesOf = (node: string): Files => {
    const own = filesIn(join(dir, node));
    return own.size > 0 ? own : filesIn(dir, (name) => ![dump, appended].includes(name.split('/')[0] ?? ''));
  };
  return (node) => {
    let files = begun.get(node);
    if (files === undefined) begun.set(node, (files = node === first ? filesOf(node) : new Map()));
    const disk = new KeptDisk(join(dir, node), files);
    disk.load(dump);
    return disk;
  };
}

/** What starts the pair of these options. */
function starterOf(
  options: LabOptions,
  tls: TlsPlan | undefined,
  renew: () => Promise<void>,
  place: () => RealClockPair,
): Start {
  const { host, unixSocket, password, settings = {}, labPort: _, port = 0, dir, ...rest } = options;
  const { nodes } = partTls(settings);
  const command = labCommand(place, renew);
  const [[first = ''] = []] = nodeNames(options, 'startPair');
  const diskOf =
    dir === undefined
      ? undefined
      : disksIn(
          resolve(dir),
          settings.dbfilename ?? parameters.dbfilename.initial,
          settings.appenddirname ?? parameters.appenddirname.initial,
          first,
        );
  const isProtected = password === undefined && settings['protected-mode'] !== false;
  const start = async (
    entrance: Entrance,
    at: number,
    nodePorts: readonly number[],
  ): Promise<RealClockPair> => {
    const { sets } = await startOnRealClock(
      {
        ...rest,
        clock: 'real',
        settings: { ...nodes, ...secretOf(password) },
        port: at,
        nodePorts,
        entrance,
        ...defined({ diskOf }),
        labCommands: [command],
        trace: true,
      },
      'startPair',
      async () => NoIoredis as never,
    );
    return sets[0] as RealClockPair;
  };
  return async (before) => {
    const entrance = { isProtected, ...defined({ host, unixSocket, password, tls }) };
    if (before === undefined) return start(entrance, port, []);
    const again = tls === undefined ? entrance : { ...entrance, tls: { ...tls, port: before.tlsPort } };
    const own = Number(new URL(before.url).port);
    const nodePorts = before.nodes.map((node) => node.port);
    // The ports of nodes were free ones, so another program may have one of them by now.
    return start(again, own, nodePorts).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      return start(again, own, []);
    });
  };
}

/** The node that answers at the port for LAB. */
function controlNode(options: LabOptions, place: LabPlace): Server {
  const { password, settings = {} } = options;
  const mode = settings['protected-mode'];
  const control = createNode(nodeHost(), {
    commands: [
      labCommand(
        () => place.pair,
        () => place.renew(),
      ),
    ],
    settings: { ...secretOf(password), ...defined({ 'protected-mode': mode }) },
  });
  refuseData(control, () => `the primary is at ${place.pair.url.replace(/\/\/.*@/, '//')}`);
  return control;
}

/** Starts a lab. Rejects with TypeError for a wrong option, and with Node's error when a port is taken. */
export async function startLab(options: LabOptions = {}): Promise<LabServer> {
  checkOptions(options);
  const { labPort = 0, host, password, settings = {} } = options;
  const tls = planTls({ ...defaultSettings(), ...partTls(settings).tls }, undefined, options.port ?? 0);
  const place: LabPlace = new LabPlace(
    starterOf(
      options,
      tls,
      () => place.renew(),
      () => place.pair,
    ),
  );
  await place.renew();
  const control = controlNode(options, place);
  const listeners: Listener[] = [];
  try {
    // The port for LAB speaks TLS if no port is plain.
    const plan = tls?.plain === false ? { ...tls, port: labPort } : undefined;
    const door = new Door(control);
    await listen(door, { port: labPort, ...defined({ host }) }, plan, listeners);
    const { port, 'tls-port': tlsPort } = control.settings;
    const reachable = reachableHost({ ...defined({ host }) });
    const login = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
    const at = `${reachable.includes(':') ? `[${reachable}]` : reachable}:${port || tlsPort}`;
    return new LabServer(
      place,
      control,
      listeners,
      `${plan === undefined ? 'redis' : 'rediss'}://${login}${at}`,
    );
  } catch (error) {
    control.stop();
    await Promise.all([...listeners.map((each) => each.close()), place.close()]);
    throw error;
  }
}
