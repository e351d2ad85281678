/** The timeline of an incident: what several sources tell, in one order. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Actor, type AuditRecord } from '../../schemas/resources/audit-record.ts';
import type { EscalationAction } from '../../schemas/resources/escalation.ts';
import type { IncidentNote } from '../../schemas/resources/incident.ts';
import type { PageStep } from '../alerts/deliveries.ts';
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
  id: z.string().describe('Unique among the entries of its kind'),
  title: z.string(),
  text: z.string(),
  actor: Actor.nullable().describe('Who did it; null where nobody did'),
  service: z.string(),
});
export type TimelineEntry = z.output<typeof TimelineEntry>;

/** Entries of one source are told in this many characters at most. */
const maxTextLength = 2000;
const cut = (text: string): string => text.slice(0, maxTextLength).toWellFormed();

/** Sorts by time, then by kind and id, so that the order is one. */
export const placeOf = ({ at, kind, id }: Pick<TimelineEntry, 'at' | 'kind' | 'id'>): string =>
  `${at} ${timelineKinds.indexOf(kind)} ${id}`;

/** Entries in their one order, each once. */
export const inOrder = (entries: readonly TimelineEntry[]): TimelineEntry[] =>
  [...new Map(entries.map((entry) => [placeOf(entry), entry])).entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, entry]) => entry);

export const noteEntry = ({ id, at, text, authorId, authorType }: IncidentNote & { id: string }): TimelineEntry => ({
  at,
  kind: 'note',
  id,
  title: 'note',
  text,
  service: '',
  actor: { type: authorType, id: authorId },
});

export const transitionEntry = (row: PastTransition): TimelineEntry => ({
  at: new Date(Number(row.ms)).toISOString(),
  kind: 'alert',
  id: row.id,
  actor: null,
  title: cut(`${row.rule_name}: ${row.from_state} to ${row.to_state}`),
  text: cut(row.reason),
  service: cut(row.labels.service ?? ''),
});

const skippedAs = { 'outside-hours': 'it is outside its hours', 'nobody-on-call': 'it reaches nobody' };

/** Whom a page is for: a channel, a person by mail to the account, or a person by a contact. */
export const calledOf = ({ name, contact }: NonNullable<EscalationAction['to']>): string =>
  contact === undefined ? name : `${name} by ${contact}`;

const formatActionTitle = ({ kind, step, reason, to }: EscalationAction): string => {
  switch (kind) {
    case 'page':
      return `paged ${to === null ? '' : calledOf(to)}`;
    case 'step-skipped':
      return `step ${(step ?? 0) + 1} was skipped: ${skippedAs[reason ?? 'nobody-on-call']}`;
    case 'owners-paged':
      return 'no step reached anybody: the owners are paged';
    case 'nobody-reached':
      return 'nobody could be paged, the owners neither';
    case 'acknowledgement-timed-out':
      return 'the acknowledgement timed out: escalation goes on';
  }
};

/** Of a page that was queued, or why a step paged nobody. */
export const toActionEntry = (action: EscalationAction & { readonly id: string }): TimelineEntry => {
  const { id, at, round, step } = action;
  const text = step === null ? `round ${round + 1}` : `step ${step + 1}, round ${round + 1}`;
  return { at, kind: 'page', id, title: cut(formatActionTitle(action)), text, actor: null, service: '' };
};

/** Of what became of a page. */
export const deliveryEntry = ({ id, attempt, ms, state, answer }: PageStep, name: string): TimelineEntry => ({
  at: new Date(Number(ms)).toISOString(),
  kind: 'delivery',
  id: `${id}/${attempt}`,
  actor: null,
  service: '',
  title: cut(`page of ${name}: ${state}`),
  text: cut(answer),
});

/** Of a deployment, or of a change of configuration. */
export const eventEntry = (event: FeedEvent): TimelineEntry => ({
  at: new Date(event.time).toISOString(),
  kind: event.kind === 'deployment' ? 'deployment' : 'config',
  id: event.id,
  actor: event.actor,
  title: cut(event.title),
  text: cut(event.text),
  service: event.service,
});

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Of what somebody changed about the incident itself, as the audit log has it. */
export const recordEntry = ({ id, at, action, actor, details }: AuditRecord & { id: string }): TimelineEntry => {
  const changes = details?.changes ?? [];
  const isAcknowledged = changes.some(({ path, after }) => path === 'status' && after === 'acknowledged');
  const named = changes
    .filter(({ path }) => !['', 'evidenceHash', 'escalatesAt'].includes(path))
    .map(({ path, after }) => `${path}: ${after === undefined ? 'removed' : shown(after)}`);
  return {
    at,
    kind: isAcknowledged ? 'acknowledgement' : 'change',
    id,
    actor,
    service: '',
    title: action,
    text: cut(named.join('\n')),
  };
};

/** A timeline as it is kept for good: its text, and the hash of that. */
export const frozen = (entries: readonly TimelineEntry[]): { readonly content: string; readonly sha256: string } => {
  const content = JSON.stringify(entries);
  return { content, sha256: createHash('sha256').update(content).digest('hex') };
};

/** The entries of a frozen timeline, and whether its text still has the hash. */
export const thawed = (
  content: string,
  sha256: string,
): { readonly entries: readonly TimelineEntry[]; readonly isIntact: boolean } => {
  const isIntact = createHash('sha256').update(content).digest('hex') === sha256;
  const read = z.array(TimelineEntry).safeParse(isIntact ? JSON.parse(content) : []);
  return { entries: read.success ? read.data : [], isIntact };
};
