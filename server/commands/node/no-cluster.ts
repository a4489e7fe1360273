/** The refusal of a node that is not part of a cluster. */

/** The reply of a server without cluster support to every command about a cluster. */
export const NO_CLUSTER = 'ERR This instance has cluster support disabled';
