/** The arguments of LAB, the lab's commands over the wire (`lab/wire/commands.ts`). */
import type { SyntaxTable } from '../../table/syntax.ts';

const KEEP = '[kept:(KEEP=data:(NOTHING | SYNCED | EVERYTHING))]';

export const labSyntax: SyntaxTable = {
  'lab|hold': 'from to',
  'lab|release': 'from to [amount:(MESSAGES=messages:int | BYTES=bytes:int)]',
  'lab|partition': 'one other',
  'lab|heal': 'one other',
  'lab|reset': 'one other',
  'lab|delay': 'from to milliseconds:int',
  'lab|drop': 'from to [messages:int]',
  'lab|crash': `node ${KEEP} [SILENT]`,
  'lab|restart': 'node',
  'lab|pause': 'node',
  'lab|resume': 'node',
  'lab|promote': 'node',
  'lab|demote': 'node',
  'lab|failover': `[TO=node] [AFTER=milliseconds:int] [CRASH] ${KEEP} [SILENT] [NODEMOTE]`,
  'lab|sync': '[milliseconds:int]',
  'lab|clock': 'node [change:(JUMP=milliseconds:int | DRIFT=rate:double)]',
  'lab|actor': 'name',
};
