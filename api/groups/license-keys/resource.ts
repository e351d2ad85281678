import { z } from 'zod';
import { type LicenseKey, LicenseKeyFields, licenseKeys } from '../../../schemas/resources/license-key.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter, type ListFilter } from '../../resources/resource-list.ts';
import { LicenseKeyView, toViews } from './views.ts';

/** Filter of the list. Revoked keys are kept, because telemetry and audit records reference them. */
const stateFilter: ListFilter = {
  schema: z.enum(['active', 'expired', 'revoked']).optional(),
  where(state, now) {
    if (state === 'revoked') return { revokedAt: { $ne: null } };
    const expired = { expiresAt: { $lte: now } };
    const notRevoked = { revokedAt: null };
    return state === 'expired' ? { $and: [notRevoked, expired] } : { $and: [notRevoked, { $nor: [expired] }] };
  },
};

export const licenseKeyResource = defineResource<typeof LicenseKeyFields, LicenseKey, typeof LicenseKeyView>({
  noun: 'license key',
  path: '/api/license-keys',
  collection: licenseKeys,
  verbs: ['list', 'read', 'patch'],
  roles: { read: 'admin', write: 'admin' },
  fields: LicenseKeyFields,
  example: { name: 'Collectors in Frankfurt', signals: ['logs', 'metrics'], allowedCidrs: ['192.0.2.0/24'] },
  prepare(after, { before, ports }) {
    if (before !== undefined) requireNotRevoked(before);
    if (after.expiresAt !== before?.expiresAt) requireFutureExpiry(after, ports.clock.now());
    return { ...after, signals: [...new Set(after.signals)] };
  },
  view: LicenseKeyView,
  show: (keys, { caller, ports }) => toViews(ports.documents.forTenant(caller.tenantId), keys, ports.clock.now()),
  live: true,
  list: {
    filters: { projectId: createEqualsFilter('projectId', z.string().min(1).max(128)), state: stateFilter },
    searched: ['name', 'prefix'],
    sorts: ['name', 'createdAt', 'updatedAt', 'expiresAt'],
  },
});

export const requireNotRevoked = ({ name, revokedAt }: LicenseKey): void => {
  if (revokedAt !== null)
    throw new ApiError('CONFLICT', `the license key “${name}” was revoked at ${revokedAt}: create a new one`);
};

export const requireFutureExpiry = ({ expiresAt }: Pick<LicenseKey, 'expiresAt'>, now: number): void => {
  if (expiresAt !== null && Date.parse(expiresAt) <= now) throw createFieldError('expiresAt', 'must be in the future');
};
