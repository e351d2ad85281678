/** Records as rows with the default and selected columns */
import { toSeverityLevel } from '../../frame/severity.ts';
import { renderCellText, toText } from '../../frame/shown-text.tsx';
import { formatTime } from '../../frame/shown-time.ts';
import type { LogRecord } from './calls.ts';
import { columns, fieldValue, wraps } from './log-search.ts';

/** Maximum length of a line in the list; the side panel shows the complete record */
const [lineLength, wrappedLength] = [400, 2_000];

const truncate = (value: unknown): string => toText(value).slice(0, wraps.value ? wrappedLength : lineLength);

const columnNames = (): readonly string[] => columns.value.map((name) => name.replace(/^attribute\./, ''));
const selectedColumnWidth = 'minmax(4rem,8rem)';

/** Returns the current display settings of rows. */
export const rowLayout = () => ({
  columns: ['Time', 'Severity', 'Service', ...columnNames(), 'Body'],
  wraps: wraps.value,
  ...(columns.value.length === 0
    ? {}
    : {
        widths: `12.5rem 5.5rem 9rem ${columns.value.map(() => selectedColumnWidth).join(' ')} minmax(14rem,1fr)`,
      }),
});

const formatField = (record: LogRecord, name: string): string => {
  const value = fieldValue(record, name);
  return value === undefined || value === null ? '' : truncate(value);
};

export const renderCells = (record: LogRecord) => {
  const { timestamp, severity, service, body } = record;
  return [
    <time key="time">{formatTime(Date.parse(timestamp))}</time>,
    <span key="level" class={`text-${toSeverityLevel(severity)}`}>
      {severity}
    </span>,
    renderCellText(service),
    ...columns.value.map((name) => renderCellText(formatField(record, name))),
    renderCellText(truncate(body)),
  ];
};

export const rowClass = ({ severity }: Pick<LogRecord, 'severity'>): string => `level-${toSeverityLevel(severity)}`;
