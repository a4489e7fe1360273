/** What a project of `npm run test:fresh` is, and what several of them run. */

/** A project in a folder of its own. */
export interface FreshProject {
  readonly name: string;
  /** What is installed beside lostlock, with versions. */
  readonly packages: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** The program that runs it, a path below node_modules or a file of its own, and its arguments. */
  readonly run: readonly string[];
  /** What installs the packages; default npm. */
  readonly installer?: 'pnpm' | 'yarn';
  /** The runtime that runs it once, below node_modules, in place of each version of Node. */
  readonly runtime?: readonly [program: string];
  /** It needs programs that npm installs for this machine's libc, and so does not run on musl here. */
  readonly isNative?: boolean;
  /** What the output says when all is well. */
  readonly expected: RegExp;
  /** It prints the same as all projects that say so. */
  readonly printsTheSame?: boolean;
}

/** Takes a lock on a server, and loses one in the lab. Its program has `assert`, ioredis' `Redis`, `startServer` and `startPair`. */
export const firstSteps = `
  const server = await startServer();
  const redis = new Redis(server.url);
  assert.equal(await redis.set('my:lock', 'A', 'PX', 30_000, 'NX'), 'OK');
  redis.disconnect();
  await server.stop();

  const pair = await startPair({ clock: 'virtual', seed: 7 });
  pair.link.hold();
  await pair.client('A').set('my:lock', 'A', 'PX', 30_000, 'NX');
  assert.equal((await pair.failover({ crash: true })).lost[0].holder, 'A');
  await pair.close();
`;
