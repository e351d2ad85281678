/** States of synthetic checks for alert rules. */
import type { Answer } from '../../queries/answer.ts';
import type { StateGroup } from '../../queries/query-kind.ts';
import { parseJsonNumber } from '../../queries/series-states.ts';

/** Returns a check and its locations. During maintenance nothing starts, and recovered alerts end. */
export const toCheckStates = ({ columns, rows }: Answer): StateGroup[] =>
  rows.map((row) => {
    const cellValue = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
    const value = parseJsonNumber(cellValue('value'));
    const reason = String(cellValue('says'));
    const isUnknown = value === null || (cellValue('maintenance') === 1 && value !== 0);
    return {
      labels: { location: String(cellValue('location')) },
      points: [value],
      explanation: { text: String(cellValue('state')), reason },
      ...(isUnknown && { unknownReason: reason }),
    };
  });
