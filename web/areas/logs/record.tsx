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
  addCondition,
  changeSearch,
  columns,
  contextRecordId,
  facets,
  groupBy,
  listFields,
  openRecord,
  patternId,
  search,
  setColumns,
  setFacets,
  view,
} from './log-search.ts';

const Body = ({ body }: { readonly body: unknown }) => {
  const [isShownAsText, setIsShownAsText] = useState(false);
  const tree = treeOf(body);
  return (
    <>
      <Scrolled class="body" label="Body">
        {tree === undefined || isShownAsText ? <Long text={textOf(body)} lines /> : <JsonTree of={tree} />}
      </Scrolled>
      {tree === undefined ? null : (
        <button type="button" class="mini" onClick={() => setIsShownAsText(!isShownAsText)}>
          {isShownAsText ? 'Show as tree' : 'Show as text'}
        </button>
      )}
    </>
  );
};

const FieldValue = ({ name, value }: { readonly name: string; readonly value: unknown }) => {
  const tree = treeOf(value);
  const text = textOf(value);
  const plainName = markedText(name.replace(/^attribute\./, ''));
  const filter = (isExcluded: boolean) => (): void =>
    changeSearch(addCondition(search.peek(), name, text, { isExcluded }));
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
          <button
            type="button"
            class="mini"
            aria-label={`Exclude records with this ${plainName}`}
            onClick={filter(true)}
          >
            exclude
          </button>
        ) : null}
        <button
          type="button"
          class="mini"
          aria-label={`Add column ${plainName}`}
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
          aria-label={`Group records by ${plainName}`}
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
  <ManyFields of={listFields(record)} class="fields acts">
    {([name, value]) => (
      <>
        <dt>{shownText(name.replace(/^attribute\./, ''))}</dt>
        <FieldValue name={name} value={value} />
      </>
    )}
  </ManyFields>
);

/** Links from a record to related views. */
const RecordLinks = ({ record }: { readonly record: LogRecord }) => (
  <ul class="links">
    {contextRecordId.value === record.id || view.value === 'live' ? null : (
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
export const OpenRecord = ({
  id,
  listedRecord,
}: {
  readonly id: string;
  readonly listedRecord: LogRecord | undefined;
}) => {
  const [query] = useState(() => new ApiQuery(logCall));
  useEffect(() => {
    if (listedRecord === undefined) query.run({ params: { id } });
    return () => query.cancel();
  }, [id, listedRecord === undefined]);
  const record = listedRecord ?? query.state.value.answer;
  return (
    <SidePanel
      label="Record"
      title={record === undefined ? 'Record' : shownTime(Date.parse(record.timestamp))}
      onClose={() => openRecord('')}
    >
      {listedRecord === undefined ? <Problem error={query.state.value.error} /> : null}
      {record === undefined ? null : (
        <>
          <Body key={`body ${id}`} body={record.body} />
          <RecordLinks record={record} />
          <Fields key={`fields ${id}`} record={record} />
        </>
      )}
    </SidePanel>
  );
};
