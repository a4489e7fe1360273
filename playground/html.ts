/** The HTML file of the playground. */
import { htmlDocument } from '../page/document.ts';

/** It loads its own script, style and worker, and nothing else. */
export function playgroundHtml(): string {
  return htmlDocument({
    title: 'Playground',
    description:
      'The lab of lostlock in a browser: choose a lock, strike with faults, and see which promise breaks.',
    policy: "script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'",
    head: ['<link rel="icon" href="data:,">', '<link rel="stylesheet" href="style.css">'],
    without: 'The playground runs a lab in your browser with JavaScript.',
    scripts: ['<script src="app.js"></script>'],
  });
}
