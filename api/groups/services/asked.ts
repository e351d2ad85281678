/** What the operations over services share: how a range, a scope and a page are asked for. */
import { decodeCursor, integer } from '../../../queries/cursor.ts';
import { type ProjectScope, requireProjectScope } from '../../../queries/project-scope.ts';
import { type Range, rangeOf, refuseBeyondRetention } from '../../../queries/range.ts';
import type { Reading } from '../../../queries/reading.ts';
import { minutesOf } from '../../../queries/services/minutes.ts';
import type { Caller } from '../../identity/caller.ts';
import { invalid } from '../../kernel/errors.ts';
import type { Ports } from '../../kernel/ports.ts';

export const readingOf = (caller: Caller, { columns, clock }: Pick<Ports, 'columns' | 'clock'>): Reading => ({
  columns: columns.of(caller.tenantId),
  plan: caller.plan,
  nowMs: clock.now(),
});

interface Asked extends ProjectScope {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
}

const hourNs = 3_600_000_000_000n;

/** The whole minutes that are asked for, and where a page begins: a cursor of the list `kind` holds the minutes too. */
export const minutesAsked = (
  kind: string,
  query: Asked,
  reading: Reading,
): { readonly minutes: Range; readonly after: unknown } => {
  requireProjectScope(query);
  const { nowMs } = reading;
  const read = { caller: reading, signal: 'traces', nowMs } as const;
  if (query.cursor === undefined) return { minutes: minutesOf(rangeOf(query, read), nowMs), after: undefined };
  const [from = '', to = '', part = ''] = decodeCursor(kind, query.cursor, [integer, integer, /^[\w-]+$/]);
  const minutes = { from: BigInt(from), to: BigInt(to) };
  refuseBeyondRetention(minutes, { ...read, graceNs: hourNs });
  return { minutes, after: partOf(part) };
};

/** Names of any text as one part of a cursor. */
export const cursorPart = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const partOf = (part: string): unknown => {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    throw notOfThisList();
  }
};

/** 400 for a cursor that another list, or nobody, gave. */
export const notOfThisList = () => invalid('cursor', 'is not a cursor of this list');
