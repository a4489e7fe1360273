/** The entry point `lostlock/router`. Import it before a client library, so that the library can run in a world. */
import { layRoutes } from './routes/routes.ts';

layRoutes();
