/** Incidents: problem, severity, responders and status. */
import { z } from 'zod';
import { alertSeverities } from '../alerts.ts';
import type { NotifiedAlert } from '../notifications.ts';
import { defineCollection } from '../ports/documents.ts';
import type { Actor } from './audit-record.ts';

export const incidentStates = ['open', 'acknowledged', 'resolved', 'merged'] as const;
export type IncidentState = (typeof incidentStates)[number];

const idSchema = z.string().min(1).max(128);

/** Fields of an incident that callers write. */
export const IncidentFields = z.strictObject({
  title: z.string().min(1).max(256),
  summary: z.string().max(16_384).default(''),
  severity: z.enum(alertSeverities).default('error'),
  status: z
    .enum(incidentStates)
    .default('open')
    .describe(
      'Status; `open` for a new incident. `merged` requires mergedInto. The acknowledge, resolve and reopen operations change it as well',
    ),
  mergedInto: idSchema.nullable().default(null).describe('For the status merged: the incident that continues'),
  roles: z
    .array(z.strictObject({ role: z.string().min(1).max(64), userId: idSchema }))
    .max(32)
    .default([])
    .describe('Assigned roles, such as commander or scribe; users of the organization'),
  services: z.array(z.string().min(1).max(256)).max(100).default([]).describe('Affected services'),
  alertIds: z.array(idSchema).max(1000).default([]).describe('Alerts of the incident'),
  tags: z.array(z.string().min(1).max(64)).max(32).default([]),
  escalationPolicyId: idSchema.nullable().default(null).describe('Escalation policy; `null` to page nobody'),
});

/** Fields of an incident that the server writes. */
export interface IncidentTimes {
  /** ID of the user or service account that declared the incident; empty if alerts opened it. */
  readonly openedBy: string;
  readonly openedAt: string;
  /** Time of the first acknowledgement, for the time to acknowledge. Reopening preserves it. */
  readonly firstAcknowledgedAt: string | null;
  /** Time of the current acknowledgement; null while open, and preserved after the resolution. */
  readonly acknowledgedAt: string | null;
  readonly acknowledgedBy: string | null;
  readonly resolvedAt: string | null;
  readonly resolvedBy: string | null;
  readonly reopenedAt: string | null;
  /** SHA-256 of the timeline at the last resolution. The audit chain contains it with this document. */
  readonly evidenceHash: string | null;
  /** Alert group that opened the incident; null if it was declared. */
  readonly groupId: string | null;
  /** Rules of the incident's alerts. Absent if it was declared, or if an earlier version wrote the document. */
  readonly ruleIds?: readonly string[];
  /** The first alerts as they were notified, for pages. Absent like `ruleIds`. */
  readonly notifiedAlerts?: readonly NotifiedAlert[];
  /** Time of the next escalation check; null for never. Absent if an earlier version wrote the document last. */
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

/** A note on the timeline of an incident. */
export interface IncidentNote {
  readonly incidentId: string;
  readonly at: string;
  readonly text: string;
  readonly authorId: string;
  readonly authorType: Actor['type'];
}
export const incidentNotes = defineCollection<IncidentNote>({ name: 'incident-notes', indexes: [['incidentId']] });

/** The timeline of an incident at its resolution. Immutable. */
export interface IncidentEvidence {
  readonly incidentId: string;
  readonly frozenAt: string;
  readonly sha256: string;
  /** The JSON that is hashed. */
  readonly content: string;
}
export const incidentEvidence = defineCollection<IncidentEvidence>({
  name: 'incident-evidence',
  indexes: [['incidentId']],
});

/** Fields of a postmortem that callers write. */
export const PostmortemFields = z.strictObject({
  impact: z.string().max(65_536).default(''),
  causes: z.string().max(65_536).default(''),
  actions: z
    .array(
      z.strictObject({
        text: z.string().min(1).max(4096),
        ownerId: idSchema.nullable().default(null).describe('Owner, a user of the organization'),
        dueOn: z.iso.date().nullable().default(null),
        isDone: z.boolean().default(false),
      }),
    )
    .max(100)
    .default([]),
});
export type Postmortem = z.output<typeof PostmortemFields>;

/** The ID is that of the incident. */
export const incidentPostmortems = defineCollection<Postmortem>({ name: 'incident-postmortems' });
