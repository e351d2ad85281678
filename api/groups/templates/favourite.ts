import { z } from 'zod';
import { templateFavourites } from '../../../schemas/resources/dashboard-template.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Transact } from '../../changes.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { foundTemplate } from './gallery.ts';

const mark = async (
  id: string,
  isFavourite: boolean,
  { caller, change }: { readonly caller: Caller; readonly change: Transact },
): Promise<{ isFavourite: boolean }> => {
  const { document } = await foundTemplate(id);
  await change(async (scope) => {
    const marks = scope.of(caller.tenantId).collection(templateFavourites);
    const mine = { userId: caller.actor.id, templateId: id };
    const [known] = (await marks.list({ filter: mine, limit: 1 })).items;
    if (isFavourite === (known !== undefined)) return scope.unchanged();
    if (known === undefined) await marks.insert(mine);
    else await marks.delete(known.id);
    scope.record({ id, name: document.name, before: { isFavourite: !isFavourite }, after: { isFavourite } });
  });
  return { isFavourite };
};

const shared = {
  path: '/api/templates/{id}/favourite',
  role: 'viewer',
  audit: 'template.mark',
  params: idParameter,
  response: z.strictObject({ isFavourite: z.boolean() }),
} as const;

export const markTemplate = defineOperation({
  ...shared,
  method: 'PUT',
  operationId: 'markTemplate',
  summary: 'Mark a template as a favorite of the caller',
  handler: (input) => mark(input.params.id, true, input),
});

export const unmarkTemplate = defineOperation({
  ...shared,
  method: 'DELETE',
  operationId: 'unmarkTemplate',
  summary: 'Unmark a template as a favorite',
  handler: (input) => mark(input.params.id, false, input),
});
