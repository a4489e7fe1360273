/** Where the code of a server's thread is. The build replaces this file, because the code lies elsewhere in the package. */
import { join } from 'node:path';

export const workerFile = (): string => join(import.meta.dirname, 'worker.ts');
