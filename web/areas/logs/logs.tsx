/** Logs: search, counts by time, the list, and a record beside it. */
import { useEffect } from 'preact/hooks';
import { useEscape } from '../../frame/escape.ts';
import { Search } from '../../frame/search.tsx';
import { levelOf } from '../../frame/severity.ts';
import { shownText, textOf } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { Freshness, Problem } from '../../frame/standing.tsx';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { Found } from '../../lists/found.tsx';
import type { LogRecord } from './calls.ts';
import { LogHistogram } from './histogram.tsx';
import { askLogs, histogram, list, openId, order, search, setOpen, setSearch } from './log-search.ts';
import { OpenRecord } from './record.tsx';

/** A line of the list; the record beside it has the rest. */
const lineLength = 400;

const cellsOf = ({ timestamp, severity, service, body }: LogRecord) => [
  <time key="time">{shownTime(Date.parse(timestamp))}</time>,
  <span key="level" class={`text-${levelOf(severity)}`}>
    {severity}
  </span>,
  <bdi key="service">{shownText(service)}</bdi>,
  <bdi key="body">{shownText(textOf(body).slice(0, lineLength))}</bdi>,
];

const Listed = () => (
  <Found
    of={list}
    nothing="No records were found."
    label="Log records"
    class="records"
    columns={['Time', 'Severity', 'Service', 'Body']}
    keyOf={({ id }) => id}
    classOf={({ severity }) => `level-${levelOf(severity)}`}
    cellsOf={cellsOf}
    open={openId.value}
    onOpen={setOpen}
  />
);

export const Logs = () => {
  const { from, to } = writtenRange.value;
  useEffect(askLogs, [from, to, search.value, order.value, refreshes.value]);
  useEffect(
    () => () => {
      list.cancel();
      histogram.cancel();
    },
    [],
  );
  useEscape(() => {
    if (openId.peek() !== '') setOpen('');
  });
  const { error } = list.first.standing.value;
  const atSearch = error?.of('search');
  const id = openId.value;
  return (
    <div class="logs">
      <h1 class="sr-only">Logs</h1>
      <Search
        key={search.value}
        label="Search logs"
        placeholder="declined service:payments -severity:info"
        value={search.value}
        problem={atSearch}
        onSearch={setSearch}
      />
      {atSearch === undefined ? <Problem error={error} /> : null}
      <LogHistogram answer={histogram.standing.value.answer} />
      <div class={id === '' ? 'list' : 'list with-record'}>
        <Listed />
        {id === '' ? null : <OpenRecord id={id} listed={list.items.value.find((record) => record.id === id)} />}
      </div>
      <Problem error={list.furtherError.value} />
      <Freshness of={list.first.standing.value} />
    </div>
  );
};
