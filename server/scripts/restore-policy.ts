/** What FUNCTION RESTORE, and a dataset that is loaded, do about the libraries that are there. */
export type RestorePolicy = 'FLUSH' | 'APPEND' | 'REPLACE';
