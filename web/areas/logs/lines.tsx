/** Records as rows with the default and selected columns */

import { renderCellText, toText } from '../../frame/display-text.tsx';
import { toSeverityLevel } from '../../frame/severity.ts';
import { TimeCell } from '../../frame/time-cell.tsx';
import type { LogRecord } from './calls.ts';
import { columns, getFieldValue, isWrapped } from './log-search.ts';

/** Maximum length of a line in the list; the side panel shows the complete record */
const [maxLineLength, maxWrappedLength] = [400, 2_000];

const truncate = (value: unknown): string => toText(value).slice(0, isWrapped.value ? maxWrappedLength : maxLineLength);

const getColumnNames = (): readonly string[] => columns.value.map((name) => name.replace(/^attribute\./, ''));
const selectedColumnWidth = 'minmax(4rem,8rem)';

/** Returns the current display settings of rows. */
export const getRowLayout = () => ({
  columns: ['Time', 'Severity', 'Service', ...getColumnNames(), 'Body'],
  wraps: isWrapped.value,
  ...(columns.value.length === 0
    ? {}
    : {
        widths: `12.5rem 5.5rem 9rem ${columns.value.map(() => selectedColumnWidth).join(' ')} minmax(14rem,1fr)`,
      }),
});

const formatField = (record: LogRecord, name: string): string => {
  const value = getFieldValue(record, name);
  return value === undefined || value === null ? '' : truncate(value);
};

export const renderCells = (record: LogRecord) => {
  const { timestamp, severity, service, body } = record;
  return [
    <TimeCell key="time" ms={Date.parse(timestamp)} />,
    <span key="level" class={`text-${toSeverityLevel(severity)}`}>
      {severity === null ? '' : renderCellText(severity)}
    </span>,
    renderCellText(service),
    ...columns.value.map((name) => renderCellText(formatField(record, name))),
    renderCellText(truncate(body)),
  ];
};

export const getRowClass = ({ severity }: Pick<LogRecord, 'severity'>): string => `level-${toSeverityLevel(severity)}`;
