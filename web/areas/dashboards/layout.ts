/** Layout of a dashboard: panels in sections and repeated sections, each panel repeated by value */

import type { Head } from './board.ts';
import type { Document, Panel, Section } from './calls.ts';
import { gridColumns, type Rectangle } from './rearranged.ts';
import { allValues } from './variable-values.ts';

export type Chosen = Readonly<Record<string, string>>;

/** A panel at its position; `repeat` contains the values of the repetition */
export interface Cell extends Rectangle {
  readonly key: string;
  readonly panel: Panel;
  readonly repeat: Chosen;
}

/** A displayed section with its cells */
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
  const values = valuesOf(head, repeat.variable).slice(0, repeat.max);
  return values.length === 0 ? [chosen] : values.map((value) => ({ ...chosen, [repeat.variable]: value }));
};

const keyOf = (id: string, repeat: Chosen): string => [id, ...Object.values(repeat)].join(' ');

/** Repeated cells of a panel below its first row push down the panels below. */
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

/** Returns all parts of a dashboard, first the panels without a section. */
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
