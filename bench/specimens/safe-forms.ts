/** The safe forms that `npm run explore:safe` plays: each once, with every promise that its specimens name. */
import type { ExploreOptions, FaultName } from '../../explore/index.ts';
import type { Client } from './forms.ts';
import { specimens } from './list.ts';

/** A safe form, and what it meets. */
export interface SafeForm extends Pick<ExploreOptions, 'topology' | 'promises'> {
  /** The specimens that it cures. */
  readonly number: string;
  readonly what: string;
  readonly faults: readonly FaultName[];
  readonly safe: Client;
}

/** Joins the specimens whose safe forms would play the same worlds. Worlds of a cluster take too long. */
function joined(): SafeForm[] {
  const forms: SafeForm[] = [];
  for (const { number, cure, faults, topology, promises = [], safe } of specimens) {
    if (topology?.cluster !== undefined) continue;
    const known = forms.findIndex(
      (form) => form.safe === safe && form.faults === faults && form.topology === topology,
    );
    const same = forms[known];
    if (same === undefined)
      forms.push({ number, what: cure, faults, safe, promises, ...(topology && { topology }) });
    else {
      const all = [...new Set([...(same.promises ?? []), ...promises])];
      forms[known] = { ...same, number: `${same.number} ${number}`, promises: all };
    }
  }
  return forms;
}

/** All of them. */
export const safeForms: readonly SafeForm[] = joined();
