/** Data table of a chart */
import { useState } from 'preact/hooks';
import { renderText } from '../frame/display-text.tsx';
import { formatTime } from '../frame/format-time.ts';
import { ScrollRegion } from '../lists/scroll-region.tsx';
import type { Line } from './values.ts';

/** Maximum number of series in the data table */
const maxColumns = 20;

/** Data table of a chart, rendered when it is opened */
export const ChartDataTable = ({
  steps,
  lines,
  name = 'the chart',
  isOpen: isInitiallyOpen = false,
  formatCell,
}: {
  /** Epoch milliseconds. */
  readonly steps: readonly number[];
  readonly lines: readonly Line[];
  /** Label of the table, if a view has several */
  readonly name?: string;
  readonly isOpen?: boolean;
  /** Formats a value of the line at an index */
  readonly formatCell: (value: number | undefined, index: number) => string;
}) => {
  const [isOpen, setIsOpen] = useState(isInitiallyOpen);
  return (
    <details class="numbers-of" open={isInitiallyOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>Data table</summary>
      {isOpen ? (
        <ScrollRegion class="numbers" label={`Data of ${name}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">From</th>
                {lines.slice(0, maxColumns).map(({ name }) => (
                  <th key={name} scope="col">
                    {renderText(name)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {steps.map((step, index) => (
                <tr key={step}>
                  <td>{formatTime(step)}</td>
                  {lines.slice(0, maxColumns).map(({ name, values }, column) => (
                    <td key={name}>{formatCell(values[index], column)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {lines.length > maxColumns ? <p class="soft">Only the first {maxColumns} series are shown.</p> : null}
        </ScrollRegion>
      ) : null}
    </details>
  );
};
