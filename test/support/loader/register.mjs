/** Lets a test process load the compiled sources under the names of the sources. */
import { register } from 'node:module';

register('./hooks.mjs', import.meta.url);
