/** Changes of one panel of a dashboard. Everything else stays as it is. */
import { z } from 'zod';
import { StableId } from '../../schemas/dashboards/layout.ts';
import { type DashboardFields, Panel } from './document.ts';
import { newPanelId } from './ids.ts';

/** A panel as it is added, or written in place of another. */
export const PanelBody = z.strictObject({
  ...Panel.shape,
  id: StableId.optional().describe('Of a new panel; without it one is made'),
  place: Panel.shape.place.unwrap().optional().describe('Without it where it is, and a new one below all others'),
});
export type PanelBody = z.output<typeof PanelBody>;

const below = (panels: readonly Panel[]): Panel['place'] => {
  const ends = panels.filter(({ place }) => place.section === null).map(({ place }) => place.y + place.height);
  return { section: null, x: 0, y: Math.max(0, ...ends), width: 12, height: 8 };
};

/** The dashboard with a panel more, and the panel's id. */
export const withPanel = (
  document: DashboardFields,
  { id = newPanelId(), place = below(document.panels), ...panel }: PanelBody,
): { readonly document: DashboardFields; readonly id: string } => ({
  document: { ...document, panels: [...document.panels, { ...panel, id, place }] },
  id,
});

/** The dashboard with a panel in place of the one of this id; undefined where there is none. */
export const replacingPanel = (
  document: DashboardFields,
  id: string,
  { place, ...panel }: PanelBody,
): DashboardFields | undefined => {
  const at = document.panels.findIndex((one) => one.id === id);
  const former = document.panels[at];
  if (former === undefined) return undefined;
  return { ...document, panels: document.panels.with(at, { ...panel, id, place: place ?? former.place }) };
};

/** The dashboard without a panel; undefined where there is none of this id. */
export const withoutPanel = (document: DashboardFields, id: string): DashboardFields | undefined => {
  const panels = document.panels.filter((one) => one.id !== id);
  return panels.length === document.panels.length ? undefined : { ...document, panels };
};
