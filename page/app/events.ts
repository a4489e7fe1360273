/** The events of a run that the drawing shows, in the order of time. With "expert", Next goes through them; the search looks in them. */
import type { RunView, Selection } from '../drawing/view.ts';

export function eventsOf(scene: RunView): Selection[] {
  const { run } = scene;
  const messages = run.messages.flatMap((_, index): Selection[] =>
    scene.shows(index) ? [{ type: 'message', index }] : [],
  );
  // What the drawing does not show is no step.
  const marks = run.marks.flatMap((_, index): Selection[] =>
    scene.showsMark(index) ? [{ type: 'mark', index }] : [],
  );
  const overlaps = run.overlaps.flatMap(({ key }, index): Selection[] =>
    scene.showsKey(key) ? [{ type: 'overlap', index }] : [],
  );
  const timed = [...messages, ...marks, ...overlaps].map((each) => ({ each, at: scene.timesOf(each)[0] }));
  return timed.sort((a, b) => a.at - b.at).map(({ each }) => each);
}
