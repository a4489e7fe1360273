/** Lets a process load ioredis 5, which most projects have, wherever the sources and tests import ioredis. */
import { register } from 'node:module';

register('./ioredis5-hooks.mjs', import.meta.url);
