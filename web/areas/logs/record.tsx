/** Side panel of a record: every field. A click on a value filters. */
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { setParams, toArea } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { markHiddenCharacters } from '../../frame/hidden-characters.ts';
import { Link } from '../../frame/link.tsx';
import { renderText, toText } from '../../frame/shown-text.tsx';
import { formatTime } from '../../frame/shown-time.ts';
import { JsonTree, parseTree } from '../../lists/json-tree.tsx';
import { LongText } from '../../lists/long-text.tsx';
import { ManyFields } from '../../lists/many-fields.tsx';
import { ScrollRegion } from '../../lists/scrolled.tsx';
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

const RecordBody = ({ body }: { readonly body: unknown }) => {
  const [isShownAsText, setIsShownAsText] = useState(false);
  const tree = parseTree(body);
  return (
    <>
      <ScrollRegion class="body" label="Body">
        {tree === undefined || isShownAsText ? <LongText text={toText(body)} lines /> : <JsonTree tree={tree} />}
      </ScrollRegion>
      {tree === undefined ? null : (
        <button type="button" class="mini" onClick={() => setIsShownAsText(!isShownAsText)}>
          {isShownAsText ? 'Show as tree' : 'Show as text'}
        </button>
      )}
    </>
  );
};

const FieldValueActions = ({ name, value }: { readonly name: string; readonly value: unknown }) => {
  const tree = parseTree(value);
  const text = toText(value);
  const plainName = markHiddenCharacters(name.replace(/^attribute\./, ''));
  const createFilterHandler = (isExcluded: boolean) => (): void =>
    changeSearch(addCondition(search.peek(), name, text, { isExcluded }));
  return (
    <dd>
      {tree === undefined && text.length <= 1_000 ? (
        <button
          type="button"
          class="value"
          title="Show only records with this value"
          onClick={createFilterHandler(false)}
        >
          {renderText(text)}
        </button>
      ) : (
        <div>{tree === undefined ? <LongText text={text} lines /> : <JsonTree tree={tree} />}</div>
      )}
      <span class="minis">
        {tree === undefined && text.length <= 1_000 ? (
          <button
            type="button"
            class="mini"
            aria-label={`Exclude records with this ${plainName}`}
            onClick={createFilterHandler(true)}
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
                ? columns.peek().filter((columnName) => columnName !== name)
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
            setParams({ by: name });
          }}
        >
          group
        </button>
      </span>
    </dd>
  );
};

const RecordFields = ({ record }: { readonly record: LogRecord }) => (
  <ManyFields fields={listFields(record)} class="fields acts">
    {([name, value]) => (
      <>
        <dt>{renderText(name.replace(/^attribute\./, ''))}</dt>
        <FieldValueActions name={name} value={value} />
      </>
    )}
  </ManyFields>
);

/** Links from a record to related views. */
const RecordLinks = ({ record }: { readonly record: LogRecord }) => (
  <ul class="links">
    {contextRecordId.value === record.id || view.value === 'live' ? null : (
      <li>
        <button type="button" class="plain" onClick={() => setParams({ context: record.id })}>
          Show context
        </button>
      </li>
    )}
    {record.traceId === null ? null : (
      <li>
        <Link url={toArea(`/traces/${record.traceId}`)}>View trace</Link>
      </li>
    )}
    {record.patternId === null || patternId.value === record.patternId ? null : (
      <li>
        <Link url={toArea('/logs', { pattern: record.patternId })}>Similar logs</Link>
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
  const record = listedRecord ?? query.state.value.response;
  return (
    <SidePanel
      label="Record"
      title={record === undefined ? 'Record' : formatTime(Date.parse(record.timestamp))}
      onClose={() => openRecord('')}
    >
      {listedRecord === undefined ? <ErrorMessage error={query.state.value.error} /> : null}
      {record === undefined ? null : (
        <>
          <RecordBody key={`body ${id}`} body={record.body} />
          <RecordLinks record={record} />
          <RecordFields key={`fields ${id}`} record={record} />
        </>
      )}
    </SidePanel>
  );
};
