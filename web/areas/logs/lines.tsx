/** Records as rows with the default and selected columns */
import { levelOf } from '../../frame/severity.ts';
import { inCell, textOf } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import type { LogRecord } from './calls.ts';
import { columns, valueIn, wraps } from './log-search.ts';

/** Maximum length of a line in the list; the side panel shows the complete record */
const [lineLength, wrappedLength] = [400, 2_000];

const cut = (value: unknown): string => textOf(value).slice(0, wraps.value ? wrappedLength : lineLength);

const names = (): readonly string[] => columns.value.map((name) => name.replace(/^attribute\./, ''));
const widthOfChosen = 'minmax(4rem,8rem)';

/** Returns the current display settings of rows. */
export const lineForm = () => ({
  columns: ['Time', 'Severity', 'Service', ...names(), 'Body'],
  wraps: wraps.value,
  ...(columns.value.length === 0
    ? {}
    : {
        widths: `12.5rem 5.5rem 9rem ${columns.value.map(() => widthOfChosen).join(' ')} minmax(14rem,1fr)`,
      }),
});

const shown = (record: LogRecord, name: string): string => {
  const value = valueIn(record, name);
  return value === undefined || value === null ? '' : cut(value);
};

export const cellsOf = (record: LogRecord) => {
  const { timestamp, severity, service, body } = record;
  return [
    <time key="time">{shownTime(Date.parse(timestamp))}</time>,
    <span key="level" class={`text-${levelOf(severity)}`}>
      {severity}
    </span>,
    inCell(service),
    ...columns.value.map((name) => inCell(shown(record, name))),
    inCell(cut(body)),
  ];
};

export const classOf = ({ severity }: Pick<LogRecord, 'severity'>): string => `level-${levelOf(severity)}`;
