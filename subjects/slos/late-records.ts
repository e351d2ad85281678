/** Which slices records came for after they had ended: these alone are measured again. */
import type { Query } from '../../queries/query.ts';
import type { Reading } from '../../queries/reading.ts';
import { signals } from '../../queries/signals/index.ts';
import type { Window } from '../../queries/slos/windows.ts';
import type { Answers } from '../../queries/together/answers.ts';
import { msOf } from '../alerts/durations.ts';
import type { SloFields } from './document.ts';
import { gathered } from './gathered.ts';

const minuteMs = 60_000;
/** Slices in between are measured again with those beside them rather than with a question of their own. */
const nearSlices = 30;
/** In more pieces than these all of a window is measured again. */
const mostPieces = 8;

type Found = 'logs' | 'traces';

/** Minutes by service. */
type LateMinutes = ReadonlyMap<string, readonly number[]>;

/**
 * Minutes of a window that records were received for since it ended. Rows that were received lately lie in few parts, and no others are read
 * (`queries/freshness.ts`).
 */
const read = async ({ columns }: Pick<Reading, 'columns'>, signal: Found, window: Window): Promise<LateMinutes> => {
  const { table } = signals[signal].newest;
  const rows = await columns.query<{ readonly name: string; readonly minutes: readonly string[] }>(
    `SELECT toString(service) AS name, arrayMap(minute -> toString(minute), groupUniqArray(intDiv(toUnixTimestamp(timestamp), 60))) AS minutes
    FROM ${table} WHERE tenant_id = {tenant:String} AND received_at >= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
      AND toStartOfTenMinutes(timestamp) >= toStartOfTenMinutes(fromUnixTimestamp64Milli({from:Int64}, 'UTC'))
      AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND timestamp < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    GROUP BY name`,
    { from: String(window.fromMs), to: String(window.toMs) },
  );
  return new Map(rows.map(({ name, minutes }) => [name, minutes.map(Number)]));
};

/** What an objective counts: of one service, or of all; undefined where that does not follow from the records of a slice alone. */
const countedOf = ({ query: { sli }, service }: SloFields): { signals: Found[]; service?: string } | undefined => {
  if (sli === undefined) return { signals: ['traces'], service };
  const asked = [sli.good, sli.bad, sli.total, sli.value].filter((query): query is Query => query !== undefined);
  const found = asked.map((query) =>
    query.kind === 'aggregate' && (query.signal === 'logs' || query.signal === 'traces') ? query.signal : undefined,
  );
  return found.includes(undefined) ? undefined : { signals: [...new Set(found as Found[])] };
};

/** Windows of whole slices that have these minutes. */
const windowsOf = (minutes: readonly number[], { fromMs, toMs }: Window, sliceMs: number): Window[] => {
  const begins = new Set(minutes.map((minute) => Math.floor((minute * minuteMs) / sliceMs) * sliceMs));
  const windows: Window[] = [];
  for (const beginMs of [...begins].toSorted((one, other) => one - other)) {
    const last = windows.at(-1);
    if (last !== undefined && beginMs - last.toMs <= nearSlices * sliceMs)
      windows[windows.length - 1] = { fromMs: last.fromMs, toMs: beginMs + sliceMs };
    else windows.push({ fromMs: beginMs, toMs: beginMs + sliceMs });
  }
  return windows.length > mostPieces ? [{ fromMs, toMs }] : windows;
};

/** What of a window is measured again. It begins and ends with slices. */
export const lateWindows = async (
  slo: SloFields,
  window: Window,
  { reading, answers }: { readonly reading: Reading; readonly answers: Answers },
): Promise<Window[]> => {
  const counted = countedOf(slo);
  // A sample of a metric says something of the slices beside it, too.
  if (counted === undefined) return [window];
  const found = await Promise.all(
    counted.signals.map((signal) =>
      gathered(answers, { key: `late ${signal} ${window.fromMs} ${window.toMs}`, member: '' }, () =>
        read(reading, signal, window),
      ),
    ),
  );
  const { service } = counted;
  const minutes = found.flatMap((each) =>
    service === undefined ? [...each.values()].flat() : (each.get(service) ?? []),
  );
  return windowsOf(minutes, window, msOf(slo.query.slice));
};
