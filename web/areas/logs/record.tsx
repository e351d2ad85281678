/** Side panel of a record: every field. A click on a value filters. */
import { Minus, Plus } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { IconButton } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { setParams, toArea } from '../../frame/address.ts';
import { renderText, toText } from '../../frame/display-text.tsx';
import { formatTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { markHiddenCharacters } from '../../frame/hidden-characters.ts';
import { Link } from '../../frame/link.tsx';
import { JsonTree, parseTree, type RenderLeafActions } from '../../lists/json-tree.tsx';
import { LongText } from '../../lists/long-text.tsx';
import { ManyFields } from '../../lists/many-fields.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
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

const maxFilterLength = 1_000;

/** Whether a search can find a value: texts that are not too long, numbers and booleans */
const isSearchable = (value: unknown): boolean =>
  typeof value === 'string' ? value.length <= maxFilterLength : typeof value === 'number' || typeof value === 'boolean';

const createFilterHandler =
  (name: string, value: unknown, { isExcluded }: { readonly isExcluded: boolean }) =>
  (): void =>
    changeSearch(addCondition(search.peek(), name, toText(value), { isExcluded }));

/** Returns the actions for the values of a tree; the search has their path below the name of the field. */
const createTreeActions =
  (field: string): RenderLeafActions =>
  (path, value) => {
    const name = [field, ...path].join('.');
    const label = markHiddenCharacters(name.replace(/^attribute\./, ''));
    return (
      <span class="leaf-actions">
        {isSearchable(value) ? (
          <>
            <IconButton
              label={`Add ${label} to the query`}
              icon={Plus}
              onClick={createFilterHandler(name, value, { isExcluded: false })}
            />
            <IconButton
              label={`Exclude this ${label}`}
              icon={Minus}
              onClick={createFilterHandler(name, value, { isExcluded: true })}
            />
          </>
        ) : null}
        <CopyButton label={`Copy ${label}`} text={toText(value)} isIcon={true} />
      </span>
    );
  };

const RecordBody = ({ body }: { readonly body: unknown }) => {
  const [isShownAsText, setIsShownAsText] = useState(false);
  const tree = parseTree(body);
  return (
    <>
      <ScrollRegion class="body" label="Body">
        {tree === undefined || isShownAsText ? (
          <LongText text={toText(body)} lines />
        ) : (
          <JsonTree tree={tree} renderActions={createTreeActions('body')} />
        )}
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
  const canFilter = tree === undefined && text.length <= maxFilterLength;
  return (
    <dd>
      {canFilter ? (
        <button
          type="button"
          class="value"
          title="Show only records with this value"
          onClick={createFilterHandler(name, text, { isExcluded: false })}
        >
          {renderText(text)}
        </button>
      ) : (
        <div>
          {tree === undefined ? (
            <LongText text={text} lines />
          ) : (
            // JSON in a text has no paths to search by.
            <JsonTree tree={tree} {...(typeof value === 'string' ? {} : { renderActions: createTreeActions(name) })} />
          )}
        </div>
      )}
      <span class="minis">
        {canFilter ? (
          <button
            type="button"
            class="mini"
            aria-label={`Exclude records with this ${plainName}`}
            onClick={createFilterHandler(name, text, { isExcluded: true })}
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
        <CopyButton label={`Copy ${plainName}`} text={text} isIcon={true} />
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
    <li>
      <CopyButton label="Copy as JSON" text={JSON.stringify(record, null, 2)} />
    </li>
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
