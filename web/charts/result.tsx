/** Query result as a line chart or a table */

import type { Result } from '../../queries/result.ts';
import { renderText, toText } from '../frame/display-text.tsx';
import { formatTime } from '../frame/format-time.ts';
import { ScrollRegion } from '../lists/scroll-region.tsx';
import { TableHeader } from '../lists/table-header.tsx';
import { LineChart } from './lines.tsx';
import { toNumberOrUndefined } from './reduce.ts';
import { formatQuantity, toLines } from './values.ts';

/** Maximum number of displayed rows */
const maxRows = 500;

const formatCell = ({ type, unit }: Result['columns'][number], value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (type === 'time') return formatTime(typeof value === 'number' ? value : Date.parse(String(value)));
  if (type === 'number' || type === 'duration')
    return formatQuantity(toNumberOrUndefined(value), unit) || toText(value);
  return toText(value);
};

export const ResultView = ({ result, title }: { readonly result: Result; readonly title: string }) => {
  const { form, columns, rows, stepMs } = result;
  if (form === 'series') {
    const { steps, lines } = toLines(result);
    return (
      <LineChart
        title={title}
        steps={steps}
        lines={lines}
        stepMs={stepMs ?? 0}
        partialSteps={result.partialSteps}
        unit={result.series[0]?.unit ?? ''}
      />
    );
  }
  return (
    <ScrollRegion class="scrolled" label={`Result: ${title}`}>
      <table class="figures texts">
        <TableHeader columns={columns.map(({ name }) => name)} />
        <tbody>
          {rows.slice(0, maxRows).map((row, index) => (
            // Rows have no unique id.
            <tr key={`${index}`}>
              {columns.map((column, at) => (
                <td key={column.name} class={column.type === 'number' || column.type === 'duration' ? 'number' : ''}>
                  <bdi>{renderText(formatCell(column, row[at]))}</bdi>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > maxRows ? <p class="soft">Only the first {maxRows} rows are shown.</p> : null}
    </ScrollRegion>
  );
};
