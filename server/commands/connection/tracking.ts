/** CLIENT TRACKING, CACHING, TRACKINGINFO, GETREDIR: subcommands for client-side caching. */
import { asciiLower, type Bytes } from '../../../protocol/bytes.ts';
import { fail, NOT_INTEGER, SYNTAX } from '../../../protocol/errors.ts';
import { MapReply, OK, type Reply, SetReply } from '../../../protocol/reply.ts';
import type { TrackingMode } from '../../clients/tracking.ts';
import type { Caller } from '../../server.ts';
import { integer, Options } from '../../table/arguments.ts';
import type { Argv, CommandSpec } from '../../table/command.ts';

const BEFORE = 'before disabling tracking for this client, and then re-enabling it with a different mode.';
const NOT_OVERLAP = 'Prefixes for a single client must not overlap.';

interface Wanted {
  redirect: number;
  broadcast: boolean;
  optIn: boolean;
  optOut: boolean;
  noLoop: boolean;
  prefixes: Bytes[];
}

function parse(client: Caller, argv: readonly Bytes[]): Wanted {
  const wanted: Wanted = {
    redirect: 0,
    broadcast: false,
    optIn: false,
    optOut: false,
    noLoop: false,
    prefixes: [],
  };
  const options = new Options(argv, 3);
  while (options.more()) {
    const option = options.next();
    if (option === 'REDIRECT' && options.left > 0) {
      if (wanted.redirect !== 0) fail('ERR A client can only redirect to a single other client');
      const id = integer(options.value(), NOT_INTEGER);
      if (!client.server.clients.has(id)) fail('ERR The client ID you want redirect to does not exist');
      wanted.redirect = id;
    } else if (option === 'PREFIX' && options.left > 0) wanted.prefixes.push(options.value());
    else if (option === 'BCAST') wanted.broadcast = true;
    else if (option === 'OPTIN') wanted.optIn = true;
    else if (option === 'OPTOUT') wanted.optOut = true;
    else if (option === 'NOLOOP') wanted.noLoop = true;
    else fail(SYNTAX);
  }
  return wanted;
}

function check(wanted: Wanted, now: TrackingMode | undefined): void {
  if (!wanted.broadcast && wanted.prefixes.length > 0)
    fail('ERR PREFIX option requires BCAST mode to be enabled');
  if (now !== undefined && now.broadcast !== wanted.broadcast)
    fail(`ERR You can't switch BCAST mode on/off ${BEFORE}`);
  if (wanted.broadcast && (wanted.optIn || wanted.optOut)) {
    fail('ERR OPTIN and OPTOUT are not compatible with BCAST');
  }
  if (wanted.optIn && wanted.optOut) fail("ERR You can't specify both OPTIN mode and OPTOUT mode");
  if ((wanted.optIn && now?.optOut === true) || (wanted.optOut && now?.optIn === true)) {
    fail(`ERR You can't switch OPTIN/OPTOUT mode ${BEFORE}`);
  }
  if (wanted.broadcast) checkPrefixes(wanted.prefixes, now?.prefixes ?? []);
}

/** Throws if a prefix is the start of another prefix of the same client. */
function checkPrefixes(prefixes: readonly Bytes[], present: readonly Bytes[]): void {
  const overlap = (a: Bytes, b: Bytes): boolean => a.startsWith(b) || b.startsWith(a);
  for (const [i, prefix] of prefixes.entries()) {
    const old = present.find((each) => overlap(each, prefix));
    if (old !== undefined)
      fail(`ERR Prefix '${prefix}' overlaps with an existing prefix '${old}'. ${NOT_OVERLAP}`);
    const other = prefixes.find((each, j) => j > i && overlap(each, prefix));
    if (other !== undefined) {
      fail(`ERR Prefix '${prefix}' overlaps with another provided prefix '${other}'. ${NOT_OVERLAP}`);
    }
  }
}

function track(client: Caller, argv: Argv<-3>): Reply {
  const { tracking } = client.server;
  const wanted = parse(client, argv);
  const word = asciiLower(argv[2]);
  if (word === 'off') {
    tracking.disable(client);
    return OK;
  }
  if (word !== 'on') fail(SYNTAX);
  const now = tracking.modeOf(client);
  check(wanted, now);
  const prefixes = wanted.broadcast && wanted.prefixes.length === 0 ? [''] : wanted.prefixes;
  tracking.enable(client, {
    ...wanted,
    // A client may ask for all keys more than once.
    prefixes: [...new Set([...(now?.prefixes ?? []), ...prefixes])],
    caching: now?.caching ?? false,
    broken: false,
  });
  return OK;
}

function caching(client: Caller, argv: Argv<-3>): Reply {
  const mode = client.server.tracking.modeOf(client);
  if (mode === undefined) {
    fail(
      'ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled',
    );
  }
  const word = asciiLower(argv[2]);
  if (word !== 'yes' && word !== 'no') fail(SYNTAX);
  if (word === 'yes' && !mode.optIn) {
    fail('ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.');
  }
  if (word === 'no' && !mode.optOut) {
    fail('ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.');
  }
  mode.caching = true;
  return OK;
}

function trackingInfo(client: Caller): Reply {
  const mode = client.server.tracking.modeOf(client);
  const flags: Bytes[] = [mode === undefined ? 'off' : 'on'];
  if (mode?.broadcast === true) flags.push('bcast');
  if (mode?.optIn === true) flags.push('optin', ...(mode.caching ? ['caching-yes'] : []));
  if (mode?.optOut === true) flags.push('optout', ...(mode.caching ? ['caching-no'] : []));
  if (mode?.noLoop === true) flags.push('noloop');
  if (mode?.broken === true) flags.push('broken_redirect');
  const prefixes = [...(mode?.prefixes ?? [])].sort();
  return new MapReply(['flags', new SetReply(flags), 'redirect', mode?.redirect ?? -1, 'prefixes', prefixes]);
}

const about = { since: '6.0.0', complexity: 'O(1)', flags: ['noscript', 'loading', 'stale'] } as const;
type CallerSpec<A extends number> = CommandSpec<A, Caller>;

/** The subcommands of CLIENT for client-side caching. */
export const trackingSubcommands: {
  tracking: CallerSpec<-3>;
  caching: CallerSpec<3>;
  trackinginfo: CallerSpec<2>;
  getredir: CallerSpec<2>;
} = {
  tracking: { summary: 'Tracks the keys that this connection reads.', ...about, arity: -3, run: track },
  caching: {
    summary: 'Sets whether the keys of the next command are tracked.',
    ...about,
    changes: [{ since: { valkey: '9.0.0' }, flags: ['noscript', 'loading', 'stale', 'allow_busy'] }],
    arity: 3,
    run: caching,
  },
  trackinginfo: {
    summary: 'Returns the tracking settings of this connection.',
    ...about,
    since: '6.2.0',
    arity: 2,
    run: trackingInfo,
  },
  getredir: {
    summary: 'Returns the connection that gets the invalidation messages.',
    ...about,
    changes: [{ since: { valkey: '9.0.0' }, flags: ['noscript', 'loading', 'stale', 'allow_busy'] }],
    arity: 2,
    run: (client) => client.server.tracking.modeOf(client)?.redirect ?? -1,
  },
};
