/** The entry point `lostlock/router`. Import it before a client library, so that the library can run in a world. */
import { replaceNodeFunctions } from './node-functions/node-functions.ts';

replaceNodeFunctions();
