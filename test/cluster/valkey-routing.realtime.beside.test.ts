/** How nodes of Valkey 9 answer requests about slots that move, and that nobody serves: ours, and the real ones. */
import { expect, test } from 'vitest';
import { testBeside } from '../support/beside/each.ts';
import { splitWords } from '../transcripts/transcript.ts';
import { anonymous, askNode, form, ourNode, realNode, type TestNode } from './nodes.ts';

/**
 * Requests to the first of three primaries, and how it answers. {f} is slot 3168, {b} 3300, both of the first; {c} of the second.
 * The last one spoils valkey-server 9.1.2: it refuses all calls of scripts from then on.
 */
const CONVERSATION = `
SET {f}0 v
+OK
CLUSTER SETSLOT 3168 MIGRATING ID1
+OK
MULTI
+OK
MSET {f}1 1 {f}2 2
+QUEUED
EXEC
-ASK 3168 127.0.0.1:PORT1
MULTI
+OK
MGET {f}0 {f}1
+QUEUED
EXEC
-TRYAGAIN Multiple keys request during rehashing of slot
MULTI
+OK
GET {c}
-MOVED 7365 127.0.0.1:PORT1
EXEC
-EXECABORT Transaction discarded because of previous errors.
WATCH {f}1
-ASK 3168 127.0.0.1:PORT1
COPY {f}2 {f}1
-ASK 3168 127.0.0.1:PORT1
COPY {f}2 {f}1 DB x
-TRYAGAIN Multiple keys request during rehashing of slot
COPY {f}2 {f}2 DB 0
-ASK 3168 127.0.0.1:PORT1
MULTI
+OK
COPY {f}2 {f}2 DB 1
-TRYAGAIN Multiple keys request during rehashing of slot
DISCARD
+OK
MOVE {f}0 1
-TRYAGAIN Multiple keys request during rehashing of slot
CLUSTER SETSLOT 3168 STABLE
+OK
COPY {f}2 {f}1 DB x
-ERR value is not an integer or out of range
CLUSTER SETSLOT 3168 MIGRATING ID0
-ERR Target node is myself
CLUSTER SETSLOT 7365 IMPORTING ID0
-ERR Target node is myself
EVAL "return redis.call('GET','{c}')" 0
-ERR Attempted to access a non local key in a cluster node script: on @user_script:1.
EVAL_RO "return redis.call('SET','{c}','v')" 0
-ERR Attempted to access a non local key in a cluster node script: on @user_script:1.
EVAL_RO "return redis.call('SET','{b}','v')" 0
-ERR Write commands are not allowed from read-only scripts. script: on @user_script:1.
CLUSTER DELSLOTS 3300
+OK
MGET {b} {f}1
-CROSSSLOT Keys in request don't hash to the same slot
GET {b}
-CLUSTERDOWN Hash slot not served
MSETEX 2 {b} 1 {c} 2
:1
EVAL "return redis.call('GET','{b}')" 0
-ERR Attempted to access a non local key in a cluster node script: on @user_script:1.
EVAL "return redis.call('GET','{f}1')" 0
-ERR Can not execute a command 'get' while the cluster is down script: on @user_script:1.
CONFIG SET cluster-allow-reads-when-down yes
+OK
EVAL "return redis.call('xgroup','create','{f}1','g','0')" 0
-ERR Can not execute a write command 'xgroup|create' while the cluster is down and readonly script: on @user_script:1.
EVAL "return redis.call('MGET','{b}','{f}1')" 0
-ERR Attempted to access a non local key in a cluster node script: on @user_script:1.
`;

const LINES = CONVERSATION.trim().split('\n');
const REQUESTS = LINES.filter((_, i) => i % 2 === 0);
const REPLIES = LINES.filter((_, i) => i % 2 === 1);

/** The answers, and the names of the figures of CLUSTER INFO. */
async function answersOf(make: () => Promise<TestNode>): Promise<string[]> {
  const nodes = [await make(), await make(), await make()];
  const [first] = nodes as [TestNode, TestNode, TestNode];
  try {
    await form(nodes);
    const answers: string[] = [];
    for (const line of REQUESTS) {
      const words = splitWords(line).map((word) => nodes[Number(/^ID(\d)$/.exec(word)?.[1])]?.id ?? word);
      const reply = anonymous(nodes, await askNode(first.admin, ...words));
      answers.push(reply.replace(/script: [0-9a-f]{40}, /, 'script: '));
    }
    const figures = [...(await askNode(first.admin, 'CLUSTER', 'INFO')).matchAll(/(cluster_\w+):(\w+)/g)];
    const names = figures.map(([, name = '', value]) =>
      /stats|epoch/.test(name) ? name : `${name}:${value}`,
    );
    return [...answers, ...names.filter((name) => !/messages/.test(name))];
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

const FIGURES = [
  ...[
    'cluster_state:fail',
    'cluster_slots_assigned:16383',
    'cluster_slots_ok:16383',
    'cluster_slots_pfail:0',
  ],
  ...[
    'cluster_slots_fail:0',
    'cluster_nodes_pfail:0',
    'cluster_nodes_fail:0',
    'cluster_voting_nodes_pfail:0',
  ],
  ...['cluster_voting_nodes_fail:0', 'cluster_known_nodes:3', 'cluster_size:3', 'cluster_current_epoch'],
  ...['cluster_my_epoch', 'cluster_stats_bytes_sent', 'cluster_stats_bytes_received'],
  ...['cluster_stats_pubsub_bytes_sent', 'cluster_stats_pubsub_bytes_received'],
  ...['cluster_stats_module_bytes_sent', 'cluster_stats_module_bytes_received'],
  'cluster_links_buffer_limit_exceeded:0',
];

test('ours answers as valkey-server 9.1.2 about slots that move and slots that nobody serves', async () => {
  expect(await answersOf(() => ourNode('valkey-9'))).toEqual([...REPLIES, ...FIGURES]);
});

testBeside(['valkey-9'], 'the server of %s answers so', async (_dialect, program) => {
  expect(await answersOf(() => realNode(program))).toEqual([...REPLIES, ...FIGURES]);
});
