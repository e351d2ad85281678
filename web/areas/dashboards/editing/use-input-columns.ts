/** Columns that a transformation gets: those of the panel after the transformations before it */
import { useEffect, useState } from 'preact/hooks';
import { DashboardResults } from '../board.ts';
import type { Document, Panel } from '../calls.ts';

/** Returns a document with only the first transformations of a panel. */
const limitTransformations = (document: Document, panelId: string, count: number): Document => ({
  ...document,
  panels: document.panels.map((panel) =>
    panel.id === panelId
      ? {
          ...panel,
          visual: { kind: 'table' } as unknown as Panel['visual'],
          // A transformation without an effect makes the API return all results as tables.
          transformations: [
            ...panel.transformations.slice(0, count),
            { kind: 'organize' } as unknown as Panel['transformations'][number],
          ],
        }
      : panel,
  ),
});

/**
 * Returns the names of the columns, in order, while `isNeeded`. The results of the panel are queried again when its
 * queries, its formulas or the transformations before change.
 */
export const useInputColumns = (
  { board, document, panel, index }: InputColumnsSource,
  isNeeded: boolean,
): readonly string[] => {
  const [results] = useState(() => new DashboardResults());
  const { queries, formulas, transformations } = panel;
  const key = JSON.stringify([queries, formulas, transformations.slice(0, index)]);
  useEffect(() => {
    const query = board.query;
    if (!isNeeded || query === undefined || document === undefined) return undefined;
    results.setPanelVisible(panel.id, true);
    results.run({ ...query, draft: limitTransformations(document, panel.id, index) });
    return () => results.cancel();
  }, [isNeeded, key, panel.id, index]);
  const items = results.getPanel(panel.id).value.items;
  const tables = items.flatMap(({ table, tables: all }) => (all.length > 0 ? all : table === null ? [] : [table]));
  return [...new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => name)))];
};

export interface InputColumnsSource {
  readonly board: DashboardResults;
  /** Draft of the dashboard */
  readonly document: Document | undefined;
  readonly panel: Panel;
  /** Number of transformations before */
  readonly index: number;
}
