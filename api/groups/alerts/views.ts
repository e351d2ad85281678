/** How alerts and what became of them are shown. */
import { z } from 'zod';
import type { GroupResult } from '../../../queries/alerts/evaluate.ts';
import type { PastTransition } from '../../../queries/alerts/history.ts';
import {
  cursorParameter,
  decodeCursor,
  encodeCursor,
  integer,
  natural,
  someText,
  textIn,
  textPart,
} from '../../../queries/cursor.ts';
import { eventsRange } from '../../../queries/events/events.ts';
import { type Range, rangeParameters } from '../../../queries/range.ts';
import type { Reading } from '../../../queries/reading.ts';
import { type AlertTransition, alertSeverities, alertStates } from '../../../schemas/alerts.ts';

const labels = z.record(z.string(), z.string());

/** An instant that may be none. */
export const iso = (ms: number | string | null | undefined): string | null =>
  ms === null || ms === undefined || Number(ms) === 0 ? null : new Date(Number(ms)).toISOString();

export const TransitionView = z.strictObject({
  id: z.string(),
  alertId: z.string(),
  ruleId: z.string(),
  ruleName: z.string(),
  ruleVersion: z.int(),
  projectId: z.string(),
  at: z.string(),
  from: z.enum(alertStates),
  to: z.enum(alertStates),
  severity: z.enum(alertSeverities),
  labels,
  annotations: labels,
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  value: z.number().nullable(),
  reason: z.string().describe('Why, in a sentence'),
  isTest: z.boolean(),
});

export const shownTransition = ({ tenantId: _, atMs, startedAtMs, endedAtMs, ...told }: AlertTransition) => ({
  ...told,
  projectId: told.projectId ?? '',
  ...{
    at: new Date(atMs).toISOString(),
    startedAt: iso(startedAtMs),
    endedAt: iso(endedAtMs),
    isTest: told.isTest === true,
  },
});

export const pastTransition = (row: PastTransition): z.input<typeof TransitionView> => ({
  ...{ id: row.id, alertId: row.alert_id, ruleId: row.rule_id, ruleName: row.rule_name, ruleVersion: row.rule_version },
  ...{ projectId: row.project, at: new Date(Number(row.ms)).toISOString(), from: row.from_state, to: row.to_state },
  ...{ severity: row.severity, labels: { ...row.labels }, annotations: { ...row.annotations } },
  ...{
    startedAt: iso(row.started),
    endedAt: iso(row.ended),
    value: row.value,
    reason: row.reason,
    isTest: row.is_test,
  },
});

export const GroupView = z.strictObject({
  alertId: z.string(),
  labels: labels.describe("The group's"),
  state: z.enum(alertStates),
  severity: z.enum(alertSeverities).nullable(),
  value: z.number().nullable(),
  reason: z.string().describe('Why it is in this state, in a sentence'),
  since: z.string().nullable().describe('Since when the condition holds'),
  startedAt: z.string().nullable().describe('Since when it fires'),
});

export const shownGroup = ({ sinceMs, startedAtMs, ...group }: GroupResult): z.input<typeof GroupView> => ({
  ...group,
  ...{ labels: { ...group.labels }, since: iso(sinceMs), startedAt: iso(startedAtMs) },
});

/** Parameters of lists of what happened, the newest first. */
export const pageParameters = {
  from: rangeParameters.from.describe('Default: now-24h'),
  to: rangeParameters.to,
  limit: rangeParameters.limit,
  cursor: cursorParameter,
};

interface AskedPage {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The page that is asked for: the range lies in the cursor too. */
export const pageOf = (kind: string, query: AskedPage, reading: Reading) => {
  const { limit, cursor } = query;
  if (cursor === undefined)
    return { range: eventsRange({ ...query, from: query.from ?? 'now-24h' }, reading), limit: limit + 1 };
  const [from = '', to = '', ms = '', id = ''] = decodeCursor(kind, cursor, [integer, integer, natural, someText]);
  return { range: { from: BigInt(from), to: BigInt(to) }, limit: limit + 1, after: { ms, id: textIn(id) } };
};

/** Of one row more than was asked for: the page, and where the next one begins. */
export const cutPage = <Row extends { readonly ms: string }>(
  kind: string,
  rows: readonly Row[],
  { range, limit, idOf }: { readonly range: Range; readonly limit: number; idOf(row: Row): string },
) => {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasNext = rows.length > limit && last !== undefined;
  return {
    shown,
    nextCursor: hasNext ? encodeCursor(kind, [range.from, range.to, last.ms, textPart(idOf(last))]) : null,
  };
};
