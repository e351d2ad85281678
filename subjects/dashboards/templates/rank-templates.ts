/**
 * Order of the gallery: templates that would show most data first, then those in use by the organization, then
 * favorites of its users.
 */
import type { PanelFit } from './fit.ts';
import type { Template } from './templates.ts';

/** Status of a template in an organization. */
export interface TemplateStatus {
  readonly template: Template;
  /** Undefined if the available data cannot be read at the moment. */
  readonly panels: readonly PanelFit[] | undefined;
  /** Number of dashboards created from it. */
  readonly dashboards: number;
  readonly favourites: number;
}

/** Returns the number of panels that would show data. */
export const countFilledPanels = ({ panels }: Pick<TemplateStatus, 'panels'>): number | undefined =>
  panels?.filter(({ missing }) => missing.length === 0).length;

/** Returns the share of the panels that would show data, 0 to 1. */
export const computeFilledShare = (template: Pick<TemplateStatus, 'panels'>): number | undefined => {
  const filledPanels = countFilledPanels(template);
  return filledPanels === undefined ? undefined : filledPanels / Math.max(1, template.panels?.length ?? 0);
};

export const rankTemplates = (templates: readonly TemplateStatus[]): TemplateStatus[] =>
  templates.toSorted(
    (left, right) =>
      (computeFilledShare(right) ?? 0) - (computeFilledShare(left) ?? 0) ||
      right.dashboards - left.dashboards ||
      right.favourites - left.favourites ||
      left.template.document.name.localeCompare(right.template.document.name, 'en'),
  );
