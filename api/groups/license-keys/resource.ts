import { z } from 'zod';
import {
  browserSignals,
  type LicenseKey,
  LicenseKeyFields,
  licenseKeys,
} from '../../../schemas/resources/license-key.ts';
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
    if (before !== undefined) {
      requireNotRevoked(before);
      requireSameKind(after, before);
    }
    requireFieldsOfKind(after);
    if (after.expiresAt !== before?.expiresAt) requireFutureExpiry(after, ports.clock.now());
    return { ...after, signals: selectSignals(after) };
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

/** Returns the signals that a key of this kind can send, each once. */
export const selectSignals = ({ kind, signals }: Pick<LicenseKey, 'kind' | 'signals'>): LicenseKey['signals'] =>
  [...new Set(signals)].filter((signal) => kind === 'server' || browserSignals.some((name) => name === signal));

/** A key that a page showed must not become a secret, and its prefix states the kind. */
const requireSameKind = (after: Pick<LicenseKey, 'kind'>, before: LicenseKey): void => {
  const kind = before.kind ?? 'server';
  if (after.kind !== kind)
    throw createFieldError('kind', `cannot be changed: the key is for a ${kind}. Create another key`);
};

/** Throws the error of the first field that the kind of the key does not have, or lacks. */
export const requireFieldsOfKind = ({
  kind,
  application,
  origins,
  maxBytesPerDay,
  signals,
}: Pick<LicenseKey, 'kind' | 'application' | 'origins' | 'maxBytesPerDay' | 'signals'>): void => {
  if (kind === 'browser') {
    if (application === null) throw createFieldError('application', 'is required for a browser key');
    if (origins.length === 0) throw createFieldError('origins', 'a browser key needs at least one origin');
    if (selectSignals({ kind, signals }).length === 0)
      throw createFieldError('signals', `browsers send ${browserSignals.join(' and ')} only`);
    return;
  }
  const hint = 'is for browser keys only (kind: browser)';
  if (application !== null) throw createFieldError('application', hint);
  if (origins.length > 0) throw createFieldError('origins', hint);
  if (maxBytesPerDay !== null) throw createFieldError('maxBytesPerDay', hint);
};

export const requireNotRevoked = ({ name, revokedAt }: LicenseKey): void => {
  if (revokedAt !== null)
    throw new ApiError('CONFLICT', `the license key “${name}” was revoked at ${revokedAt}: create a new one`);
};

export const requireFutureExpiry = ({ expiresAt }: Pick<LicenseKey, 'expiresAt'>, now: number): void => {
  if (expiresAt !== null && Date.parse(expiresAt) <= now) throw createFieldError('expiresAt', 'must be in the future');
};
