import { z } from 'zod';
import { savedQueryFavourites } from '../../../schemas/resources/saved-query.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { savedQueryResource } from './saved-query.ts';

export const markSavedQuery = defineOperation({
  method: 'PUT',
  path: '/api/saved-queries/{id}/favourite',
  operationId: 'markSavedQuery',
  summary: 'Mark or unmark a saved query as a favorite of the caller',
  role: 'viewer',
  audit: 'saved-query.mark',
  params: idParameter,
  body: z.strictObject({ isFavourite: z.boolean() }),
  response: z.strictObject({ isFavourite: z.boolean() }),
  async handler({ caller, params, body, change }) {
    await change(async (scope) => {
      const query = await savedQueryResource.createWriter(scope, caller).find(params.id);
      const favourites = scope.forTenant(caller.tenantId).collection(savedQueryFavourites);
      const ownFavourite = { userId: caller.actor.id, savedQueryId: query.id };
      const { items } = await favourites.list({ filter: ownFavourite, limit: 1 });
      const [existing] = items;
      if (body.isFavourite === (existing !== undefined)) return scope.markUnchanged();
      if (existing === undefined) await favourites.insert(ownFavourite);
      else await favourites.delete(existing.id);
      scope.record({
        id: query.id,
        name: query.name,
        before: { isFavourite: existing !== undefined },
        after: { isFavourite: body.isFavourite },
      });
    });
    return { isFavourite: body.isFavourite };
  },
});
