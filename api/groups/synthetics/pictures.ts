import { z } from 'zod';
import { cursorParameter } from '../../../queries/cursor.ts';
import { pictureKinds, syntheticPictures } from '../../../schemas/resources/synthetic-picture.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findCheck } from './results.ts';

/** Maximum number of pictures per page; each has about 200 kilobytes. */
const maxPicturesPerPage = 20;

export const listPictures = defineOperation({
  method: 'GET',
  path: '/api/synthetics/checks/{id}/pictures',
  operationId: 'listSyntheticPictures',
  summary: 'Get the page of a browser check at the end of its last successful and its last failed run, by location',
  role: 'viewer',
  params: idParameter,
  query: z.strictObject({
    location: z.string().min(1).max(128).optional(),
    limit: z.coerce.number().int().min(1).max(maxPicturesPerPage).default(maxPicturesPerPage),
    cursor: cursorParameter,
  }),
  response: z.strictObject({
    items: z.array(
      z.strictObject({
        location: z.string(),
        kind: z
          .enum(pictureKinds)
          .describe('Picture of the last successful (passed or degraded) or the last failed run'),
        dueAt: z.iso.datetime().describe('Due time of the run'),
        content: z.string().describe('A JPEG in base64. Secrets of the check are masked'),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, params, query }, ports) {
    const { id } = await findCheck(params.id, caller, ports);
    const { items, nextCursor } = await ports.documents
      .forTenant(caller.tenantId)
      .collection(syntheticPictures)
      .list({
        filter: { checkId: id, ...(query.location !== undefined && { location: query.location }) },
        sort: { location: 1 },
        limit: query.limit,
        after: query.cursor,
      });
    return {
      items: items.map(({ location, kind, dueMs, content }) => ({
        location,
        kind,
        dueAt: new Date(dueMs).toISOString(),
        content,
      })),
      nextCursor,
    };
  },
});
