import { z } from 'zod';
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import { dashboardOpenings, dashboardSummaries } from '../../../schemas/resources/dashboard.ts';
import { templateUses } from '../../../schemas/resources/dashboard-template.ts';
import { loadTemplates } from '../../../subjects/dashboards/templates/templates.ts';
import { countedDays, countViews } from '../../../subjects/dashboards/view-counts.ts';
import { defineOperation } from '../../kernel/operation.ts';

const UsageView = z.strictObject({
  id: z.string(),
  name: z.string(),
  dashboards: z.int().describe('Dashboards that were created from it'),
  present: z.int().describe('Number of these dashboards that still exist'),
  opened: z.int().describe('Number of views of these dashboards by people in the last `viewedDays` days'),
  lastCreatedAt: z.iso.datetime().nullable(),
});

export const getTemplateUsage = defineOperation({
  method: 'GET',
  path: '/api/templates/usage',
  operationId: 'getTemplateUsage',
  summary: 'Get the number of dashboards created from each template, and of their views',
  role: 'viewer',
  response: z.strictObject({ viewedDays: z.int(), items: z.array(UsageView) }),
  async handler({ caller }, { documents, clock }) {
    const tenantDocuments = documents.forTenant(caller.tenantId);
    const usageByTemplate = new Map(
      (await loadTemplates()).map(({ id, document: { name } }) => [
        id,
        { id, name, dashboards: 0, present: 0, opened: 0, lastCreatedAt: null as string | null },
      ]),
    );
    for await (const { id, templateId, createdAt, isGone: isDeleted } of iterateDocuments(
      tenantDocuments.collection(templateUses),
    )) {
      const usage = usageByTemplate.get(templateId);
      if (usage === undefined) continue;
      usage.dashboards++;
      if (usage.lastCreatedAt === null || createdAt > usage.lastCreatedAt) usage.lastCreatedAt = createdAt;
      if (isDeleted) continue;
      const [summary, viewCounts] = await Promise.all([
        tenantDocuments.collection(dashboardSummaries).find(id),
        tenantDocuments.collection(dashboardOpenings).find(id),
      ]);
      if (summary !== undefined) usage.present++;
      usage.opened += countViews(viewCounts, clock.now());
    }
    return {
      viewedDays: countedDays,
      items: [...usageByTemplate.values()].sort((first, second) => second.dashboards - first.dashboards),
    };
  },
});
