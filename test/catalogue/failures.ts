/**
 * The catalogue of failures of locks: one line for each, with where it is shown. The tables of docs/scenarios.md, docs/locks.md
 * and docs/specimens.md are made from it (`npm run docs`), and test/catalogue/catalogue.test.ts checks that nothing is missing.
 */

/** How the locks of lostlock/locks meet a failure, and the tests that show it. */
export interface Handling {
  readonly by: string;
  /** In Markdown, as the page has it. */
  readonly tests: string;
}

/** What our locks do about failures, in the order of docs/locks.md. */
export const handled = {
  'one request': {
    by: 'one script, token, watchdog, fence, lock delay',
    tests: '`test/locks/failures/acquiring.ts`',
  },
  'server clock': {
    by: "a fence: no lock can detect that the server's clock jumped",
    tests: '`failures/around.ts`',
  },
  rounding: {
    by: 'leases are whole milliseconds, rounded up, and must exceed the drift allowance. Others are a TypeError. If answers are too slow for the lease, waiters ask less and less often',
    tests:
      '`failures/refused.ts`, `test/locks/options.realtime.beside.test.ts`, `test/locks/asking/never-held.realtime.test.ts`',
  },
  refusals: {
    by: "a typed `ServerRefused`, with nothing changed. Releases need no memory, but for a semaphore's, which goes on until it succeeds. Renewals of queue locks, non-reentrant locks and expirable permits need some",
    tests: '`failures/refused.ts`, `failures/issues.ts`, `test/locks/conformance/basic.ts`',
  },
  fences: {
    by: "`fence: 'clock'` grows past a counter that was set back or that restarted from the beginning. The holder is notified within a third of the lease",
    tests: '`failures/unknown.ts`, `failures/around.ts`',
  },
  'lost replies': {
    by: 'tokens, markers, numbered requests',
    tests:
      '`failures/unknown.ts`, `failures/refused.ts`, `test/locks/server/lost-replies.realtime.beside.test.ts`',
  },
  replicas: {
    by: '`replicas`: WAIT on the same connection, rolled back if too few replicas confirm',
    tests:
      '`test/locks/server/replicas.realtime.beside.test.ts`, `failures/unknown.ts`, `failures/refused.ts`',
  },
  'repeated grant': {
    by: 'with `replicas`, every script ends with a write, so that a WAIT of Redis 8 or Valkey behind it is about the lock',
    tests: '`failures/believed.ts`, `test/lab/scenarios/wait.test.ts`',
  },
  Redlock: {
    by: 'Redlock: a majority, releases on every server, a checked configuration. Without a majority, and where none can be known to exist, a random pause (10 to 100 ms, doubling to 1 s) that no message shortens',
    tests:
      '`test/locks/kinds/redlock.realtime.beside.test.ts`, `test/locks/kinds/redlock-silence.test.ts`, `test/lab/scenarios/redlock*.ts`',
  },
  waiting: {
    by: 'the rules for waiting above. A message is a hint and never the lock. Keyspace events and replicas are not asked',
    tests: '`failures/waiting.ts`, `failures/lines.ts`, `failures/messages.ts`',
  },
  watchdog: {
    by: 'watchdog, `maxHoldMs`, `signal`. Leases never shrink',
    tests: '`failures/waiting.ts`, `failures/counts.ts`, `failures/issues.ts`',
  },
  'explicit lease': {
    by: 'by contract: an explicit lease is not renewed. It ends by itself, and its holder is notified',
    tests: '`failures/around.ts`, `test/locks/conformance/basic.ts`',
  },
  owners: {
    by: 'counts are set, not incremented. Owners are async contexts, names or single acquisitions',
    tests: '`failures/kinds.ts`, `failures/counts.ts`',
  },
  line: {
    by: "waiters report regularly, by the server's clock. One that stops loses its place. Times are bounded",
    tests: '`failures/kinds.ts`, `failures/lines.ts`',
  },
  'lost place': {
    by: 'a waiter reports again: the failover costs it its place, but not its turn forever. Replicated places keep their order',
    tests: '`failures/around.ts`',
  },
  'read holds': {
    by: 'a lease for each read hold. The mode decides who may do what',
    tests: '`failures/counts.ts`, `test/locks/conformance/shared.ts`',
  },
  'starving writer': { by: 'a turnstile, see below', tests: '`failures/around.ts`' },
  permits: {
    by: "leases for permits, the server's clock, numbered requests",
    tests: '`failures/kinds.ts`, `failures/lines.ts`, `failures/counts.ts`, `failures/issues.ts`',
  },
  'copied permits': {
    by: '`replicas`: a permit that was not copied is not granted',
    tests: '`failures/around.ts`',
  },
  'own leases': {
    by: 'each read hold has its own number, key and lease. A release ends only that hold, and the lock lasts as long as the longest that remains',
    tests:
      '`failures/counts.ts`, `test/locks/kinds/own-holds.test.ts`, on real servers `test/locks/kinds/own-holds-real.realtime.beside.test.ts`',
  },
  'all or none': {
    by: 'all or none, in the order of names. Sums are preserved',
    tests: '`failures/kinds.ts`, `failures/counts.ts`',
  },
  herd: { by: 'none of our locks spins', tests: '`failures/waiting.ts`' },
  cache: {
    by: 'around a lock: the races of a cache and their cures',
    tests: '`npm run bench:oversell`, `bench/oversell.md`',
  },
  around: {
    by: 'around a lock: `using` for the whole transaction, `replicas` for a mark that must last, `signal` for a leader, a lease without a release for a job',
    tests: '`failures/around.ts`',
  },
  'one connection': {
    by: 'a grant and its WAIT are one pipeline, and both replies must come from one connection. Otherwise the grant is requested again',
    tests:
      '`failures/believed.ts`, `test/locks/server/same-connection.realtime.test.ts`, `test/locks/server/replicated.realtime.beside.test.ts`',
  },
  'copied renewals': {
    by: 'with `replicas`, renewals and `extend()` count only when the replicas have them',
    tests:
      '`failures/believed.ts`, `test/locks/holding/watchdog.test.ts`, `test/locks/server/replicated.realtime.beside.test.ts`',
  },
  'monotonic clock': {
    by: 'validity is measured on a monotonic clock',
    tests: '`failures/believed.ts`, `test/locks/timing/clock.test.ts`',
  },
  tokens: { by: 'a re-entry keeps the fence of its grant', tests: '`test/locks/conformance/shared.ts`' },
} as const satisfies Record<string, Handling>;

/** Why our locks do nothing about a failure. */
export const notHandled = {
  'of the server':
    'the server decides when keys expire and what it reloads; a lock only lasts longer when its clock is set back',
  'two clocks': 'Redlock relies on clocks that run at nearly the same rate; a fence helps when they do not',
  failovers:
    'it is about the operation of replicas, whatever lock is used: [scenarios.md](scenarios.md) shows it and what helps',
  stalls:
    'it is a stall of a server, whatever lock is used: [scenarios.md](scenarios.md) shows it and what helps',
  'no lock': 'a rate limiter is not a lock, and there is none here',
} as const;

/** Why a failure has no specimen, in the order of docs/specimens.md. */
export const noSpecimen = {
  mutants: 'renewals: `npm run explore:mutants` plants these in scripts and in a sample library',
  answers: 'what a command answers, at which millisecond: differential tests compare it with real servers',
  'beside the lock':
    'the harm is done in a database, cache or job beside the lock, which an exploration does not have',
  harmless: 'they cost a lease, or an attempt, and break no promise',
  'no fault':
    'no default fault of an exploration shows them: eviction and FLUSHALL strike on request, and buffers and herds do not at all',
  choreography:
    'they need a promotion by name, a replica from an older disk, or a split that is not mended: the lab plays them one by one',
  'two faults':
    'they need a lost vote and a second fault on another node: rare in random worlds, and played one by one',
  'one process':
    'queues, latches, owners and watchdogs inside one process: `test/locks/` plays them, and `npm run campaign` all kinds',
  'not written': 'nobody has written one yet: `test/locks/failures/` plays them',
} as const;

/** Where a failure is shown, and why not elsewhere. */
export interface CatalogueEntry {
  /** What goes wrong. */
  readonly what: string;
  /** Its row in docs/scenarios.md: the test file, what the unsafe form does, and what the safe form does. */
  readonly lab?: readonly [file: string, unsafe: string, safe: string];
  /** How our locks handle it, or why they do not. */
  readonly locks: keyof typeof handled | keyof typeof notHandled;
  /** The mistake that its specimen makes (`true`: `what` says it), or why there is none. */
  readonly specimen: true | string | { readonly none: keyof typeof noSpecimen };
}

// biome-ignore format: a table, one line each
const table = {
  S1: { what: 'SETNX, then EXPIRE', locks: 'one request', specimen: true },
  S2: { what: 'losers set the expiry again', locks: 'one request', specimen: true },
  S3: { what: 'DEL without a token', locks: 'one request', specimen: true },
  S4: { what: 'GET, compare, DEL in the client', locks: 'one request', specimen: true },
  S5: { what: 'all clients have one token', locks: 'one request', specimen: true },
  S6: { what: "a renewal extends another client's lock", locks: 'one request', specimen: { none: 'mutants' } },
  S7: { what: 'a renewal that is SET without a condition', locks: 'one request', specimen: true },
  S8: { what: 'a lease is rounded down to seconds, and its holder trusts the milliseconds', locks: 'rounding', specimen: { none: 'answers' } },
  S9: { what: 'the lease is shorter than the work', locks: 'one request', specimen: true },
  S10: { what: 'the client stalls after the grant', locks: 'one request', specimen: true },
  S11: { what: 'the lease is counted from the reply', locks: 'one request', specimen: true },
  S12: { what: 'a stalled holder, or a write that was long under way, reaches the resource after the next holder', locks: 'one request', specimen: { none: 'beside the lock' } },
  S13: { what: "a dead holder's last write arrives after the next grant", locks: 'one request', specimen: { none: 'beside the lock' } },
  S14: { what: 'a key whose time is over, before its server removes it', locks: 'of the server', specimen: { none: 'answers' } },
  S15: { what: 'the millisecond in which a server lets a key expire', locks: 'of the server', specimen: { none: 'answers' } },
  S16: { what: "the server's clock is set forward", locks: 'server clock', specimen: true },
  S17: { what: "the server's clock is set back", locks: 'of the server', specimen: { none: 'harmless' } },
  S18: { what: 'on a server that is out of memory the lock cannot be released', locks: 'refusals', specimen: { none: 'no fault' } },
  S19: { what: 'a lock has the name of other data, and its release deletes that data', locks: 'refusals', specimen: { none: 'no fault' } },
  S20: { what: 'the power of the only node fails', lab: ['disks', '`appendfsync everysec`: the lock of the last second is gone, two holders', '`appendfsync always`'], locks: 'fences', specimen: 'the only node restarts without its data' },
  S21: { what: 'a lease ends while the node is down', lab: ['disks', '', 'the lock is not there after the restart, and a longer one is'], locks: 'of the server', specimen: { none: 'choreography' } },
  S22: { what: 'the lock was taken and the reply lost: it is unused, and no other client gets it', locks: 'lost replies', specimen: { none: 'harmless' } },
  S23: { what: 'a request arrives after the client gave up and released: the lock is taken without a holder', locks: 'lost replies', specimen: { none: 'harmless' } },
  S24: { what: 'a release is sent again with plain DEL', locks: 'lost replies', specimen: true },
  S25: { what: 'a release of one of two holds is counted twice', locks: 'lost replies', specimen: true },
  S26: { what: 'a renewal without a reply counts as successful', locks: 'lost replies', specimen: { none: 'mutants' } },
  S27: { what: 'the lock was taken and the reply lost: it is unused, and no other client gets it', locks: 'lost replies', specimen: { none: 'mutants' } },
  S28: { what: 'the connection breaks between SET and WAIT, and the error is taken for a refusal', locks: 'replicas', specimen: { none: 'harmless' } },
  S29: { what: 'the client library repeats a request after a broken connection, and the second answer contradicts the first', locks: 'lost replies', specimen: { none: 'harmless' } },
  S30: { what: 'the primary dies before it has replicated', lab: ['wait', 'two holders', 'quorum mode: a majority has every write that was answered'], locks: 'replicas', specimen: 'the primary fails before it has replicated' },
  S31: { what: 'WAIT answers 0', lab: ['wait', 'the client carries on', 'it releases the lock, and holds nothing'], locks: 'replicas', specimen: 'WAIT answers 0, and the client goes on' },
  S32: { what: 'WAIT 1 of 2, and the other replica is promoted', lab: ['wait', 'promotion by name, or by priority, which counts before the offset', 'promotion by offset; WAIT for all'], locks: 'replicas', specimen: { none: 'choreography' } },
  S33: { what: "Redisson's rule for how many replicas are enough", lab: ['wait', 'no replica connected; one copy of two', 'all configured replicas must have it'], locks: 'replicas', specimen: { none: 'choreography' } },
  S34: { what: 'WAIT on another connection of the pool', lab: ['wait', 'it counts replicas that lack the lock', 'WAIT on the connection that wrote'], locks: 'replicas', specimen: 'WAIT on another connection' },
  S35: { what: 'WAIT in MULTI and in scripts', lab: ['wait', 'EXEC succeeds, and its number is about earlier writes', "WAIT after EXEC. Scripts may not call it in Redis 7.0; from 7.2 it counts there replicas that do not have the script's writes"], locks: 'replicas', specimen: 'WAIT in MULTI' },
  S36: { what: 'WAIT after a failed SET NX', lab: ['wait', 'Redis 7: it waits for writes by others', 'Redis 8: it answers at once. A client that was refused does not call WAIT'], locks: 'replicas', specimen: { none: 'harmless' } },
  S36b: { what: "WAIT after a request that wrote nothing, because the lock is the client's already", lab: ['wait', 'Redis 8: it counts replicas that lack the lock, two holders', 'Redis 7 waits for all writes before; for Redis 8, write the lock again as it is, and then WAIT'], locks: 'repeated grant', specimen: 'WAIT after a request that wrote nothing' },
  S37: { what: 'a replica that WAIT has counted restarts from an older disk', lab: ['copies', 'two holders', 'WAITAOF'], locks: 'failovers', specimen: { none: 'choreography' } },
  S38: { what: 'a stale replica is promoted and overwrites the one that had the lock', lab: ['copies', 'SET and WAIT are both void', 'WAIT for both'], locks: 'failovers', specimen: { none: 'choreography' } },
  S39: { what: 'acknowledgements are late, but commands are not', lab: ['copies', 'an orphan that nobody claims', 'the lock is released, on both nodes'], locks: 'failovers', specimen: { none: 'harmless' } },
  S40: { what: 'a demotion interrupts WAIT (`UNBLOCKED`)', lab: ['copies', 'it is taken for success', 'nobody knows, so nobody holds'], locks: 'failovers', specimen: { none: 'harmless' } },
  S41: { what: 'split brain', lab: ['split-brain', 'the old primary keeps renewing, and its writes are discarded later', 'the store refuses the older token'], locks: 'failovers', specimen: { none: 'choreography' } },
  S42: { what: 'min-replicas-to-write', lab: ['split-brain', 'without it the split lasts forever', 'writes, and the overlap, end after the lag plus one second'], locks: 'failovers', specimen: { none: 'choreography' } },
  S43: { what: 'a manual switch-over', lab: ['split-brain', 'writes made meanwhile are lost', 'CLIENT PAUSE WRITE, equal offsets, then promote; or FAILOVER'], locks: 'failovers', specimen: { none: 'choreography' } },
  S44: { what: 'the old primary is ahead when it rejoins', lab: ['split-brain', '', 'partial resync refused; one full resync; equal ids and data'], locks: 'failovers', specimen: { none: 'choreography' } },
  S45: { what: 'the second replication id at -1, 0, +1', lab: ['split-brain', '', 'partial, partial, full: between nodes, and as PSYNC'], locks: 'failovers', specimen: { none: 'choreography' } },
  S46: { what: 'the backlog overflows while the link is down', lab: ['split-brain', 'full resync, old data served meanwhile', 'a backlog that is long enough'], locks: 'failovers', specimen: { none: 'choreography' } },
  S47: { what: 'decisions based on what a replica says', lab: ['roles', 'free though held; held though free', 'ask the primary'], locks: 'failovers', specimen: { none: 'choreography' } },
  S48: { what: 'an expired lock on a replica', lab: ['roles', '', 'GET, EXISTS, PTTL, TTL, TYPE, KEYS, SCAN hide it; DBSIZE counts it until the DEL'], locks: 'failovers', specimen: { none: 'answers' } },
  S49: { what: "the promoted node's clock is ahead", lab: ['roles', 'two holders, for as long as it is ahead', 'if it is behind, the lock only lasts longer'], locks: 'failovers', specimen: { none: 'choreography' } },
  S50: { what: 'a writable replica', lab: ['roles', 'a lock of its own, overwritten by the stream', '`READONLY`'], locks: 'failovers', specimen: { none: 'choreography' } },
  S51: { what: 'Sentinel demotes the primary: its CLIENT KILL ends every connection', lab: ['sentinel', 'a waiter that only listens misses the release', 'it subscribes again and asks again'], locks: 'failovers', specimen: { none: 'choreography' } },
  S52: { what: 'the promoted node does not know the script', lab: ['roles', '`NOSCRIPT`: the lock stays', 'EVAL after EVALSHA, in one round trip'], locks: 'failovers', specimen: { none: 'harmless' } },
  S53: { what: 'a client pinned to the old primary', lab: ['roles', "`READONLY`, with the script's name in scripts: the lock stays", 'it looks for the primary again'], locks: 'failovers', specimen: { none: 'harmless' } },
  S54: { what: 'READONLY, MASTERDOWN, NOREPLICAS at an acquisition', lab: ['sentinel', '', 'they are temporary: the acquisition tries again. Other errors are passed on'], locks: 'failovers', specimen: { none: 'harmless' } },
  S55: { what: 'retries after too few copies count as entries', lab: ['roles', 'never free again', 'an attempt with too few copies is rolled back'], locks: 'replicas', specimen: { none: 'harmless' } },
  S56: { what: 'the failover sets the fencing counter back', lab: ['fences', 'two grants with one token', "an epoch before the counter; `fence: 'clock'`"], locks: 'fences', specimen: 'a failover sets the counter of fences back' },
  S57: { what: 'RFencedLock counts re-entries', lab: ['fences', 'the outer token is refused', 'a re-entry keeps the token of its grant'], locks: 'tokens', specimen: { none: 'choreography' } },
  S58: { what: 'two failovers', lab: ['fences', 'the second loses what the first one kept', 'every node that may be promoted has it'], locks: 'failovers', specimen: { none: 'choreography' } },
  S59: { what: 'a cluster promotes a replica that lacks the lock, or cuts a primary off', lab: ['cluster', 'two holders: the promoted node has never seen the lock', 'the minority stops serving; a fence refuses the older holder'], locks: 'failovers', specimen: 'a cluster promotes a replica that lacks the lock' },
  S60: { what: 'Redlock: one clock jumps forward', lab: ['redlock', 'two majorities', 'the store refuses the older token'], locks: 'two clocks', specimen: { none: 'two faults' } },
  S61: { what: 'Redlock: a node restarts empty', lab: ['redlock', 'two majorities', 'it stays away for the longest lease, or syncs before it replies (`appendfsync always`)'], locks: 'Redlock', specimen: { none: 'two faults' } },
  S62: { what: 'Redlock: a majority dies', lab: ['redlock', 'back at once: two holders', 'away for the lease: nobody gets a lock for that long'], locks: 'Redlock', specimen: { none: 'two faults' } },
  S63: { what: 'Redlock: asking takes longer than the lease', lab: ['redlock', 'votes are counted, but time is not', 'not acquired; released everywhere, including late requests'], locks: 'Redlock', specimen: 'Redlock counts votes, but not time' },
  S64: { what: 'Redlock: split votes', lab: ['redlock', 'equal delays: no winner in 60 rounds', 'random delays: each has its turn'], locks: 'Redlock', specimen: { none: 'harmless' } },
  S65: { what: "Redlock: the loser's minority", lab: ['redlock', 'kept: nobody has a majority until its lease ends', 'given back'], locks: 'Redlock', specimen: { none: 'harmless' } },
  S66: { what: 'Redlock: an extension on a minority', lab: ['redlock', 'taken for an extension: two holders', 'refused; the first lease runs to its end'], locks: 'Redlock', specimen: { none: 'mutants' } },
  S67: { what: 'Redlock: when the lease begins', lab: ['redlock-edges', 'redlock 5 measures from before its retries', 'from the request that was granted'], locks: 'Redlock', specimen: { none: 'two faults' } },
  S68: { what: 'Redlock: the lock vanishes under `using`', lab: ['redlock-edges', 'redlock 5 fails the work that was done', '`using` reports that the lock was lost, and settles in time'], locks: 'Redlock', specimen: { none: 'harmless' } },
  S69: { what: 'Redlock: nodes that are not independent', lab: ['redlock-edges', 'half of an even number: two holders', 'even numbers, a node named twice and replicas are refused'], locks: 'Redlock', specimen: 'half of an even number is taken for a majority' },
  S69b: { what: 'Redlock: clocks that drift', lab: ['redlock-edges', 'by more than the drift factor: two holders', 'a factor that covers the drift'], locks: 'two clocks', specimen: { none: 'two faults' } },
  S70: { what: 'the message of the release is lost with its connection', locks: 'waiting', specimen: true },
  S71: { what: 'the release comes between attempt and subscription', locks: 'waiting', specimen: true },
  S72: { what: 'the waiter is subscribed to a replica that the message does not reach', locks: 'waiting', specimen: { none: 'one process' } },
  S73: { what: 'a doubled or needless message is taken for the lock itself', locks: 'waiting', specimen: { none: 'beside the lock' } },
  S74: { what: 'a doubled or needless message is taken for the lock itself', locks: 'waiting', specimen: { none: 'beside the lock' } },
  S75: { what: "the message of the release is lost together with the waiter's connection", locks: 'waiting', specimen: { none: 'no fault' } },
  S76: { what: 'one release wakes everybody', locks: 'waiting', specimen: { none: 'no fault' } },
  S77: { what: 'a waiter that has just given up consumes the wake-up', locks: 'waiting', specimen: { none: 'one process' } },
  S78: { what: 'a waiter that gives up stays subscribed', locks: 'waiting', specimen: { none: 'no fault' } },
  S79: { what: 'a RESP2 connection in subscriber mode is used to acquire the lock', locks: 'waiting', specimen: { none: 'answers' } },
  S80: { what: 'the waiter relies on the keyspace event, which is sent once and to current subscribers only', locks: 'waiting', specimen: { none: 'no fault' } },
  S81: { what: 'after a failed renewal, the same lock is not renewed when it is taken again', locks: 'watchdog', specimen: { none: 'mutants' } },
  S82: { what: 'a watchdog renews after the release', locks: 'watchdog', specimen: true },
  S83: { what: 'the watchdog renews a lock that another client holds by now, and keeps it after that client died', locks: 'watchdog', specimen: { none: 'mutants' } },
  S84: { what: 'the watchdog keeps the lock of a holder that hangs', locks: 'watchdog', specimen: { none: 'one process' } },
  S85: { what: 'a late renewal, and the work goes on', locks: 'watchdog', specimen: true },
  S86: { what: 'the promoted replica does not have the lock, and the holder is not notified', locks: 'watchdog', specimen: { none: 'mutants' } },
  S87: { what: 'an explicit lease is not renewed, and the work goes on after it', locks: 'explicit lease', specimen: { none: 'mutants' } },
  S88: { what: 'one lost lock stops the renewal of the others', locks: 'watchdog', specimen: { none: 'mutants' } },
  S89: { what: 're-entry with a short lease shortens the long one', locks: 'watchdog', specimen: { none: 'mutants' } },
  S90: { what: 'a failover loses one of two holds, and the first release opens the lock', locks: 'owners', specimen: { none: 'one process' } },
  S91: { what: 'all tasks of one process count as one owner', locks: 'owners', specimen: { none: 'one process' } },
  S92: { what: 'a dead waiter at the head of the line keeps the others waiting', locks: 'line', specimen: { none: 'one process' } },
  S93: { what: 'many short visits push the times of the line hours into the future', locks: 'line', specimen: { none: 'one process' } },
  S94: { what: "a client whose clock is ahead treats the others' places and permits as expired", locks: 'line', specimen: { none: 'one process' } },
  S95: { what: 'the times of the line are lost while the line remains, and no waiter gets the lock any more', locks: 'line', specimen: { none: 'one process' } },
  S96: { what: 'a failover loses a place in the line, and the waiter is never woken', locks: 'lost place', specimen: { none: 'one process' } },
  S97: { what: 'a waiter that gives up stays in line', locks: 'line', specimen: { none: 'one process' } },
  S98: { what: 'readers share one lease, so a dead reader keeps writers out as long as others read', locks: 'read holds', specimen: { none: 'one process' } },
  S99: { what: 'readers that take turns keep the writer out for ever', locks: 'starving writer', specimen: { none: 'one process' } },
  S100: { what: 'a writer that ends its read hold loses its write hold too', locks: 'read holds', specimen: { none: 'one process' } },
  S101: { what: 'a renewal under way brings a released read or write lock back', locks: 'read holds', specimen: { none: 'one process' } },
  S102: { what: 'a permit is lost with its holder', locks: 'permits', specimen: true },
  S103: { what: 'a permit is given back twice', locks: 'permits', specimen: true },
  S104: { what: 'an expired permit is not counted as free, and the others cannot be released together with it', locks: 'permits', specimen: { none: 'one process' } },
  S105: { what: "a client whose clock is ahead treats the others' places and permits as expired", locks: 'permits', specimen: { none: 'one process' } },
  S106: { what: 'a failover gives a permit back', locks: 'copied permits', specimen: true },
  S107: { what: 'a count-down that is sent twice opens the latch early', locks: 'permits', specimen: { none: 'one process' } },
  S108: { what: 'one of several locks cannot be had, and the others stay taken', locks: 'all or none', specimen: { none: 'one process' } },
  S109: { what: 'two clients that take two locks in opposite order deadlock', locks: 'all or none', specimen: { none: 'no fault' } },
  S110: { what: 'one release wakes everybody', locks: 'herd', specimen: { none: 'no fault' } },
  S111: { what: 'a request larger than a segment fails though there are enough units, or loses units', locks: 'all or none', specimen: { none: 'beside the lock' } },
  S112: { what: 'a rate limiter lets too many in', locks: 'no lock', specimen: { none: 'beside the lock' } },
  S113: { what: 'a wait of a month ends after a millisecond', locks: 'waiting', specimen: { none: 'answers' } },
  S114: { what: 'a cache: change, then delete', locks: 'cache', specimen: { none: 'beside the lock' } },
  S115: { what: 'a cache: change, then set', locks: 'cache', specimen: { none: 'beside the lock' } },
  S116: { what: 'a cache: every reader that misses loads', locks: 'cache', specimen: { none: 'beside the lock' } },
  S117: { what: 'the lock is released before the change is made', locks: 'around', specimen: true },
  S118: { what: 'a failover loses the mark that a message was processed', locks: 'around', specimen: { none: 'beside the lock' } },
  S119: { what: 'a leader that is cut off goes on leading', locks: 'around', specimen: { none: 'one process' } },
  S120: { what: 'a scheduled job, and clocks that differ', lab: ['stalls', 'unlocked when done: it runs twice a tick', 'locked at least as long as clocks may differ'], locks: 'around', specimen: { none: 'beside the lock' } },
  S121: { what: 'a script outlasts the lease', lab: ['stalls', 'the renewal arrived in time and is executed too late', 'a lease that outlasts every script'], locks: 'stalls', specimen: { none: 'answers' } },
  S122: { what: 'a release gets BUSY', lab: ['stalls', 'not retried: an orphan for the whole lease', 'retried until answered'], locks: 'stalls', specimen: { none: 'harmless' } },
  S123: { what: 'a script that has written cannot be killed', lab: ['stalls', '', '`UNKILLABLE`; the node is lost, and a failover helps'], locks: 'stalls', specimen: { none: 'answers' } },
  S124: { what: 'CLIENT PAUSE WRITE', lab: ['stalls', '', 'leases do not end: readers see the lock as expired, but nobody gets it before the pause ends'], locks: 'stalls', specimen: { none: 'answers' } },
  S125: { what: 'the node stalls (fork, swap)', lab: ['stalls', 'A holds until it is notified: two holders', 'A watches its own clock'], locks: 'stalls', specimen: 'the node stalls, and the holder waits for it' },
  S126: { what: 'a replica is promoted before its first dataset has arrived', lab: ['stalls', 'every lock is gone', 'another replica has the data and the higher offset'], locks: 'stalls', specimen: { none: 'choreography' } },
  S127: { what: 'a storm of reconnections meets maxclients', lab: ['stalls', 'the renewal finds no room: the lock is lost', 'room for all clients at once'], locks: 'stalls', specimen: { none: 'no fault' } },
  S128: { what: 'a connection hangs half open', lab: ['stalls', 'a client waits for its renewal and believes that it holds: two holders', 'a renewal that is not answered in time counts as lost'], locks: 'stalls', specimen: 'the connection hangs, and the holder waits for it' },
  S129: { what: 'the primary dies between a grant and its WAIT; the client repeats only the WAIT, which counts although no server has the lock', locks: 'one connection', specimen: { none: 'not written' } },
  S130: { what: 'replication stalls, the primary alone confirms renewals, and then it dies', locks: 'copied renewals', specimen: { none: 'not written' } },
  S132: { what: "the holder's wall clock is set back, and its lease seems to last longer", locks: 'monotonic clock', specimen: { none: 'not written' } },
  S139: { what: 'a reader with a short and a long hold releases the short one', lab: ['counts; on real servers `test/locks/kinds/own-holds-real.realtime.beside.test.ts`', 'the release ends the hold with the largest number: the long lease is gone, and a writer enters', 'each hold ends its own lease'], locks: 'own leases', specimen: { none: 'one process' } },
} as const satisfies Record<string, CatalogueEntry>;

/** The number of a failure. */
export type FailureId = keyof typeof table;

/** Every failure by its number. */
export const catalogue: Readonly<Record<FailureId, CatalogueEntry>> = table;

/** The numbers, in order. */
export const failureIds = Object.keys(table) as FailureId[];
