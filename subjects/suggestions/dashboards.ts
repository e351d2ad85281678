/** Templates of dashboards that would show much of what lands, and of which none was made. */
import { filledOf, type Standing, shareOf } from '../dashboards/templates/ranking.ts';
import type { Suggestion } from './suggestion.ts';

const leastShare = 0.8;
const mostTemplates = 3;

/** In the order in which they are given. */
export const dashboardSuggestions = (standings: readonly Standing[]): Suggestion[] =>
  standings
    .filter((standing) => standing.made === 0 && (shareOf(standing) ?? 0) >= leastShare)
    .slice(0, mostTemplates)
    .map((standing): Suggestion => {
      const { id, document } = standing.template;
      const panels = standing.panels?.length ?? 0;
      const filled = filledOf(standing) ?? 0;
      return {
        ...{
          kind: 'dashboard',
          subject: id,
          title: `Make the dashboard ${document.name}`,
          weight: Math.max(1, filled),
        },
        evidence: `${filled} of its ${panels} panels would show something of the last day, and no dashboard was made of it`,
        effect: `a dashboard with ${panels} panels, which can be changed`,
        request: { method: 'POST', path: `/api/templates/${id}/instantiate`, body: {} },
      };
    });
