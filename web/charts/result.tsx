/** Query result as lines or a table */

import type { Result } from '../../queries/result.ts';
import { shownText, textOf } from '../frame/shown-text.tsx';
import { shownTime } from '../frame/shown-time.ts';
import { Scrolled } from '../lists/scrolled.tsx';
import { TableHeader } from '../lists/table-header.tsx';
import { Lines } from './lines.tsx';
import { numberOf } from './reduce.ts';
import { linesOf, shownValue } from './values.ts';

/** Maximum number of displayed rows */
const maxRows = 500;

const shownIn = ({ type, unit }: Result['columns'][number], value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (type === 'time') return shownTime(typeof value === 'number' ? value : Date.parse(String(value)));
  if (type === 'number' || type === 'duration') return shownValue(numberOf(value), unit) || textOf(value);
  return textOf(value);
};

export const ResultShown = ({ result, title }: { readonly result: Result; readonly title: string }) => {
  const { form, columns, rows, stepMs } = result;
  if (form === 'series') {
    const { steps, lines } = linesOf(result);
    return <Lines title={title} steps={steps} lines={lines} stepMs={stepMs ?? 0} unit={result.series[0]?.unit ?? ''} />;
  }
  return (
    <Scrolled class="scrolled" label={`Result: ${title}`}>
      <table class="figures texts">
        <TableHeader columns={columns.map(({ name }) => name)} />
        <tbody>
          {rows.slice(0, maxRows).map((row, index) => (
            // Rows have no unique id.
            <tr key={`${index}`}>
              {columns.map((column, at) => (
                <td key={column.name} class={column.type === 'number' || column.type === 'duration' ? 'number' : ''}>
                  <bdi>{shownText(shownIn(column, row[at]))}</bdi>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > maxRows ? <p class="soft">First {maxRows} rows shown.</p> : null}
    </Scrolled>
  );
};
