/** lostlock's public face: start a Redis-protocol server inside this process. */
export { type LostlockServer, type StartOptions, startServer } from './embed/start.ts';
