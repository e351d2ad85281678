/** States of SLOs for alert rules. */
import type { Answer } from '../../../queries/answer.ts';
import type { SloQuery } from '../../../queries/query.ts';
import type { StateGroup } from '../../../queries/query-kind.ts';
import { numberOf } from '../../../queries/series-states.ts';

/** Returns the state of an SLO. A burn rate that is mostly unknown is ignored, as is one from a single bad event. */
export const sloStates = (
  { windows, figure }: SloQuery,
  { columns, rows }: Answer,
  minimumEvents: number | undefined,
): StateGroup[] =>
  rows.map((row) => {
    const at = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
    const of = (name: string): number => numberOf(at(name)) ?? 0;
    const group = { labels: {}, points: [numberOf(at(figure))] };
    if (windows === undefined || figure === 'coverage') return group;
    if (of('coverage') < 0.5) {
      const known = Math.floor(of('coverage') * 100);
      return { ...group, unknown: `${known} % of the slices of the longest window have data; 50 % are required` };
    }
    if (figure === 'sli') return group;
    const isFew = minimumEvents === undefined ? of('bad') <= 1 : of('total') < minimumEvents;
    const tooFew =
      minimumEvents === undefined
        ? `${of('bad')} bad events do not exceed 1`
        : `a total of ${of('total')} is less than the required ${minimumEvents}`;
    return { ...group, events: minimumEvents, ...(isFew && { tooFew }) };
  });
