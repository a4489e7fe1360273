/** What a drawing is made of: a pen, a view of a run, colours and a scale. */
import type { Pen } from './pen.ts';
import type { Theme } from './theme.ts';
import { gutterOf, LANE, type RunView } from './view.ts';

/** A rectangle that a text takes, in CSS pixels. */
export type Box = readonly [left: number, top: number, right: number, bottom: number];

/** What a drawing is made of. */
export interface Sheet {
  readonly pen: Pen;
  readonly scene: RunView;
  readonly theme: Theme;
  readonly width: number;
  /** How wide the names left of the lanes are. */
  readonly gutter: number;
  /** How large bars and letters are: 1, or less where lanes are low. */
  readonly unit: number;
  /** Where texts are. Later texts avoid them. */
  readonly taken: Box[];
  /** Texts that are drawn last, so that no line crosses them. */
  readonly late: (() => void)[];
  /** The horizontal place of a time. */
  readonly x: (time: number) => number;
}

/** A sheet for a scene of this width, in CSS pixels. */
export function sheetOf(pen: Pen, scene: RunView, theme: Theme, width: number): Sheet {
  const [from, to] = scene.window;
  const gutter = gutterOf(width);
  const scale = (width - gutter) / (to - from);
  const x = (time: number): number => gutter + (scene.axis.place(time) - from) * scale;
  const unit = Math.min(1, Math.max(0.55, scene.lane / (LANE - 10)));
  return { pen, scene, theme, width, gutter, unit, x, taken: [], late: [] };
}
