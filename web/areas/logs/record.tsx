/** One record beside the list: every field, and what stood before and after it. A click on a value filters. */
import { useEffect, useState } from 'preact/hooks';
import { Question } from '../../client/question.ts';
import { toArea } from '../../frame/address.ts';
import { Link } from '../../frame/link.tsx';
import { shownText, textOf } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { Problem } from '../../frame/standing.tsx';
import { Beside } from '../../lists/beside.tsx';
import { Scrolled } from '../../lists/scrolled.tsx';
import { contextCall, type LogRecord, logCall } from './calls.ts';
import { narrowed, search, setOpen, setSearch } from './log-search.ts';

/** Name as searches spell it, and value, of all that a record has. */
const fieldsOf = (record: LogRecord): (readonly [name: string, value: unknown])[] => [
  ['service', record.service],
  ['severity', record.severity],
  ['traceId', record.traceId],
  ['spanId', record.spanId],
  ['eventName', record.eventName],
  ['projectId', record.projectId],
  ['scope.name', record.scope.name],
  ...Object.entries(record.attributes).map(([name, value]) => [`attribute.${name}`, value] as const),
  ...Object.entries(record.resource).map(([name, value]) => [`resource.${name}`, value] as const),
];

const Value = ({ name, value }: { readonly name: string; readonly value: unknown }) => {
  const text = textOf(value);
  const filter = (not: boolean) => (): void => setSearch(narrowed(search.peek(), name, text, { not }));
  return (
    <dd>
      <button type="button" class="value" title="Show only records with this value" onClick={filter(false)}>
        {shownText(text)}
      </button>
      <button type="button" class="plain" aria-label={`Leave out records with this ${name}`} onClick={filter(true)}>
        Leave out
      </button>
    </dd>
  );
};

const Fields = ({ record }: { readonly record: LogRecord }) => (
  <dl class="fields">
    {fieldsOf(record)
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => (
        <div key={name}>
          <dt>{shownText(name.replace(/^attribute\./, ''))}</dt>
          <Value name={name} value={value} />
        </div>
      ))}
  </dl>
);

const Around = ({ id }: { readonly id: string }) => {
  const [asked] = useState(() => new Question(contextCall));
  useEffect(() => () => asked.cancel(), []);
  const { answer, error, isAsking } = asked.standing.value;
  if (answer === undefined)
    return (
      <>
        <button type="button" disabled={isAsking} onClick={() => asked.ask({ params: { id }, query: {} })}>
          Show what stood before and after
        </button>
        <Problem error={error} />
      </>
    );
  const lines = [...(answer.before?.items ?? [])].reverse();
  return (
    <ol class="around" aria-label="Records before and after">
      {[...lines, answer.record, ...(answer.after?.items ?? [])].map((record) => (
        <li key={record.id} aria-current={record.id === id}>
          <time>{shownTime(Date.parse(record.timestamp), { withDate: false })}</time> {shownText(textOf(record.body))}
        </li>
      ))}
    </ol>
  );
};

/** The record with this id: from the list where it is there, else asked for. */
export const OpenRecord = ({ id, listed }: { readonly id: string; readonly listed: LogRecord | undefined }) => {
  const [asked] = useState(() => new Question(logCall));
  useEffect(() => {
    if (listed === undefined) asked.ask({ params: { id } });
    return () => asked.cancel();
  }, [id, listed === undefined]);
  const record = listed ?? asked.standing.value.answer;
  return (
    <Beside
      label="Record"
      title={record === undefined ? 'Record' : shownTime(Date.parse(record.timestamp))}
      onClose={() => setOpen('')}
    >
      {listed === undefined ? <Problem error={asked.standing.value.error} /> : null}
      {record === undefined ? null : (
        <>
          <Scrolled class="body" label="Body">
            {shownText(textOf(record.body), { lines: true })}
          </Scrolled>
          {record.traceId === null ? null : (
            <p>
              <Link to={toArea(`/traces/${record.traceId}`)}>Open its trace</Link>
            </p>
          )}
          <Around key={id} id={id} />
          <Fields record={record} />
        </>
      )}
    </Beside>
  );
};
