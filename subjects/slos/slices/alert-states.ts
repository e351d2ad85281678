/** States of SLOs for alert rules. */
import type { Answer } from '../../../queries/answer.ts';
import type { StateGroup } from '../../../queries/query-kind.ts';
import { parseJsonNumber } from '../../../queries/series-states.ts';
import type { SloQuery } from '../query.ts';

/** Returns the state of an SLO. A burn rate that is mostly unknown is ignored, as is one from a single bad event. */
export const sloStates = (
  { windows, figure }: SloQuery,
  { columns, rows }: Answer,
  minimumEvents: number | undefined,
): StateGroup[] =>
  rows.map((row) => {
    const cellValue = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
    const numberIn = (name: string): number => parseJsonNumber(cellValue(name)) ?? 0;
    const group = { labels: {}, points: [parseJsonNumber(cellValue(figure))] };
    if (windows === undefined || figure === 'coverage') return group;
    if (numberIn('coverage') < 0.5) {
      const known = Math.floor(numberIn('coverage') * 100);
      return { ...group, unknownReason: `${known} % of the slices of the longest window have data; 50 % are required` };
    }
    if (figure === 'sli') return group;
    const isFew = minimumEvents === undefined ? numberIn('bad') <= 1 : numberIn('total') < minimumEvents;
    const ignoredReason =
      minimumEvents === undefined
        ? `${numberIn('bad')} bad events do not exceed 1`
        : `a total of ${numberIn('total')} is less than the required ${minimumEvents}`;
    return { ...group, eventCount: minimumEvents, ...(isFew && { ignoredReason }) };
  });
