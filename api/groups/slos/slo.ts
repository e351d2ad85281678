import type { z } from 'zod';
import { requireEntitlement } from '../../../queries/entitlement.ts';
import { queryVersion } from '../../../queries/query.ts';
import type { CollectionDefinition } from '../../../schemas/ports/documents.ts';
import { type StoredSlo, slos } from '../../../schemas/resources/slo.ts';
import { SloFields } from '../../../subjects/slos/document.ts';
import { sloProblems } from '../../../subjects/slos/problems.ts';
import { entitlementsOf } from '../../../subjects/slos/signals.ts';
import type { Caller } from '../../callers/caller.ts';
import { invalidFields } from '../../errors.ts';
import { defineResource } from '../../resources/resource.ts';
import { equals } from '../../resources/resource-list.ts';
import { keepManagedRules } from './managed-rules.ts';

/** Of an organization. */
const mostSlos = 1000;

/** An objective that is understood. */
export type Document = SloFields & Pick<StoredSlo, 'queryVersion'>;

/** What is stored of an objective that can be measured under the caller's plan. Throws what is wrong with it. */
export const prepared = (after: SloFields, caller: Caller): Document => {
  const problems = sloProblems(after);
  if (problems.length > 0) throw invalidFields(problems);
  for (const entitlement of entitlementsOf(after)) requireEntitlement(caller, entitlement);
  return { ...after, queryVersion };
};

export const sloResource = defineResource<typeof SloFields, Document, z.ZodObject>({
  noun: 'service level objective',
  path: '/api/slos',
  collection: slos as CollectionDefinition<object> as CollectionDefinition<Document>,
  verbs: ['list', 'create', 'read', 'update', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: SloFields,
  example: {
    name: 'Checkout answers',
    description: 'Requests of the checkout that do not fail',
    targetPct: 99.9,
    windowDays: 30,
    type: 'availability',
    service: 'checkout',
  },
  initial: () => ({ queryVersion }),
  alongside: keepManagedRules,
  prepare: (after, { caller }) => prepared(after, caller),
  limit: () => mostSlos,
  list: {
    searched: ['name', 'description'],
    filters: { service: equals('service'), type: equals('type') },
  },
});
