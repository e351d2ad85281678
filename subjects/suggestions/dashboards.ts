/** Suggests dashboard templates that cover much of the received telemetry and have no dashboard yet */
import { computeFilledShare, countFilledPanels, type TemplateStatus } from '../dashboards/templates/rank-templates.ts';
import type { Suggestion } from './suggestion.ts';

const minShare = 0.8;
const maxTemplates = 3;

/** Returns suggestions in the given order. */
export const suggestDashboards = (rankings: readonly TemplateStatus[]): Suggestion[] =>
  rankings
    .filter((ranking) => ranking.dashboards === 0 && (computeFilledShare(ranking) ?? 0) >= minShare)
    .slice(0, maxTemplates)
    .map((ranking): Suggestion => {
      const { id, document } = ranking.template;
      const panels = ranking.panels?.length ?? 0;
      const filledPanels = countFilledPanels(ranking) ?? 0;
      return {
        kind: 'dashboard',
        subject: id,
        title: `Create the dashboard ${document.name}`,
        weight: Math.max(1, filledPanels),
        evidence: `${filledPanels} of its ${panels} panels would show data of the last day, and no dashboard was created from it`,
        effect: `a dashboard with ${panels} panels, which you can edit`,
        request: { method: 'POST', path: `/api/templates/${id}/instantiate`, body: {} },
      };
    });
