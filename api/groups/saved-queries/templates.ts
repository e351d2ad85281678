import { z } from 'zod';
import { Query } from '../../../queries/query.ts';
import { templates } from '../../../queries/templates.ts';
import { checkValidity, Validity } from '../../../queries/validity.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

const parsedTemplates = templates.map((template) => ({ ...template, query: Query.parse(template.query) }));

export const listQueryTemplates = defineOperation({
  method: 'GET',
  path: '/api/query-templates',
  operationId: 'listQueryTemplates',
  summary: 'List the query templates of the platform, and whether the data of each exists',
  role: 'viewer',
  query: z.strictObject({
    tag: z.string().max(64).optional(),
    applicable: z.enum(['true']).optional().describe('true: only queries whose data exists'),
  }),
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        description: z.string(),
        tags: z.array(z.string()),
        step: z.string().nullable().describe('Suitable step; null for a table'),
        query: Query,
        validity: Validity.describe('Whether it is applicable: its data exists'),
      }),
    ),
    nextCursor: z.null(),
  }),
  async handler({ caller, query }, ports) {
    const matches = parsedTemplates.filter(({ tags }) => query.tag === undefined || tags.includes(query.tag));
    const validities = await checkValidity(
      matches.map((template) => template.query),
      createQueryReader(caller, ports),
    );
    const items = matches.flatMap((template, index) => {
      const validity = validities[index] as Validity;
      if (query.applicable === 'true' && validity.isValid !== true) return [];
      return [{ ...template, tags: [...template.tags], step: template.step ?? null, validity }];
    });
    return { items, nextCursor: null };
  },
});
