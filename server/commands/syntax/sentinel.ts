/** The arguments and deprecations of SENTINEL's subcommands, in the notation of server/table/syntax.ts. */
import type { SyntaxTable } from '../../table/syntax.ts';

const ASKED = 'ip port:int current-epoch:int runid';

export const sentinelSyntax: SyntaxTable = {
  'sentinel|ckquorum': 'master-name',
  'sentinel|config': {
    words: 'action:(SET=set:{parameter value} | GET=parameter)',
    changes: [
      {
        since: '7.2.0',
        words: 'action:(SET=set:{parameter value}... | GET=parameter...)',
        history: ['7.2.0 Takes several parameters.'],
      },
    ],
  },
  'sentinel|debug': '[data:{parameter value}...]',
  'sentinel|failover': 'master-name',
  'sentinel|get-master-addr-by-name': 'master-name',
  'sentinel|get-primary-addr-by-name': 'primary-name',
  'sentinel|info-cache': 'nodename...',
  'sentinel|is-master-down-by-addr': ASKED,
  'sentinel|is-primary-down-by-addr': ASKED,
  'sentinel|master': 'master-name',
  'sentinel|primary': 'primary-name',
  'sentinel|monitor': 'name ip port:int quorum:int',
  'sentinel|remove': 'master-name',
  'sentinel|replicas': 'master-name',
  'sentinel|reset': 'pattern:pattern',
  'sentinel|sentinels': 'master-name',
  'sentinel|set': 'master-name data:{option value}...',
  'sentinel|simulate-failure':
    "[mode:(crash-after-election:'crash-after-election' | crash-after-promotion:'crash-after-promotion' | help:'help')...]",
  'sentinel|slaves': { words: 'master-name', deprecated: '5.0.0 `SENTINEL REPLICAS`' },
};
