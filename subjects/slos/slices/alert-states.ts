/** States of SLOs for alert rules. */

import type { StateGroup } from '../../../queries/query-kind.ts';
import type { ResultData } from '../../../queries/query-result.ts';
import { parseJsonNumber } from '../../../queries/series-states.ts';
import type { SloQuery } from '../query.ts';

/**
 * Returns the state of an SLO. A burn rate is ignored if most of its slices have no data, or if only one event was
 * bad.
 */
export const toSloStates = (
  { windows, figure }: SloQuery,
  { columns, rows }: ResultData,
  minimumEvents: number | undefined,
): StateGroup[] =>
  rows.map((row) => {
    const getCellValue = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
    const getNumber = (name: string): number => parseJsonNumber(getCellValue(name)) ?? 0;
    const group = { labels: {}, points: [parseJsonNumber(getCellValue(figure))] };
    if (windows === undefined || figure === 'coverage') return group;
    if (getNumber('coverage') < 0.5) {
      const coveragePercent = Math.floor(getNumber('coverage') * 100);
      return {
        ...group,
        unknownReason: `${coveragePercent} % of the slices of the longest window have data; 50 % are required`,
      };
    }
    if (figure === 'sli') return group;
    const hasTooFewEvents = minimumEvents === undefined ? getNumber('bad') <= 1 : getNumber('total') < minimumEvents;
    const ignoredReason =
      minimumEvents === undefined
        ? `${getNumber('bad')} bad events do not exceed 1`
        : `a total of ${getNumber('total')} is less than the required ${minimumEvents}`;
    return { ...group, eventCount: minimumEvents, ...(hasTooFewEvents && { ignoredReason }) };
  });
