/** The arguments and deprecations of SENTINEL's subcommands, in the notation of server/table/syntax.ts. */
import type { Since } from '../../server/dialects/since.ts';
import type { Syntax, SyntaxTable } from '../../server/table/syntax.ts';

/** Since this version, Valkey's names say primary. */
export const VALKEY: Since = { valkey: '8.0.0' };

/** The name of a primary, and further arguments. */
function named(rest = ''): Syntax {
  return { words: `master-name${rest}`, changes: [{ since: VALKEY, words: `primary-name${rest}` }] };
}

/** Valkey has a second name for the command, and this one is out of date. */
function renamed(syntax: Syntax, successor: string): Syntax {
  const words = syntax.words?.replace('master', 'primary');
  const change = { since: VALKEY, deprecated: `8.0.0 \`SENTINEL ${successor}\`` };
  return { ...syntax, changes: [{ ...change, ...(words !== undefined && { words }) }] };
}

const ASKED = 'ip port:int current-epoch:int runid';

export const sentinelSyntax: SyntaxTable = {
  ckquorum: named(),
  config: {
    words: 'set_or_get:(SET=set_param_value:{parameter value}... | GET=parameter...)',
    changes: [
      {
        since: '7.2.0',
        words: 'action:(SET=set:{parameter value}... | GET=parameter...)',
        complexity: 'O(N) with N the number of parameters',
        history: ['7.2.0 Takes several parameters.'],
      },
    ],
  },
  debug: {
    words: 'parameter_value:{parameter value}...',
    changes: [{ since: '7.2.0', words: '[data:{parameter value}...]' }],
  },
  failover: {
    words: 'master-name',
    changes: [
      { since: VALKEY, words: 'primary-name' },
      {
        since: { valkey: '9.0.0' },
        words: 'primary-name [coordinated:COORDINATED@valkey-9.0.0]',
        history: ['9.0.0 Takes COORDINATED.'],
      },
    ],
  },
  'get-master-addr-by-name': renamed({ words: 'master-name' }, 'GET-PRIMARY-ADDR-BY-NAME'),
  'get-primary-addr-by-name': 'primary-name',
  'info-cache': 'nodename...',
  'is-master-down-by-addr': renamed({ words: ASKED }, 'IS-PRIMARY-DOWN-BY-ADDR'),
  'is-primary-down-by-addr': ASKED,
  master: renamed({ words: 'master-name' }, 'PRIMARY'),
  masters: renamed({}, 'PRIMARIES'),
  monitor: 'name ip port:int quorum:int',
  primary: 'primary-name',
  remove: named(),
  replicas: named(),
  reset: 'pattern:pattern',
  sentinels: named(),
  set: {
    words: 'master-name option_value:{option value}...',
    changes: [
      { since: '7.2.0', words: 'master-name data:{option value}...' },
      { since: VALKEY, words: 'primary-name data:{option value}...' },
    ],
  },
  'simulate-failure': '[mode:(crash-after-election:token | crash-after-promotion:token | help:token)...]',
  slaves: { ...named(), deprecated: '5.0.0 `SENTINEL REPLICAS`' },
};
