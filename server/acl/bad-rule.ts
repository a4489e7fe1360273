/** The error of a rule that ACL SETUSER cannot apply. */

/** A rule that cannot be applied. Its message has Redis' words. */
export class BadRule extends Error {}

/** The message for a rule that cannot be read. */
export const SYNTAX = 'Syntax error';
