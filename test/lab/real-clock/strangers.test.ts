/** Which party a connection on the real clock belongs to: both of its ends decide. */
import { expect, test } from 'vitest';
import { type NetworkConnection, RealClockNetwork } from '../../../lab/real-clock/network.ts';

const wireTo = (from: string, port: number): NetworkConnection => ({
  ...{ from, to: `:${port}`, port, ended: false },
  reset: () => {},
  silence: () => {},
  tookUpTo: () => true,
  wasRead: () => {},
});

// Linux gives one local port to several connections when their destinations differ. No program can ask for that, so this test
// says which addresses the connections have.
test('connections from one local port to different nodes belong to those who dialled them, and a stranger is nobody', () => {
  const network = new RealClockNetwork();
  network.name(7003, 'redis-3', 17003); // Known by the port of its entrance.
  const [a, sentinel, other] = [wireTo('A', 7001), wireTo('sentinel-2', 7002), wireTo('B', 7003)];
  for (const wire of [a, sentinel, other]) network.add(wire, '127.0.0.1:40000');
  const at = (port: number): string | undefined =>
    network.connectionBetween('127.0.0.1:40000', `127.0.0.1:${port}`)?.from;
  expect([7001, 7002, 17003, 7003, 7004].map(at)).toEqual(['A', 'sentinel-2', 'B', undefined, undefined]);
  network.remove(sentinel, '127.0.0.1:40000');
  expect([7001, 7002, 17003].map(at)).toEqual(['A', undefined, 'B']);
});
