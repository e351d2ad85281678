import { z } from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import { readGallery, TemplateItem, toTemplateItem } from './gallery.ts';

export const listTemplates = defineOperation({
  method: 'GET',
  path: '/api/templates',
  operationId: 'listTemplates',
  summary: 'List dashboard templates, those with the most usable panels first',
  role: 'viewer',
  query: z.strictObject({
    tag: z.string().max(64).optional(),
    search: z
      .string()
      .max(256)
      .optional()
      .describe('Only templates whose name, description or sender contains this text'),
    favourite: z.enum(['true']).optional().describe('true: only favorites of the caller'),
  }),
  response: z.strictObject({ items: z.array(TemplateItem), nextCursor: z.null() }),
  async handler({ caller, query }, ports) {
    const searchText = query.search?.toLowerCase() ?? '';
    const items = (await readGallery(caller, ports))
      .map(toTemplateItem)
      .filter(({ name, description, sentBy, tags, isFavourite }) => {
        if (query.tag !== undefined && !tags.includes(query.tag)) return false;
        if (query.favourite === 'true' && !isFavourite) return false;
        return [name, description, ...sentBy].some((text) => text.toLowerCase().includes(searchText));
      });
    return { items, nextCursor: null };
  },
});
