/** States of synthetic checks for alert rules. */

import type { StateGroup } from '../../queries/query-kind.ts';
import type { ResultData } from '../../queries/query-result.ts';
import { parseJsonNumber } from '../../queries/series-states.ts';

/**
 * Returns the states of a check and its locations. During maintenance, no alert starts, and alerts that recovered
 * end.
 */
export const toCheckStates = ({ columns, rows }: ResultData): StateGroup[] =>
  rows.map((row) => {
    const getCellValue = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
    const value = parseJsonNumber(getCellValue('value'));
    const reason = String(getCellValue('says'));
    const isUnknown = value === null || (getCellValue('maintenance') === 1 && value !== 0);
    return {
      labels: { location: String(getCellValue('location')) },
      points: [value],
      explanation: { text: String(getCellValue('state')), reason },
      ...(isUnknown && { unknownReason: reason }),
    };
  });
