/** What FUNCTION RESTORE, and the load of a dataset, do with existing libraries. */
export type RestorePolicy = 'FLUSH' | 'APPEND' | 'REPLACE';
