/** The entry point `lostlock/router`: import it before any client library, and that library can live in a world. */
import { layRoutes } from './routes/routes.ts';

layRoutes();
