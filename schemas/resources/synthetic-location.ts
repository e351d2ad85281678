/** Places that checks run from. The one beside the installation, `local`, has no document. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import type { Inability } from '../synthetic-work.ts';

/** What callers write of a location. */
export const LocationFields = z.strictObject({
  name: z.string().trim().min(1).max(256),
  description: z.string().max(4096).default(''),
});

export interface SyntheticLocation extends z.output<typeof LocationFields> {
  /** Hex SHA-256 of its token. */
  readonly hash: string;
  /** First characters of the token, for people. */
  readonly prefix: string;
}

export const syntheticLocations = defineCollection<SyntheticLocation>({
  name: 'synthetic-locations',
  unique: [['name']],
});

/** Of an organization. */
export const maxLocations = 50;

/** What tokens of locations begin with. What follows is sealed: it says whose location it is, so that nobody has to look for it. */
export const probeTokenPrefix = 'oiq_probe_';

export const probeTokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');

/** When a probe of a location was last heard from; beside it, so that it changes no version. */
export interface SyntheticProbeContact {
  readonly location: string;
  /** Names the probe among those of its location. */
  readonly probe: string;
  readonly lastSeenAt: string;
  /** What it cannot run. */
  readonly unsupportedTypes?: readonly Inability[];
  /** What its clock is ahead of the platform's. */
  readonly clockAheadMs?: number;
}

export const syntheticProbeContacts = defineCollection<SyntheticProbeContact>({
  name: 'synthetic-probe-contacts',
  indexes: [['location']],
});
