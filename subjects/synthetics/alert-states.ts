/** States of synthetic checks for alert rules. */
import type { Answer } from '../../queries/answer.ts';
import type { StateGroup } from '../../queries/query-kind.ts';
import { numberOf } from '../../queries/series-states.ts';

/** Returns a check and its locations. During maintenance nothing starts, and recovered alerts end. */
export const checkStates = ({ columns, rows }: Answer): StateGroup[] =>
  rows.map((row) => {
    const of = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
    const value = numberOf(of('value'));
    const reason = String(of('says'));
    const isSilent = value === null || (of('maintenance') === 1 && value !== 0);
    return {
      labels: { location: String(of('location')) },
      points: [value],
      says: { text: String(of('state')), reason },
      ...(isSilent && { unknown: reason }),
    };
  });
