/** Layout of a dashboard: panels in sections and repeated sections, each panel repeated by value */

import type { DashboardContext } from './board.ts';
import type { Document, Panel, Section } from './calls.ts';
import { gridColumns, type Rectangle } from './rearrange.ts';
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
  readonly sections: readonly SectionLayout[];
}

const getSelectedValues = (head: DashboardContext | undefined, name: string): readonly string[] => {
  const variableResult = head?.variables.find((variable) => variable.name === name);
  if (variableResult === undefined) return [];
  return variableResult.selected[0] === allValues
    ? variableResult.options.map(({ value }) => value)
    : variableResult.selected;
};

type Repeat = Panel['repeat'] | Section['repeat'];

const expandRepeat = (
  repeatValues: RepeatValues,
  repeat: Repeat,
  head: DashboardContext | undefined,
): readonly RepeatValues[] => {
  if (repeat === null) return [repeatValues];
  const values = getSelectedValues(head, repeat.variable).slice(0, repeat.max);
  return values.length === 0 ? [repeatValues] : values.map((value) => ({ ...repeatValues, [repeat.variable]: value }));
};

const buildRepeatKey = (id: string, repeat: RepeatValues): string => [id, ...Object.values(repeat)].join(' ');

/** Positions the cells of panels; additional rows of a repeated panel push down the panels below it. */
const layOutCells = (
  panels: readonly Panel[],
  repeatValues: RepeatValues,
  head: DashboardContext | undefined,
): readonly Cell[] => {
  const cells: Cell[] = [];
  const sortedPanels = [...panels].sort((left, right) => left.place.y - right.place.y || left.place.x - right.place.x);
  let offsetY = 0;
  let [lastY, extraRowsHeight] = [0, 0];
  for (const panel of sortedPanels) {
    const { x, y, width, height } = panel.place;
    if (y > lastY) {
      offsetY += extraRowsHeight;
      [lastY, extraRowsHeight] = [y, 0];
    }
    const repetitions = expandRepeat(repeatValues, panel.repeat, head);
    const isHorizontal = panel.repeat?.direction === 'across' && repetitions.length > 1;
    const cellsPerRow = isHorizontal ? Math.min(panel.repeat?.perRow ?? 4, repetitions.length) : 1;
    const cellWidth = isHorizontal ? Math.floor(gridColumns / cellsPerRow) : width;
    repetitions.forEach((repeat, index) => {
      const row = Math.floor(index / cellsPerRow);
      const rectangle = {
        x: isHorizontal ? (index % cellsPerRow) * cellWidth : x,
        y: y + offsetY + row * height,
        width: cellWidth,
        height,
      };
      cells.push({ key: buildRepeatKey(panel.id, repeat), panel, repeat, ...rectangle });
    });
    extraRowsHeight = Math.max(extraRowsHeight, (Math.ceil(repetitions.length / cellsPerRow) - 1) * height);
  }
  return cells;
};

/** Returns the layout of a dashboard: the panels without a section, and its sections with their panels. */
export const layOutSections = (
  { panels, sections }: Pick<Document, 'panels' | 'sections'>,
  head: DashboardContext | undefined,
  parentId: string | null = null,
  repeatValues: RepeatValues = {},
): SectionLayout => {
  const childSections = sections.filter((section) => section.within === parentId);
  return {
    key: buildRepeatKey(parentId ?? '', repeatValues),
    section: sections.find(({ id }) => id === parentId),
    repeat: repeatValues,
    cells: layOutCells(
      panels.filter(({ place }) => place.section === parentId),
      repeatValues,
      head,
    ),
    sections: childSections.flatMap((section) =>
      expandRepeat(repeatValues, section.repeat, head).map((sectionRepeatValues) =>
        layOutSections({ panels, sections }, head, section.id, sectionRepeatValues),
      ),
    ),
  };
};
