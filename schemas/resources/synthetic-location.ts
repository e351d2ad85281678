/** Locations from which checks run. The built-in location `local` has no document. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import type { UnsupportedType } from '../synthetic-work.ts';

/** Fields of a location that callers write. */
export const LocationFields = z.strictObject({
  name: z.string().trim().min(1).max(256),
  description: z.string().max(4096).default(''),
});

export interface SyntheticLocation extends z.output<typeof LocationFields> {
  /** Hexadecimal SHA-256 of the token. */
  readonly hash: string;
  /** First characters of the token, for display. */
  readonly prefix: string;
}

export const syntheticLocations = defineCollection<SyntheticLocation>({
  name: 'synthetic-locations',
  unique: [['name']],
});

/** Maximum number of locations of an organization. */
export const maxLocations = 50;

/** Prefix of location tokens. The remainder is encrypted and identifies the location, so that no lookup is needed. */
export const probeTokenPrefix = 'oiq_probe_';

export const hashProbeToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Last contact of a location's probe. Stored separately, so that it does not change the location's version. */
export interface SyntheticProbeContact {
  readonly location: string;
  /** Name of the probe, unique in its location. */
  readonly probe: string;
  readonly lastSeenAt: string;
  /** Check types that the probe cannot run. */
  readonly unsupportedTypes?: readonly UnsupportedType[];
  /** How far the probe's clock is ahead of the platform's, in milliseconds. */
  readonly clockAheadMs?: number;
}

export const syntheticProbeContacts = defineCollection<SyntheticProbeContact>({
  name: 'synthetic-probe-contacts',
  indexes: [['location']],
});
