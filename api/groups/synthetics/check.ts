import { z } from 'zod';
import type { CollectionDefinition } from '../../../schemas/ports/documents.ts';
import { mostChecks, syntheticChecks } from '../../../schemas/resources/synthetic-check.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import { readKnown } from '../../../subjects/synthetics/known.ts';
import { checkProblems } from '../../../subjects/synthetics/problems.ts';
import { invalidFields } from '../../errors.ts';
import { defineResource } from '../../resources/resource.ts';
import { equals } from '../../resources/resource-list.ts';
import { storedView } from '../../resources/resource-spec.ts';

const View = z.strictObject({
  ...CheckFields.shape,
  locations: z.array(z.string()).describe('Empty where its last location was deleted: it runs nowhere'),
  ...storedView,
});

export const checkResource = defineResource<typeof CheckFields, CheckFields, typeof View>({
  noun: 'synthetic check',
  path: '/api/synthetics/checks',
  collection: syntheticChecks as CollectionDefinition<object> as CollectionDefinition<CheckFields>,
  verbs: ['list', 'create', 'read', 'replace', 'patch', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: CheckFields,
  example: {
    name: 'Shop answers',
    description: 'The start page and what it needs',
    type: 'http',
    every: '1m',
    http: {
      steps: [
        {
          url: 'https://shop.example.com/',
          assertions: [
            { source: 'status', operator: 'is', value: 200 },
            { source: 'duration', operator: 'lt', value: 2000, level: 'degrade' },
          ],
        },
      ],
    },
  },
  view: View,
  async prepare(after, { caller, of }) {
    const problems = checkProblems(after, await readKnown(of(caller.tenantId)));
    if (problems.length > 0) throw invalidFields(problems);
    return after;
  },
  most: mostChecks,
  list: { searched: ['name', 'description'], filters: { type: equals('type'), projectId: equals('projectId') } },
});
