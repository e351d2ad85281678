/** Content of a snapshot: frozen results and their visualization, without queries, IDs, links and names. */
import { z } from 'zod';
import { Series, TableColumn } from '../../../queries/result.ts';
import { listReferencedNames } from '../../../queries/variables/references.ts';
import { FieldSettings } from '../../../schemas/dashboards/fields.ts';
import { Visual } from '../../../schemas/dashboards/visuals.ts';
import type { DashboardFields, Panel } from '../document.ts';
import { renameFormerVisual } from '../former-names.ts';
import type { DashboardResponse, PanelItem } from '../query/dashboard-query.ts';
import { collectVisibleTexts, redactFieldSettings, redactVisual } from './settings.ts';

const FrozenTable = z.strictObject({ columns: z.array(TableColumn), rows: z.array(z.array(z.unknown())) });
const FrozenResult = z.strictObject({
  form: z.enum(['series', 'table']),
  series: z.array(Series),
  ...FrozenTable.shape,
  stepMs: z.int().nullable(),
  isComplete: z.boolean(),
});
const frozenResults = z.record(z.string(), FrozenResult);

const FrozenPanel = z.strictObject({
  title: z.string(),
  section: z.int().nullable().describe('Index in `sections`'),
  place: z.strictObject({ x: z.int(), y: z.int(), width: z.int(), height: z.int() }),
  visual: z.union([Visual, z.strictObject({ kind: z.string() })]),
  fields: FieldSettings,
  repeats: z.int().nullable().describe('Index of the copy, for a repeated panel'),
  results: frozenResults,
  earlier: frozenResults,
  tables: z.array(FrozenTable).describe('Tables from the transformations'),
  hasFailed: z.boolean(),
});

export const SnapshotContent = z.strictObject({
  name: z.string(),
  from: z.string(),
  to: z.string(),
  createdAt: z.string(),
  sections: z.array(z.strictObject({ title: z.string(), kind: z.enum(['row', 'tab']), within: z.int().nullable() })),
  panels: z.array(FrozenPanel),
});
export type SnapshotContent = z.output<typeof SnapshotContent>;

interface LegacyContent extends Omit<SnapshotContent, 'createdAt'> {
  readonly madeAt?: string;
}

/** Reads stored content, also with the field names of former versions. */
export const parseSnapshotContent = (text: string): SnapshotContent => {
  const { madeAt, ...content } = JSON.parse(text) as LegacyContent & SnapshotContent;
  if (madeAt === undefined) return content;
  const panels = content.panels.map((panel) => ({
    ...panel,
    visual: renameFormerVisual(panel.visual) as typeof panel.visual,
  }));
  return { ...content, createdAt: madeAt, panels };
};

/** Returns a title; empty if it contains variables, because it would reveal their values. */
const redactTitle = (title: string): string => (listReferencedNames(title).length === 0 ? title : '');

const freezeResults = (results: PanelItem['results']): z.output<typeof frozenResults> =>
  Object.fromEntries(
    Object.entries(results).map(([name, { form, series, columns, rows, stepMs, partial }]) => [
      name,
      { form, series, columns, rows, stepMs, isComplete: partial.length === 0 },
    ]),
  );

const freezeTables = ({ table, tables }: PanelItem): z.output<typeof FrozenTable>[] => {
  const sourceTables = tables.length > 0 ? tables : table === null ? [] : [table];
  return sourceTables.map(({ columns, rows }) => ({
    columns: columns.map(({ name, type, unit }) => ({ name, type, unit })),
    rows,
  }));
};

const freezePanel = (
  panel: Panel,
  item: PanelItem,
  repeats: number | null,
  sections: DashboardFields['sections'],
): z.output<typeof FrozenPanel> => {
  const { x, y, width, height, section } = panel.place;
  const visibleTexts = collectVisibleTexts(item);
  const sectionIndex = sections.findIndex(({ id }) => id === section);
  return {
    title: redactTitle(panel.title),
    section: sectionIndex === -1 ? null : sectionIndex,
    place: { x, y, width, height },
    visual: redactVisual(panel.visual, visibleTexts),
    fields: redactFieldSettings(panel.fields, visibleTexts),
    repeats,
    results: freezeResults(item.results),
    earlier: freezeResults(item.earlier),
    tables: freezeTables(item),
    hasFailed: item.error !== null,
  };
};

/** Builds the content from a response with stripped results. */
export const createSnapshotContent = (
  { name, createdAt: madeAt }: { readonly name: string; readonly createdAt: string },
  { panels, sections }: DashboardFields,
  { from, to, items }: DashboardResponse,
): SnapshotContent => {
  const copyCounts = new Map<string, number>();
  return {
    name,
    from,
    to,
    createdAt: madeAt,
    sections: sections.map(({ title, kind, within }) => {
      const parentIndex = sections.findIndex(({ id }) => id === within);
      return { title: redactTitle(title), kind, within: parentIndex === -1 ? null : parentIndex };
    }),
    panels: items.flatMap((item) => {
      const panel = panels.find(({ id }) => id === item.panelId);
      if (panel === undefined) return [];
      const copyIndex = copyCounts.get(panel.id) ?? 0;
      copyCounts.set(panel.id, copyIndex + 1);
      return [freezePanel(panel, item, item.repeat === null ? null : copyIndex, sections)];
    }),
  };
};
