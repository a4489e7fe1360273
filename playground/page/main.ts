/** The playground's page. */
import { Playground } from './playground.ts';

new Playground(document.getElementById('page') as HTMLElement).start();
