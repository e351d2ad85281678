import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import { ConflictError, type StoredMetadata, type TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  LocationFields,
  maxLocations,
  type SyntheticLocation,
  syntheticLocations,
  syntheticProbeContacts,
} from '../../../schemas/resources/synthetic-location.ts';
import { syntheticPictures } from '../../../schemas/resources/synthetic-picture.ts';
import { UnsupportedType } from '../../../schemas/synthetic-work.ts';
import { localLocation } from '../../../subjects/synthetics/check.ts';
import { readChecks } from '../../../subjects/synthetics/read-checks.ts';
import { ApiError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { checkResource } from './check.ts';
import { createProbeToken } from './probe-token.ts';

/** Fields for the audit log, without the token. */
const toAuditFields = ({ name, description, prefix }: SyntheticLocation): object => ({ name, description, prefix });

/** Stores a new location. Throws if there are too many, or one with the same name. */
const insertLocation = async (own: TenantDocuments, location: SyntheticLocation & { readonly id: string }) => {
  const locationCollection = own.collection(syntheticLocations);
  if ((await locationCollection.count()) >= maxLocations)
    throw new ApiError('CONFLICT', `there are ${maxLocations} synthetic locations: delete one first`);
  try {
    return await locationCollection.insert(location);
  } catch (error) {
    if (!(error instanceof ConflictError) || error.kind !== 'duplicate') throw error;
    const name = JSON.stringify(location.name);
    throw new ApiError('CONFLICT', `a synthetic location with the name ${name} already exists: choose another`, {
      cause: error,
    });
  }
};

const LocationView = z.strictObject({
  id: z.string().describe('Id that checks reference'),
  ...LocationFields.shape,
  prefix: z.string().describe('First characters of its token; empty for local, which has none'),
  lastSeenAt: z.iso.datetime().nullable().describe('Last contact of its probes; null: never'),
  unsupportedTypes: z
    .array(UnsupportedType)
    .describe(
      'Check types that its probe last reported as unsupported; checks of these types have the state unknown there',
    ),
  clockAheadMs: z
    .int()
    .nullable()
    .describe('How far the clock of its probe is ahead of the platform, as last measured; null: not reported'),
  checks: z.int().describe('Number of checks that run there'),
  createdAt: z.iso.datetime().nullable(),
});

const toView = (
  { id, name, description, prefix, createdAt }: SyntheticLocation & StoredMetadata,
  probeStatus: {
    readonly lastSeenAt: string | null;
    readonly unsupportedTypes: readonly UnsupportedType[];
    readonly clockAheadMs: number | null;
    readonly checks: number;
  },
): z.input<typeof LocationView> => ({
  id,
  name,
  description,
  prefix,
  ...probeStatus,
  unsupportedTypes: [...probeStatus.unsupportedTypes],
  createdAt,
});

export const listLocations = defineOperation({
  method: 'GET',
  path: '/api/synthetics/locations',
  operationId: 'listSyntheticLocations',
  summary: 'List the locations of checks, with the last contact of each',
  role: 'viewer',
  response: z.strictObject({ items: z.array(LocationView), nextCursor: z.null() }),
  async handler({ caller }, { documents }) {
    const tenantDocuments = documents.forTenant(caller.tenantId);
    const [locations, contacts, checks] = await Promise.all([
      tenantDocuments.collection(syntheticLocations).list({ sort: { name: 1 }, limit: maxLocations }),
      tenantDocuments.collection(syntheticProbeContacts).list({ sort: { lastSeenAt: -1 } }),
      readChecks(tenantDocuments),
    ]);
    // Use only the latest contact of each location.
    const contactsByLocation = new Map(contacts.items.toReversed().map((contact) => [contact.location, contact]));
    const getProbeStatus = (id: string) => ({
      lastSeenAt: contactsByLocation.get(id)?.lastSeenAt ?? null,
      unsupportedTypes: [...(contactsByLocation.get(id)?.unsupportedTypes ?? [])],
      clockAheadMs: contactsByLocation.get(id)?.clockAheadMs ?? null,
      checks: checks.filter((check) => check.locations.includes(id)).length,
    });
    const localLocationView = {
      id: localLocation,
      name: 'Local',
      description: 'In this installation',
      prefix: '',
      createdAt: null,
      ...getProbeStatus(localLocation),
    };
    return {
      items: [localLocationView, ...locations.items.map((location) => toView(location, getProbeStatus(location.id)))],
      nextCursor: null,
    };
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
    const { token, ...secret } = createProbeToken(secretBox, caller.tenantId, id);
    const location = await change(async ({ forTenant, record }) => {
      const after = await insertLocation(forTenant(caller.tenantId), { ...body, ...secret, id });
      record({ id, name: after.name, after: toAuditFields(after) });
      return after;
    });
    return { ...toView(location, { lastSeenAt: null, unsupportedTypes: [], clockAheadMs: null, checks: 0 }), token };
  },
});

/** Maximum number of checks in an error message */
const maxNamedChecks = 10;

export const deleteLocation = defineOperation({
  method: 'DELETE',
  path: '/api/synthetics/locations/{id}',
  operationId: 'deleteSyntheticLocation',
  summary: 'Delete a location: its token becomes invalid immediately, and checks no longer use it',
  role: 'admin',
  audit: ['synthetic-location.delete', 'synthetic-check.update'],
  params: idParameter,
  query: z.strictObject({
    force: z.stringbool().default(false).describe('Whether to delete it even if checks would have no location left'),
  }),
  response: z.strictObject({}),
  async handler({ caller, params: { id }, query, change }) {
    if (id === localLocation) throw new ApiError('CONFLICT', 'the location local is part of the installation');
    await change(async (scope) => {
      const tenantDocuments = scope.forTenant(caller.tenantId);
      const before = await tenantDocuments.collection(syntheticLocations).find(id);
      if (before === undefined) throw createNotFoundError('synthetic location');
      const checks = await readChecks(tenantDocuments, { locations: id });
      const lastLocationChecks = checks.filter(({ locations }) => locations.length === 1);
      if (lastLocationChecks.length > 0 && !query.force) {
        const names = lastLocationChecks.slice(0, maxNamedChecks).map((check) => `“${check.name}” (${check.id})`);
        const moreText =
          lastLocationChecks.length > maxNamedChecks ? ` and ${lastLocationChecks.length - maxNamedChecks} more` : '';
        throw new ApiError(
          'CONFLICT',
          `${names.join(', ')}${moreText} would have no location: assign another location, or set force=true`,
        );
      }
      for (const check of checks)
        await checkResource
          .createWriter(scope, caller)
          .change(
            check.id,
            (before) => ({ ...before, locations: before.locations.filter((location) => location !== id) }),
            { action: 'synthetic-check.update' },
          );
      await deleteMatching(tenantDocuments.collection(syntheticProbeContacts), { location: id });
      await deleteMatching(tenantDocuments.collection(syntheticPictures), { location: id });
      await tenantDocuments.collection(syntheticLocations).delete(id, before.version);
      scope.record({ id, name: before.name, before: toAuditFields(before) });
    });
    return {};
  },
});
