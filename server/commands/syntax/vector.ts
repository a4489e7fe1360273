/** The arguments of the commands on vector sets, in the notation of server/table/syntax.ts. */
import type { SyntaxTable } from '../../table/syntax.ts';

export const vectorSyntax: SyntaxTable = {
  VADD: {
    words:
      'key#0 [REDUCE=dim:int] vector:(FP32=blob | VALUES=values:{count:int value:double...}) element [CAS] [quantization:(NOQUANT | Q8 | BIN)] [EF=build-exploration-factor:int] [SETATTR=json] [M=links:int]',
    changes: [
      {
        since: '8.6.0',
        words:
          'key#0 [REDUCE=reduce:{dim:int}] format:(FP32 | VALUES) vector element [CAS] [quant_type:(NOQUANT | BIN | Q8)] [EF=build-exploration-factor:int] [SETATTR=attributes] [M=numlinks:int]',
      },
    ],
  },
  VCARD: 'key#0',
  VDIM: 'key#0',
  VEMB: 'key#0 element [RAW]',
  VGETATTR: 'key#0 element',
  VINFO: 'key#0',
  // It came with 8.0. Redis itself says 8.2.
  VISMEMBER: { words: 'key#0 element', introduced: '8.2.0' },
  VLINKS: 'key#0 element [WITHSCORES]',
  VRANDMEMBER: 'key#0 [count:int]',
  VRANGE: 'key#0 start end [count:int]',
  VREM: 'key#0 element',
  VSETATTR: 'key#0 element json',
  VSIM: {
    words:
      'key#0 vector:(ELE=element | FP32=blob | VALUES=values:{count:int value:double...}) [WITHSCORES] [WITHATTRIBS@8.2.0] [COUNT=count:int] [EPSILON=epsilon:double] [EF=search-exploration-factor:int] [FILTER=expression] [FILTER-EF=max-filtering-effort:int] [TRUTH] [NOTHREAD]',
    changes: [
      {
        since: '8.6.0',
        words:
          'key#0 format:(ELE | FP32 | VALUES) vector_or_element [WITHSCORES] [WITHATTRIBS] [COUNT=count:int] [EPSILON=max_distance:double] [EF=search-exploration-factor:int] [FILTER=expression] [FILTER-EF=max-filtering-effort:int] [TRUTH] [NOTHREAD]',
      },
    ],
  },
};
