/** Side panel of a record: every field. A click on a value filters. */
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { change, toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { markedText, shownText, textOf } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { JsonTree, treeOf } from '../../lists/json-tree.tsx';
import { Long } from '../../lists/long-text.tsx';
import { ManyFields } from '../../lists/many-fields.tsx';
import { Scrolled } from '../../lists/scrolled.tsx';
import { SidePanel } from '../../lists/side-panel.tsx';
import { type LogRecord, logCall } from './calls.ts';
import {
  columns,
  contextOf,
  facets,
  fieldsOf,
  groupBy,
  narrowed,
  patternId,
  search,
  setColumns,
  setFacets,
  setOpen,
  setSearch,
  view,
} from './log-search.ts';

const Body = ({ body }: { readonly body: unknown }) => {
  const [asText, setAsText] = useState(false);
  const tree = treeOf(body);
  return (
    <>
      <Scrolled class="body" label="Body">
        {tree === undefined || asText ? <Long text={textOf(body)} lines /> : <JsonTree of={tree} />}
      </Scrolled>
      {tree === undefined ? null : (
        <button type="button" class="mini" onClick={() => setAsText(!asText)}>
          {asText ? 'Show as tree' : 'Show as text'}
        </button>
      )}
    </>
  );
};

const Value = ({ name, value }: { readonly name: string; readonly value: unknown }) => {
  const tree = treeOf(value);
  const text = textOf(value);
  const plain = markedText(name.replace(/^attribute\./, ''));
  const filter = (not: boolean) => (): void => setSearch(narrowed(search.peek(), name, text, { not }));
  return (
    <dd>
      {tree === undefined && text.length <= 1_000 ? (
        <button type="button" class="value" title="Show only records with this value" onClick={filter(false)}>
          {shownText(text)}
        </button>
      ) : (
        <div>{tree === undefined ? <Long text={text} lines /> : <JsonTree of={tree} />}</div>
      )}
      <span class="minis">
        {tree === undefined && text.length <= 1_000 ? (
          <button type="button" class="mini" aria-label={`Exclude records with this ${plain}`} onClick={filter(true)}>
            exclude
          </button>
        ) : null}
        <button
          type="button"
          class="mini"
          aria-label={`Add column ${plain}`}
          aria-pressed={columns.value.includes(name)}
          onClick={() =>
            setColumns(
              columns.peek().includes(name)
                ? columns.peek().filter((each) => each !== name)
                : [...columns.peek(), name],
            )
          }
        >
          column
        </button>
        <button
          type="button"
          class="mini"
          aria-label={`Group records by ${plain}`}
          aria-pressed={groupBy.value === name}
          onClick={() => {
            setFacets([...facets.peek(), name]);
            change({ by: name });
          }}
        >
          group
        </button>
      </span>
    </dd>
  );
};

const Fields = ({ record }: { readonly record: LogRecord }) => (
  <ManyFields of={fieldsOf(record)} class="fields acts">
    {([name, value]) => (
      <>
        <dt>{shownText(name.replace(/^attribute\./, ''))}</dt>
        <Value name={name} value={value} />
      </>
    )}
  </ManyFields>
);

/** Links from a record to related views. */
const Ways = ({ record }: { readonly record: LogRecord }) => (
  <ul class="links">
    {contextOf.value === record.id || view.value === 'live' ? null : (
      <li>
        <button type="button" class="plain" onClick={() => change({ context: record.id })}>
          Show context
        </button>
      </li>
    )}
    {record.traceId === null ? null : (
      <li>
        <Link to={toArea(`/traces/${record.traceId}`)}>View trace</Link>
      </li>
    )}
    {record.patternId === null || patternId.value === record.patternId ? null : (
      <li>
        <Link to={toArea('/logs', { pattern: record.patternId })}>Similar logs</Link>
      </li>
    )}
  </ul>
);

/** The record with this id: from the list if it is loaded, otherwise requested. */
export const OpenRecord = ({ id, listed }: { readonly id: string; readonly listed: LogRecord | undefined }) => {
  const [query] = useState(() => new ApiQuery(logCall));
  useEffect(() => {
    if (listed === undefined) query.run({ params: { id } });
    return () => query.cancel();
  }, [id, listed === undefined]);
  const record = listed ?? query.state.value.answer;
  return (
    <SidePanel
      label="Record"
      title={record === undefined ? 'Record' : shownTime(Date.parse(record.timestamp))}
      onClose={() => setOpen('')}
    >
      {listed === undefined ? <Problem error={query.state.value.error} /> : null}
      {record === undefined ? null : (
        <>
          <Body key={`body ${id}`} body={record.body} />
          <Ways record={record} />
          <Fields key={`fields ${id}`} record={record} />
        </>
      )}
    </SidePanel>
  );
};
