/** Timeline of an incident: entries of several sources in one order */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Actor, type AuditRecord } from '../../schemas/resources/audit-record.ts';
import type { EscalationAction } from '../../schemas/resources/escalation.ts';
import type { IncidentNote } from '../../schemas/resources/incident.ts';
import type { DeliveryAttempt } from '../alerts/deliveries.ts';
import type { PastTransition } from '../alerts/history.ts';
import type { FeedEvent } from '../events/events.ts';

export const timelineKinds = [
  'alert',
  'acknowledgement',
  'change',
  'deployment',
  'config',
  'note',
  'page',
  'delivery',
] as const;

export const TimelineEntry = z.strictObject({
  at: z.iso.datetime(),
  kind: z.enum(timelineKinds),
  id: z.string().describe('Id, unique among the entries of its kind'),
  title: z.string(),
  text: z.string(),
  actor: Actor.nullable().describe('User who performed the action; `null` if there is none'),
  service: z.string(),
});
export type TimelineEntry = z.output<typeof TimelineEntry>;

/** Maximum number of characters of a title or text */
const maxTextLength = 2000;
const truncate = (text: string): string => text.slice(0, maxTextLength).toWellFormed();

/** Returns a key that sorts by time, then by kind and id, for a deterministic order. */
export const toSortKey = ({ at, kind, id }: Pick<TimelineEntry, 'at' | 'kind' | 'id'>): string =>
  `${at} ${timelineKinds.indexOf(kind)} ${id}`;

/** Returns the entries in their defined order, without duplicates. */
export const sortEntries = (entries: readonly TimelineEntry[]): TimelineEntry[] =>
  [...new Map(entries.map((entry) => [toSortKey(entry), entry])).entries()]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, entry]) => entry);

export const toNoteEntry = ({ id, at, text, authorId, authorType }: IncidentNote & { id: string }): TimelineEntry => ({
  at,
  kind: 'note',
  id,
  title: 'note',
  text,
  service: '',
  actor: { type: authorType, id: authorId },
});

export const toTransitionEntry = (row: PastTransition): TimelineEntry => ({
  at: new Date(Number(row.ms)).toISOString(),
  kind: 'alert',
  id: row.id,
  actor: null,
  title: truncate(`${row.rule_name}: ${row.from_state} to ${row.to_state}`),
  text: truncate(row.reason),
  service: truncate(row.labels.service ?? ''),
});

const skipReasons = { 'outside-hours': 'it is outside its active hours', 'nobody-on-call': 'nobody is on call' };

/** Formats the recipient of a page: a channel, or a user with the contact through which the user is paged. */
export const formatRecipient = ({ name, contact }: NonNullable<EscalationAction['to']>): string =>
  contact === undefined ? name : `${name} by ${contact}`;

const formatActionTitle = ({ kind, step, reason, to }: EscalationAction): string => {
  switch (kind) {
    case 'page':
      return `paged ${to === null ? '' : formatRecipient(to)}`;
    case 'step-skipped':
      return `step ${(step ?? 0) + 1} was skipped: ${skipReasons[reason ?? 'nobody-on-call']}`;
    case 'owners-paged':
      return 'no step reached anyone: the owners are paged';
    case 'nobody-reached':
      return 'nobody could be paged, including the owners';
    case 'acknowledgement-timed-out':
      return 'the acknowledgement timed out: escalation continues';
  }
};

/** Returns the entry of a queued page, or of a step that paged nobody. */
export const toActionEntry = (action: EscalationAction & { readonly id: string }): TimelineEntry => {
  const { id, at, round, step } = action;
  const text = step === null ? `round ${round + 1}` : `step ${step + 1}, round ${round + 1}`;
  return { at, kind: 'page', id, title: truncate(formatActionTitle(action)), text, actor: null, service: '' };
};

/** Returns the entry of a page's delivery result. */
export const toDeliveryEntry = ({ id, attempt, ms, state, answer }: DeliveryAttempt, name: string): TimelineEntry => ({
  at: new Date(Number(ms)).toISOString(),
  kind: 'delivery',
  id: `${id}/${attempt}`,
  actor: null,
  service: '',
  title: truncate(`page of ${name}: ${state}`),
  text: truncate(answer),
});

/** Returns the entry of a deployment or configuration change. */
export const toEventEntry = (event: FeedEvent): TimelineEntry => ({
  at: new Date(event.time).toISOString(),
  kind: event.kind === 'deployment' ? 'deployment' : 'config',
  id: event.id,
  actor: event.actor,
  title: truncate(event.title),
  text: truncate(event.text),
  service: event.service,
});

const formatValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Returns the entry of a change to the incident itself, from the audit log. */
export const toAuditEntry = ({ id, at, action, actor, details }: AuditRecord & { id: string }): TimelineEntry => {
  const changes = details?.changes ?? [];
  const isAcknowledged = changes.some(({ path, after }) => path === 'status' && after === 'acknowledged');
  const changeLines = changes
    .filter(({ path }) => !['', 'evidenceHash', 'escalatesAt'].includes(path))
    .map(({ path, after }) => `${path}: ${after === undefined ? 'removed' : formatValue(after)}`);
  return {
    at,
    kind: isAcknowledged ? 'acknowledgement' : 'change',
    id,
    actor,
    service: '',
    title: action,
    text: truncate(changeLines.join('\n')),
  };
};

/** Returns a timeline for permanent storage: its text and the hash of that text. */
export const freezeTimeline = (
  entries: readonly TimelineEntry[],
): { readonly content: string; readonly sha256: string } => {
  const content = JSON.stringify(entries);
  return { content, sha256: createHash('sha256').update(content).digest('hex') };
};

/** Returns the entries of a stored timeline, and whether its text still matches the hash. */
export const restoreTimeline = (
  content: string,
  sha256: string,
): { readonly entries: readonly TimelineEntry[]; readonly isIntact: boolean } => {
  const isIntact = createHash('sha256').update(content).digest('hex') === sha256;
  const parsed = z.array(TimelineEntry).safeParse(isIntact ? JSON.parse(content) : []);
  return { entries: parsed.success ? parsed.data : [], isIntact };
};
