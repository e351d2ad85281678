import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import type { Stored } from '../../../schemas/ports/documents.ts';
import {
  LocationFields,
  mostLocations,
  type SyntheticLocation,
  syntheticLocations,
  syntheticProbeContacts,
} from '../../../schemas/resources/synthetic-location.ts';
import { localLocation } from '../../../subjects/synthetics/check.ts';
import { readChecks } from '../../../subjects/synthetics/known.ts';
import { ApiError, notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { defineResource } from '../../resources/resource.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { checkResource } from './check.ts';
import { makeProbeToken } from './probe-token.ts';

/** Writes with versions, uniqueness and bounds; what is served of it is below, as its token is shown once. */
export const locationResource = defineResource<typeof LocationFields, SyntheticLocation>({
  noun: 'synthetic location',
  path: '/api/synthetics/locations',
  collection: syntheticLocations,
  verbs: [],
  roles: { read: 'viewer', write: 'admin' },
  fields: LocationFields,
  example: { name: 'Frankfurt' },
  most: mostLocations,
});

const LocationView = z.strictObject({
  id: z.string().describe('What checks name'),
  ...LocationFields.shape,
  prefix: z.string().describe('First characters of its token; empty for local, which has none'),
  heardAt: z.iso.datetime().nullable().describe('When its probes were last heard from; null: never'),
  checks: z.int().describe('How many checks run there'),
  createdAt: z.iso.datetime().nullable(),
});

const shown = (
  { id, name, description, prefix, createdAt }: SyntheticLocation & Stored,
  { heardAt, checks }: { readonly heardAt: string | null; readonly checks: number },
): z.input<typeof LocationView> => ({ id, name, description, prefix, heardAt, checks, createdAt });

export const listLocations = defineOperation({
  method: 'GET',
  path: '/api/synthetics/locations',
  operationId: 'listSyntheticLocations',
  summary: 'List locations that checks run from, and when each was last heard from',
  role: 'viewer',
  response: z.strictObject({ items: z.array(LocationView), nextCursor: z.null() }),
  async handler({ caller }, { documents }) {
    const own = documents.of(caller.tenantId);
    const [locations, contacts, checks] = await Promise.all([
      own.collection(syntheticLocations).list({ sort: { name: 1 }, limit: mostLocations }),
      own.collection(syntheticProbeContacts).list({ sort: { heardAt: -1 } }),
      readChecks(own),
    ]);
    // The latest of each location counts.
    const heard = new Map(contacts.items.toReversed().map(({ location, heardAt }) => [location, heardAt]));
    const told = (id: string) => ({
      heardAt: heard.get(id) ?? null,
      checks: checks.filter((check) => check.locations.includes(id)).length,
    });
    const local = {
      ...{ id: localLocation, name: 'Local', description: 'Beside this installation', prefix: '', createdAt: null },
      ...told(localLocation),
    };
    return { items: [local, ...locations.items.map((one) => shown(one, told(one.id)))], nextCursor: null };
  },
});

export const createLocation = defineOperation({
  method: 'POST',
  path: '/api/synthetics/locations',
  operationId: 'createSyntheticLocation',
  summary: 'Register a private location; the token of its probes is shown only once',
  role: 'admin',
  audit: 'synthetic-location.create',
  body: LocationFields.meta({ examples: [{ name: 'Frankfurt' }] }),
  response: z.strictObject({
    ...LocationView.shape,
    token: z.string().describe('OIQ_PROBE_TOKEN of its probes; not shown again'),
  }),
  async handler({ caller, body, change }, { secretBox }) {
    const id = randomUUID();
    const { token, ...secret } = makeProbeToken(secretBox, caller.tenantId, id);
    const location = await change((scope) => locationResource.writer(scope, caller).create({ ...body, ...secret, id }));
    return { ...shown(location, { heardAt: null, checks: 0 }), token };
  },
});

/** How many checks an error names. */
const named = 10;

export const deleteLocation = defineOperation({
  method: 'DELETE',
  path: '/api/synthetics/locations/{id}',
  operationId: 'deleteSyntheticLocation',
  summary: 'Delete a location: its token ends at once, and checks leave it',
  role: 'admin',
  audit: ['synthetic-location.delete', 'synthetic-check.update'],
  params: idParameter,
  query: z.strictObject({
    force: z.stringbool().default(false).describe('Also where checks would have no location any more'),
  }),
  response: z.strictObject({}),
  async handler({ caller, params: { id }, query, change }) {
    if (id === localLocation) throw new ApiError('CONFLICT', 'the location local is part of the installation');
    await change(async (scope) => {
      const own = scope.of(caller.tenantId);
      if ((await own.collection(syntheticLocations).find(id)) === undefined) throw notFound('synthetic location');
      const checks = await readChecks(own, { locations: id });
      const alone = checks.filter(({ locations }) => locations.length === 1);
      if (alone.length > 0 && !query.force) {
        const names = alone.slice(0, named).map((check) => `“${check.name}” (${check.id})`);
        const more = alone.length > named ? ` and ${alone.length - named} more` : '';
        throw new ApiError(
          'CONFLICT',
          `${names.join(', ')}${more} would have no location: give them another, or take force=true`,
        );
      }
      for (const check of checks)
        await checkResource
          .writer(scope, caller)
          .change(
            check.id,
            (before) => ({ ...before, locations: before.locations.filter((location) => location !== id) }),
            { action: 'synthetic-check.update' },
          );
      await deleteMatching(own.collection(syntheticProbeContacts), { location: id });
      await locationResource.writer(scope, caller).remove(id, { action: 'synthetic-location.delete' });
    });
    return {};
  },
});
