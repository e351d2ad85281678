/** Incidents: what is wrong, how bad it is, who sees to it, and how far they are. */
import { z } from 'zod';
import { alertSeverities } from '../alerts.ts';
import { defineCollection } from '../ports/documents.ts';
import type { Actor } from './audit-record.ts';

export const incidentStates = ['open', 'acknowledged', 'resolved', 'merged'] as const;
export type IncidentState = (typeof incidentStates)[number];

const id = z.string().min(1).max(128);

/** What callers write of an incident. */
export const IncidentFields = z.strictObject({
  title: z.string().min(1).max(256),
  summary: z.string().max(16_384).default(''),
  severity: z.enum(alertSeverities).default('error'),
  status: z
    .enum(incidentStates)
    .default('open')
    .describe('A new one is open; merged goes with mergedInto; acknowledge, resolve and reopen write it too'),
  mergedInto: id.nullable().default(null).describe('With status merged: the incident that goes on instead'),
  roles: z
    .array(z.strictObject({ role: z.string().min(1).max(64), userId: id }))
    .max(32)
    .default([])
    .describe('Who does what, such as commander or scribe; users of the organization'),
  services: z.array(z.string().min(1).max(256)).max(100).default([]).describe('Services that it is about'),
  alertIds: z.array(id).max(1000).default([]).describe('Alerts that it is about'),
  tags: z.array(z.string().min(1).max(64)).max(32).default([]),
  escalationPolicyId: id.nullable().default(null).describe('Who is paged for it; null for nobody'),
});

/** What the server writes of an incident. */
export interface IncidentTimes {
  /** Id of the user or service account who declared it; empty where alerts opened it. */
  readonly openedBy: string;
  readonly openedAt: string;
  /** Of the first time, for the time to acknowledge; it outlives reopening. */
  readonly firstAcknowledgedAt: string | null;
  /** Of the present acknowledgement; null while it is open, and kept when it is resolved. */
  readonly acknowledgedAt: string | null;
  readonly acknowledgedBy: string | null;
  readonly resolvedAt: string | null;
  readonly resolvedBy: string | null;
  readonly reopenedAt: string | null;
  /** SHA-256 of the timeline that was frozen when it was last resolved; the audit chain holds it with this document. */
  readonly evidenceHash: string | null;
  /** Group of alerts that opened it; null where it was declared. */
  readonly groupId: string | null;
  /** Rules whose alerts it has. Absent where it was declared, or an earlier version wrote it. */
  readonly ruleIds?: readonly string[];
  /** When it is looked at next who is to be paged; null for never. Absent where an earlier version wrote it last. */
  readonly escalatesAt?: string | null;
}

export type Incident = z.output<typeof IncidentFields> & IncidentTimes;

export const incidents = defineCollection<Incident>({
  name: 'incidents',
  indexes: [
    ['status'],
    ['severity'],
    ['services'],
    ['alertIds'],
    ['mergedInto'],
    ['openedAt'],
    ['groupId'],
    ['escalatesAt'],
  ],
  sorts: ['openedAt', 'createdAt', 'updatedAt', 'title'],
});

/** What somebody wrote on the timeline of an incident. */
export interface IncidentNote {
  readonly incidentId: string;
  readonly at: string;
  readonly text: string;
  readonly authorId: string;
  readonly authorType: Actor['type'];
}
export const incidentNotes = defineCollection<IncidentNote>({ name: 'incident-notes', indexes: [['incidentId']] });

/** The timeline of an incident as it was when the incident was resolved. It is never changed. */
export interface IncidentEvidence {
  readonly incidentId: string;
  readonly frozenAt: string;
  readonly sha256: string;
  /** The JSON that the hash is of. */
  readonly content: string;
}
export const incidentEvidence = defineCollection<IncidentEvidence>({
  name: 'incident-evidence',
  indexes: [['incidentId']],
});

/** What callers write of a postmortem. */
export const PostmortemFields = z.strictObject({
  impact: z.string().max(65_536).default(''),
  causes: z.string().max(65_536).default(''),
  actions: z
    .array(
      z.strictObject({
        text: z.string().min(1).max(4096),
        ownerId: id.nullable().default(null).describe('A user of the organization'),
        dueOn: z.iso.date().nullable().default(null),
        isDone: z.boolean().default(false),
      }),
    )
    .max(100)
    .default([]),
});
export type Postmortem = z.output<typeof PostmortemFields>;

/** The id is the incident's. */
export const incidentPostmortems = defineCollection<Postmortem>({ name: 'incident-postmortems' });
