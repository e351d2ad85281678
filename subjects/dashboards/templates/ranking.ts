/** The order of the gallery: what would show most comes first, then what this organization uses, then what its people have marked. */
import type { PanelFit } from './fit.ts';
import type { Template } from './templates.ts';

/** How a template stands in an organization. */
export interface TemplateStatus {
  readonly template: Template;
  /** undefined: what has landed cannot be read now. */
  readonly panels: readonly PanelFit[] | undefined;
  /** Dashboards that were made of it. */
  readonly dashboards: number;
  readonly favourites: number;
}

/** Panels that would show something. */
export const filledOf = ({ panels }: Pick<TemplateStatus, 'panels'>): number | undefined =>
  panels?.filter(({ missing }) => missing.length === 0).length;

/** The share of the panels that would show something, 0 to 1. */
export const shareOf = (template: Pick<TemplateStatus, 'panels'>): number | undefined => {
  const filled = filledOf(template);
  return filled === undefined ? undefined : filled / Math.max(1, template.panels?.length ?? 0);
};

export const ranked = (templates: readonly TemplateStatus[]): TemplateStatus[] =>
  templates.toSorted(
    (one, other) =>
      (shareOf(other) ?? 0) - (shareOf(one) ?? 0) ||
      other.dashboards - one.dashboards ||
      other.favourites - one.favourites ||
      one.template.document.name.localeCompare(other.template.document.name, 'en'),
  );
