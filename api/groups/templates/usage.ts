import { z } from 'zod';
import { documentsIn } from '../../../runtime/documents-in.ts';
import { dashboardOpenings, dashboardSummaries } from '../../../schemas/resources/dashboard.ts';
import { templateUses } from '../../../schemas/resources/dashboard-template.ts';
import { countedDays, timesOpened } from '../../../subjects/dashboards/openings.ts';
import { templates } from '../../../subjects/dashboards/templates/templates.ts';
import { defineOperation } from '../../kernel/operation.ts';

const Figures = z.strictObject({
  id: z.string(),
  name: z.string(),
  dashboards: z.int().describe('Dashboards that were created from it'),
  present: z.int().describe('Those of them that still exist'),
  opened: z.int().describe('Number of views of these by people, in `openedDays`'),
  lastCreatedAt: z.iso.datetime().nullable(),
});

export const getTemplateUsage = defineOperation({
  method: 'GET',
  path: '/api/templates/usage',
  operationId: 'getTemplateUsage',
  summary: 'Get the number of dashboards created from each template, and of their views',
  role: 'viewer',
  response: z.strictObject({ viewedDays: z.int(), items: z.array(Figures) }),
  async handler({ caller }, { documents, clock }) {
    const own = documents.of(caller.tenantId);
    const figures = new Map(
      (await templates()).map(({ id, document: { name } }) => [
        id,
        { id, name, dashboards: 0, present: 0, opened: 0, lastCreatedAt: null as string | null },
      ]),
    );
    for await (const { id, templateId, createdAt, isGone: isDeleted } of documentsIn(own.collection(templateUses))) {
      const of = figures.get(templateId);
      if (of === undefined) continue;
      of.dashboards++;
      if (of.lastCreatedAt === null || createdAt > of.lastCreatedAt) of.lastCreatedAt = createdAt;
      if (isDeleted) continue;
      const [summary, openings] = await Promise.all([
        own.collection(dashboardSummaries).find(id),
        own.collection(dashboardOpenings).find(id),
      ]);
      if (summary !== undefined) of.present++;
      of.opened += timesOpened(openings, clock.now());
    }
    return {
      viewedDays: countedDays,
      items: [...figures.values()].sort((one, other) => other.dashboards - one.dashboards),
    };
  },
});
