/** Generates IDs for panels whose author did not choose one. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { DashboardFields, Panel } from './document.ts';

const generatedIdPattern = /^made-[0-9a-f]{12}$/;

/** Returns an ID that is recognizable as generated. */
export const newPanelId = (): string => `made-${randomBytes(6).toString('hex')}`;

const withId = (panel: Panel, id: string): Panel => ({ ...panel, id });

/**
 * Returns the later of two documents with stable IDs: a panel that differs only by a generated ID gets its former ID,
 * so that it does not appear as changed.
 */
export const withStableIds = (before: DashboardFields, after: DashboardFields): DashboardFields => {
  const idsAfter = new Set(after.panels.map(({ id }) => id));
  const removedPanels = before.panels.filter(({ id }) => !idsAfter.has(id));
  if (removedPanels.length === 0) return after;
  const idsBefore = new Set(before.panels.map(({ id }) => id));
  const previousIds = new Map<string, string>();
  for (const panel of after.panels) {
    if (idsBefore.has(panel.id)) continue;
    const removedIndex = removedPanels.findIndex(
      (removedPanel) =>
        (generatedIdPattern.test(removedPanel.id) || generatedIdPattern.test(panel.id)) &&
        isDeepStrictEqual(withId(removedPanel, panel.id), panel),
    );
    const [unchangedPanel] = removedIndex === -1 ? [] : removedPanels.splice(removedIndex, 1);
    if (unchangedPanel !== undefined) previousIds.set(panel.id, unchangedPanel.id);
  }
  if (previousIds.size === 0) return after;
  const toStableId = (id: string): string => previousIds.get(id) ?? id;
  return {
    ...after,
    panels: after.panels.map((panel) => withId(panel, toStableId(panel.id))),
    annotations: after.annotations.map((annotation) =>
      annotation.panels === null
        ? annotation
        : { ...annotation, panels: { ...annotation.panels, ids: annotation.panels.ids.map(toStableId) } },
    ),
  };
};
