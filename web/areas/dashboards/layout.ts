/** Layout of a dashboard: panels in sections and repeated sections, each panel repeated by value */

import type { DashboardHead } from './board.ts';
import type { Document, Panel, Section } from './calls.ts';
import { gridColumns, type Rectangle } from './rearranged.ts';
import { allValues } from './variable-values.ts';

export type RepeatValues = Readonly<Record<string, string>>;

/** A panel at its position; `repeat` contains the values of the repetition */
export interface Cell extends Rectangle {
  readonly key: string;
  readonly panel: Panel;
  readonly repeat: RepeatValues;
}

/** A displayed section with its cells */
export interface SectionLayout {
  readonly key: string;
  readonly section: Section | undefined;
  readonly repeat: RepeatValues;
  readonly cells: readonly Cell[];
  readonly parts: readonly SectionLayout[];
}

const variableValues = (head: DashboardHead | undefined, name: string): readonly string[] => {
  const found = head?.variables.find((variable) => variable.name === name);
  if (found === undefined) return [];
  return found.selected[0] === allValues ? found.options.map(({ value }) => value) : found.selected;
};

type Repeat = Panel['repeat'] | Section['repeat'];

const expandRepeat = (
  chosen: RepeatValues,
  repeat: Repeat,
  head: DashboardHead | undefined,
): readonly RepeatValues[] => {
  if (repeat === null) return [chosen];
  const values = variableValues(head, repeat.variable).slice(0, repeat.max);
  return values.length === 0 ? [chosen] : values.map((value) => ({ ...chosen, [repeat.variable]: value }));
};

const repeatKey = (id: string, repeat: RepeatValues): string => [id, ...Object.values(repeat)].join(' ');

/** Positions the cells of panels; additional rows of a repeated panel push down the panels below it. */
const layOutCells = (
  panels: readonly Panel[],
  chosen: RepeatValues,
  head: DashboardHead | undefined,
): readonly Cell[] => {
  const cells: Cell[] = [];
  const sorted = [...panels].sort((one, other) => one.place.y - other.place.y || one.place.x - other.place.x);
  let offsetY = 0;
  let [lastY, extraRowsHeight] = [0, 0];
  for (const panel of sorted) {
    const { x, y, width, height } = panel.place;
    if (y > lastY) {
      offsetY += extraRowsHeight;
      [lastY, extraRowsHeight] = [y, 0];
    }
    const times = expandRepeat(chosen, panel.repeat, head);
    const isAcross = panel.repeat?.direction === 'across' && times.length > 1;
    const perRow = isAcross ? Math.min(panel.repeat?.perRow ?? 4, times.length) : 1;
    const cellWidth = isAcross ? Math.floor(gridColumns / perRow) : width;
    times.forEach((repeat, at) => {
      const row = Math.floor(at / perRow);
      const place = {
        x: isAcross ? (at % perRow) * cellWidth : x,
        y: y + offsetY + row * height,
        width: cellWidth,
        height,
      };
      cells.push({ key: repeatKey(panel.id, repeat), panel, repeat, ...place });
    });
    extraRowsHeight = Math.max(extraRowsHeight, (Math.ceil(times.length / perRow) - 1) * height);
  }
  return cells;
};

/** Returns the layout of a dashboard: the panels without a section, and its sections with their panels. */
export const layOutSections = (
  { panels, sections }: Pick<Document, 'panels' | 'sections'>,
  head: DashboardHead | undefined,
  within: string | null = null,
  chosen: RepeatValues = {},
): SectionLayout => {
  const inner = sections.filter((section) => section.within === within);
  return {
    key: repeatKey(within ?? '', chosen),
    section: sections.find(({ id }) => id === within),
    repeat: chosen,
    cells: layOutCells(
      panels.filter(({ place }) => place.section === within),
      chosen,
      head,
    ),
    parts: inner.flatMap((section) =>
      expandRepeat(chosen, section.repeat, head).map((each) =>
        layOutSections({ panels, sections }, head, section.id, each),
      ),
    ),
  };
};
