/** Pages of a range: views, exits, errors, and how long documents take to load. */
import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import { rumReportsSource } from '../../queries/signals/rum-events-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { type LoadPhase, loadPhases } from '../../schemas/rum.ts';
import { buildEventsCondition, type RumFilter } from './scope.ts';

export const Page = z.strictObject({
  page: z.string().describe('Page group; `other` for pages beyond 1,000 groups of the application'),
  application: z.string(),
  views: z.int(),
  sessions: z.int(),
  exits: z.int().describe('Sessions whose last view in the range was of this page'),
  actions: z.int(),
  errors: z.int(),
  frustrations: z.int(),
  loads: z.int().describe('Documents with timing'),
  phases: z
    .array(z.strictObject({ phase: z.enum(loadPhases), p75: z.number(), samples: z.int() }))
    .describe(
      'In milliseconds. `domInteractive` and later phases count from the start of the navigation, the others are durations',
    ),
});
export type Page = z.output<typeof Page>;
export const pageSorts = ['views', 'sessions', 'exits', 'errors', 'frustrations', 'page'] as const;

interface Row {
  readonly page: string;
  readonly application: string;
  readonly views: string;
  readonly sessions: string;
  readonly exits: string;
  readonly actions: string;
  readonly errors: string;
  readonly frustrations: string;
  readonly loads: string;
  readonly phases: readonly (readonly [name: string, p75: number, samples: string])[];
}

/** Pages that one response can sort. */
export const maxPages = 10_000;

const isLoadPhase = (name: string): name is LoadPhase => (loadPhases as readonly string[]).includes(name);

/** Returns the pages of a range, in no order. */
export const readPages = async ({ columns }: TenantReader, range: Range, filter: RumFilter): Promise<Page[]> => {
  const { sql, parameters } = buildEventsCondition(filter, range);
  const source = `${rumReportsSource} WHERE page != '' AND ${sql}`;
  const rows = await columns.query<Row>(
    `SELECT counted.page AS page, counted.service AS application, toString(views) AS views, toString(sessions) AS sessions,
      toString(exits) AS exits, toString(actions) AS actions, toString(errors) AS errors,
      toString(frustrations) AS frustrations, toString(loads) AS loads, phases
    FROM (
      SELECT service, page, countIf(kind = 'view') AS views, uniqExactIf(session_id, session_id != '') AS sessions,
        countIf(kind = 'action') AS actions, countIf(kind = 'error') AS errors, countIf(kind = 'frustration') AS frustrations,
        countIf(notEmpty(phases)) AS loads
      FROM ${source} GROUP BY service, page LIMIT ${maxPages}
    ) AS counted
    LEFT JOIN (
      SELECT service, last_page, count() AS exits FROM (
        SELECT service, argMax(page, (timestamp, partition, offset, ordinal)) AS last_page FROM ${source} AND kind = 'view' AND session_id != '' GROUP BY service, session_id
      ) GROUP BY service, last_page
    ) AS left_at ON counted.service = left_at.service AND counted.page = left_at.last_page
    LEFT JOIN (
      SELECT service, page, groupArray((phase, p75, toString(samples))) AS phases FROM (
        SELECT service, page, phase, arraySort(groupArray(milliseconds)) AS sorted, count() AS samples, sorted[toUInt64(ceil(0.75 * samples))] AS p75
        FROM (SELECT service, page, phases FROM ${source} AND kind IN ('view', 'navigation') AND notEmpty(phases))
        ARRAY JOIN mapKeys(phases) AS phase, mapValues(phases) AS milliseconds GROUP BY service, page, phase
      ) GROUP BY service, page
    ) AS timed ON counted.service = timed.service AND counted.page = timed.page`,
    parameters,
  );
  return rows.map((row) => ({
    page: row.page,
    application: row.application,
    views: Number(row.views),
    sessions: Number(row.sessions),
    exits: Number(row.exits),
    actions: Number(row.actions),
    errors: Number(row.errors),
    frustrations: Number(row.frustrations),
    loads: Number(row.loads),
    phases: row.phases
      .flatMap(([phase, p75, samples]) => (isLoadPhase(phase) ? [{ phase, p75, samples: Number(samples) }] : []))
      .sort((left, right) => loadPhases.indexOf(left.phase) - loadPhases.indexOf(right.phase)),
  }));
};
