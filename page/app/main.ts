/** The timeline page: reads the data in the file and shows its runs. */
import type { TimelineFile } from '../format.ts';
import { element } from './elements.ts';
import { Viewer } from './viewer.ts';

const data = JSON.parse(document.getElementById('data')?.textContent ?? '') as TimelineFile;
const root = document.getElementById('page') as HTMLElement;
if (data.format !== 'lostlock-timeline' || data.version !== 1 || data.runs.length === 0) {
  root.append(element('p', {}, 'This file has no timeline that this page can read (version 1).'));
} else new Viewer(root, data).open();
