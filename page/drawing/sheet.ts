/** What a drawing is made of: a pen, a view of a run, colours and a scale. */
import type { Pen } from './pen.ts';
import type { Theme } from './theme.ts';
import { GUTTER, type RunView } from './view.ts';

/** What a drawing is made of. */
export interface Sheet {
  readonly pen: Pen;
  readonly scene: RunView;
  readonly theme: Theme;
  readonly width: number;
  /** Where texts are: left, top, right and bottom. Later texts avoid them. */
  readonly taken: (readonly [number, number, number, number])[];
  /** The horizontal place of a time. */
  readonly x: (time: number) => number;
}

/** A sheet for a scene of this width, in CSS pixels. */
export function sheetOf(pen: Pen, scene: RunView, theme: Theme, width: number): Sheet {
  const [from, to] = scene.window;
  const scale = (width - GUTTER) / (to - from);
  const x = (time: number): number => GUTTER + (scene.axis.place(time) - from) * scale;
  return { pen, scene, theme, width, x, taken: [] };
}
