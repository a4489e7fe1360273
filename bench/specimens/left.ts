/** The failures of the catalogue that have no specimen, and why. */

/** Numbers as the catalogue of failures has them, with the reason that they share. */
export const left: readonly (readonly [numbers: string, why: string])[] = [
  [
    'S6, S26, S27, S66, S81, S83, S86 to S89',
    'renewals: `npm run explore:mutants` plants these in scripts and in a sample library',
  ],
  [
    'S8, S14, S15, S48, S79, S113, S121, S123, S124',
    'what a command answers, at which millisecond: differential tests compare it with real servers',
  ],
  [
    'S12, S13, S73, S74, S111, S112, S114 to S116, S118, S120',
    'the harm is done in a database, cache or job beside the lock, which an exploration does not have',
  ],
  [
    'S17, S23, S28, S29, S36, S39, S40, S52 to S55, S64, S65, S68, S122',
    'they cost a lease, or an attempt, and break no promise',
  ],
  [
    'S18, S19, S75, S76, S78, S80, S109, S110, S127',
    'eviction, FLUSHALL, buffers, herds and deadlocks are no faults of an exploration',
  ],
  [
    'S21, S32, S33, S37, S38, S41 to S47, S49 to S51, S57, S58, S126',
    'they need a promotion by name, a replica from an older disk, or a split that is not mended: the lab plays them one by one',
  ],
  [
    'S60 to S62, S67, S69b',
    'they need a lost vote and a second fault on another node: rare in random worlds, and played one by one',
  ],
  [
    'S72, S77, S84, S90 to S101, S104, S105, S107, S108, S119',
    'queues, latches, owners and watchdogs inside one process: `test/locks/` plays them, and `npm run campaign` all kinds',
  ],
];
