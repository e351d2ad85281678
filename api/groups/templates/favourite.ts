import { z } from 'zod';
import { templateFavourites } from '../../../schemas/resources/dashboard-template.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Transact } from '../../changes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findTemplate } from './gallery.ts';

const setFavourite = async (
  id: string,
  isFavourite: boolean,
  { caller, change }: { readonly caller: Caller; readonly change: Transact },
): Promise<{ isFavourite: boolean }> => {
  const { document } = await findTemplate(id);
  await change(async (scope) => {
    const favourites = scope.forTenant(caller.tenantId).collection(templateFavourites);
    const ownFavourite = { userId: caller.actor.id, templateId: id };
    const [existingFavourite] = (await favourites.list({ filter: ownFavourite, limit: 1 })).items;
    if (isFavourite === (existingFavourite !== undefined)) return scope.markUnchanged();
    if (existingFavourite === undefined) await favourites.insert(ownFavourite);
    else await favourites.delete(existingFavourite.id);
    scope.record({ id, name: document.name, before: { isFavourite: !isFavourite }, after: { isFavourite } });
  });
  return { isFavourite };
};

const sharedDefinition = {
  path: '/api/templates/{id}/favourite',
  role: 'viewer',
  audit: 'template.mark',
  params: idParameter,
  response: z.strictObject({ isFavourite: z.boolean() }),
} as const;

export const markTemplate = defineOperation({
  ...sharedDefinition,
  method: 'PUT',
  operationId: 'markTemplate',
  summary: 'Mark a template as a favorite of the caller',
  handler: (input) => setFavourite(input.params.id, true, input),
});

export const unmarkTemplate = defineOperation({
  ...sharedDefinition,
  method: 'DELETE',
  operationId: 'unmarkTemplate',
  summary: 'Unmark a template as a favorite',
  handler: (input) => setFavourite(input.params.id, false, input),
});
