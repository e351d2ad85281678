/** List of records. The context of a record (other records of its sender) is inserted inline. */

import { useEffect } from 'preact/hooks';
import { setParams } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { EmptyView } from '../../lists/empty-view.tsx';
import { Rows } from '../../lists/rows.tsx';
import type { LogRecord } from './calls.ts';
import { getRowClass, getRowLayout, renderCells } from './lines.tsx';
import { context, contextRecordId, contextSize, logPages, openId, openRecord, order } from './log-search.ts';

/** A record of the search, or a context record of the same sender */
interface ListedRecord {
  readonly record: LogRecord;
  readonly isContext: boolean;
}

const maxContextRecords = 500;

/** Inserts the context of a record, in list order. */
const insertContext = (records: readonly (LogRecord | undefined)[]): (ListedRecord | undefined)[] => {
  const listedRecords = records.map((record) => (record === undefined ? undefined : { record, isContext: false }));
  const { response } = context.state.value;
  if (contextRecordId.value === '' || response === undefined || response.record.id !== contextRecordId.value)
    return listedRecords;
  const listedIds = new Set(records.map((record) => record?.id));
  const toContextLines = (records: readonly LogRecord[] = []): ListedRecord[] =>
    records.filter(({ id }) => !listedIds.has(id)).map((record) => ({ record, isContext: true }));
  const [before, after] = [toContextLines(response.before?.items), toContextLines(response.after?.items)];
  const [recordsAbove, recordsBelow] = order.value === 'newest' ? [after.reverse(), before] : [before.reverse(), after];
  const recordIndex = records.findIndex((record) => record?.id === contextRecordId.value);
  // The record is on a page that is not loaded, so it is displayed first, with its context.
  if (recordIndex < 0)
    return [...recordsAbove, { record: response.record, isContext: false }, ...recordsBelow, ...listedRecords];
  return [
    ...listedRecords.slice(0, recordIndex),
    ...recordsAbove,
    listedRecords[recordIndex],
    ...recordsBelow,
    ...listedRecords.slice(recordIndex + 1),
  ];
};

const loadContext = (): void => {
  if (contextRecordId.value === '') context.clear();
  else context.run({ params: { id: contextRecordId.value }, query: contextSize.value });
};

/** Controls the size of the displayed context. */
const ContextBar = () => {
  const { response, error, isLoading } = context.state.value;
  const loadMore = (side: 'before' | 'after') => (): void => {
    contextSize.value = { ...contextSize.value, [side]: Math.min(maxContextRecords, contextSize.value[side] + 40) };
  };
  const renderMoreButton = (name: 'before' | 'after', label: string) => (
    <button
      type="button"
      class="plain"
      disabled={isLoading || response?.[name]?.isEnd === true || contextSize.value[name] >= maxContextRecords}
      onClick={loadMore(name)}
    >
      {label}
    </button>
  );
  return (
    <div class="toolbar context-bar">
      <span role="status">
        {response === undefined
          ? 'Loading context…'
          : `${response.before?.items.length ?? 0} records before and ${response.after?.items.length ?? 0} after this record, from the same sender`}
      </span>
      {renderMoreButton('before', 'More before')}
      {renderMoreButton('after', 'More after')}
      <button type="button" class="plain" onClick={() => setParams({ context: '' })}>
        Hide context
      </button>
      <ErrorMessage error={error} />
    </div>
  );
};

export const RecordList = () => {
  useEffect(loadContext, [contextRecordId.value, contextSize.value]);
  const { response, isLoading } = logPages.first.state.value;
  if (response === undefined) return <p class="said">{isLoading ? 'Loading…' : ''}</p>;
  const listedRecords = insertContext(logPages.slots.value);
  if (listedRecords.length === 0)
    return <EmptyView title="No records found." {...(response.hint === undefined ? {} : { hint: response.hint })} />;
  return (
    <div class={isLoading ? 'listed old' : 'listed'}>
      {contextRecordId.value === '' ? null : <ContextBar />}
      <Rows<ListedRecord>
        items={listedRecords}
        label="Log records"
        class="records"
        isDense={true}
        {...getRowLayout()}
        toKey={({ record }) => record.id}
        toClass={({ record, isContext }) =>
          `${getRowClass(record)}${isContext ? ' context' : ''}${record.id === contextRecordId.value ? ' around-this' : ''}`
        }
        toCells={({ record }) => renderCells(record)}
        openKey={openId.value}
        onOpen={openRecord}
        scrollToKey={contextRecordId.value}
        onVisibleRange={(first, last) => logPages.reportVisible(first, last)}
      />
    </div>
  );
};
