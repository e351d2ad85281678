/** Where the panels of a dashboard stand: in sections and their copies, each panel once for each value that repeats it. */

import type { Head } from './board.ts';
import type { Document, Panel, Section } from './calls.ts';
import { allValues } from './variable-values.ts';

/** Columns of the grid. */
export const gridColumns = 24;

export type Chosen = Readonly<Record<string, string>>;

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A panel at its place; `repeat` says for which values. */
export interface Cell extends Rectangle {
  readonly key: string;
  readonly panel: Panel;
  readonly repeat: Chosen;
}

/** A section as it is shown, with what stands in it. */
export interface Part {
  readonly key: string;
  readonly section: Section | undefined;
  readonly repeat: Chosen;
  readonly cells: readonly Cell[];
  readonly parts: readonly Part[];
}

const valuesOf = (head: Head | undefined, name: string): readonly string[] => {
  const found = head?.variables.find((variable) => variable.name === name);
  if (found === undefined) return [];
  return found.selected[0] === allValues ? found.options.map(({ value }) => value) : found.selected;
};

type Repeat = Panel['repeat'] | Section['repeat'];

const timesOf = (chosen: Chosen, repeat: Repeat, head: Head | undefined): readonly Chosen[] => {
  if (repeat === null) return [chosen];
  const values = valuesOf(head, repeat.variable).slice(0, repeat.most);
  return values.length === 0 ? [chosen] : values.map((value) => ({ ...chosen, [repeat.variable]: value }));
};

const keyOf = (id: string, repeat: Chosen): string => [id, ...Object.values(repeat)].join(' ');

/** A panel's cells below its first row push down what stands below it. */
const cellsOf = (panels: readonly Panel[], chosen: Chosen, head: Head | undefined): readonly Cell[] => {
  const cells: Cell[] = [];
  const sorted = [...panels].sort((one, other) => one.place.y - other.place.y || one.place.x - other.place.x);
  let pushed = 0;
  let [lastY, toPush] = [0, 0];
  for (const panel of sorted) {
    const { x, y, width, height } = panel.place;
    if (y > lastY) {
      pushed += toPush;
      [lastY, toPush] = [y, 0];
    }
    const times = timesOf(chosen, panel.repeat, head);
    const isAcross = panel.repeat?.direction === 'across' && times.length > 1;
    const perRow = isAcross ? Math.min(panel.repeat?.perRow ?? 4, times.length) : 1;
    const each = isAcross ? Math.floor(gridColumns / perRow) : width;
    times.forEach((repeat, at) => {
      const row = Math.floor(at / perRow);
      const place = { x: isAcross ? (at % perRow) * each : x, y: y + pushed + row * height, width: each, height };
      cells.push({ key: keyOf(panel.id, repeat), panel, repeat, ...place });
    });
    toPush = Math.max(toPush, (Math.ceil(times.length / perRow) - 1) * height);
  }
  return cells;
};

/** All parts of a dashboard: first what is in no section. */
export const partsOf = (
  { panels, sections }: Pick<Document, 'panels' | 'sections'>,
  head: Head | undefined,
  within: string | null = null,
  chosen: Chosen = {},
): Part => {
  const inner = sections.filter((section) => section.within === within);
  return {
    key: keyOf(within ?? '', chosen),
    section: sections.find(({ id }) => id === within),
    repeat: chosen,
    cells: cellsOf(
      panels.filter(({ place }) => place.section === within),
      chosen,
      head,
    ),
    parts: inner.flatMap((section) =>
      timesOf(chosen, section.repeat, head).map((each) => partsOf({ panels, sections }, head, section.id, each)),
    ),
  };
};

const overlap = (one: Rectangle, other: Rectangle): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

/** Places by id after one of them moved: it stays, what it covers goes down, and everything then goes up as far as it can. */
export const rearranged = (
  places: ReadonlyMap<string, Rectangle>,
  moved: string,
  to: Rectangle,
): ReadonlyMap<string, Rectangle> => {
  const width = Math.max(1, Math.min(gridColumns, to.width));
  const x = Math.max(0, Math.min(gridColumns - width, to.x));
  const wanted = { x, width, y: Math.max(0, to.y), height: Math.max(2, to.height) };
  const others = [...places]
    .filter(([id]) => id !== moved)
    .sort(([, one], [, other]) => one.y - other.y || one.x - other.x);
  const placed: [string, Rectangle][] = [[moved, wanted]];
  const fits = (place: Rectangle): boolean => placed.every(([, other]) => !overlap(place, other));
  for (const [id, place] of others) {
    let y = place.y;
    while (!fits({ ...place, y })) y++;
    placed.push([id, { ...place, y }]);
  }
  return upwards(placed);
};

/** Each as high as what stands above it allows. */
const upwards = (places: readonly (readonly [string, Rectangle])[]): ReadonlyMap<string, Rectangle> => {
  const done: [string, Rectangle][] = [];
  for (const [id, place] of [...places].sort(([, one], [, other]) => one.y - other.y || one.x - other.x)) {
    let { y } = place;
    while (y > 0 && done.every(([, other]) => !overlap({ ...place, y: y - 1 }, other))) y--;
    done.push([id, { ...place, y }]);
  }
  return new Map(done);
};
