/** The promise that clients enter in the order in which they asked for the lock. */
import type { LockAccount } from '../../lab/account/account.ts';
import type { History } from '../history.ts';
import type { Visit } from '../visit.ts';
import type { LockPromise } from './promise.ts';

/** A visit, the lock that it was granted, and when the server first heard that the client asks for it, in milliseconds. */
interface AskedVisit {
  readonly visit: Visit;
  readonly lock: string;
  readonly asked: number;
}

export const fair: LockPromise = {
  sentence:
    'clients enter in the order in which their first requests for the lock reached the server, as long as no fault strikes the one that is overtaken, or a node. Few locks promise it',
  nothing: 'if nobody waits for a lock that the lab recognizes',
  hasCase: (_, { account }) =>
    account === undefined || account().refusals.length + account().waiters.length > 0,
  broken: 'A client was overtaken',
  onRequest: true,
  *ofHistory(history, _writes, account) {
    const all = askedVisits(history, account());
    for (const late of all) {
      for (const early of all) {
        if (early.visit.from >= late.visit.from || early.asked <= late.asked) continue;
        if (early.lock !== late.lock || early.visit.client === late.visit.client) continue;
        if (early.visit.shared || late.visit.shared || isStruck(history, late.visit.client, early.visit.from))
          continue;
        const [first, second] = [early.visit, late.visit];
        const waited = Math.round(first.from - late.asked);
        const what = `${first.client} entered ${first.resource} before ${second.client}, which had asked for ${late.lock} first, ${waited} ms before`;
        yield { at: first.from, what, visits: [first.id, second.id] };
        return;
      }
    }
  },
};

function askedVisits({ visits }: History, { tenures, refusals, waiters }: LockAccount): AskedVisit[] {
  return visits.flatMap((visit): AskedVisit[] => {
    const { client, askedAfter, from } = visit;
    const isOwn = (each: { readonly client: string }, at: number): boolean =>
      each.client === client && at >= askedAfter * 1000 && at <= from * 1000;
    const grant = tenures.findLast((tenure) => isOwn(tenure, tenure.from));
    if (grant === undefined) return [];
    const { lock } = grant;
    const asked = Math.min(
      grant.from,
      ...refusals.filter((each) => each.lock === lock && isOwn(each, each.at)).map(({ at }) => at),
      ...waiters.filter((each) => each.lock === lock && isOwn(each, each.from)).map((each) => each.from),
    );
    return [{ visit, lock, asked: asked / 1000 }];
  });
}

/** True when a fault has struck the client or a node by then: it may have lost its place. */
function isStruck({ faults, lives }: History, client: string, at: number): boolean {
  const others = new Set(lives.flatMap((life) => (life.client === client ? [] : [life.client])));
  return faults.some(({ on, at: struck }) => struck <= at && !others.has(on));
}
