/** List of records; the context of a record, which are other records of its sender, is inserted inline */
import { useEffect } from 'preact/hooks';
import { setParams } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { renderText } from '../../frame/shown-text.tsx';
import { Rows } from '../../lists/rows.tsx';
import type { LogRecord } from './calls.ts';
import { renderCells, rowClass, rowLayout } from './lines.tsx';
import { context, contextRecordId, contextSize, logPages, openId, openRecord, order } from './log-search.ts';

/** A record of the search, or a context record of the same sender */
interface Line {
  readonly record: LogRecord;
  readonly isContext: boolean;
}

const maxContext = 500;

/** Inserts the context of a record, in list order. */
const insertContext = (records: readonly (LogRecord | undefined)[]): (Line | undefined)[] => {
  const lines = records.map((record) => (record === undefined ? undefined : { record, isContext: false }));
  const { response } = context.state.value;
  if (contextRecordId.value === '' || response === undefined || response.record.id !== contextRecordId.value)
    return lines;
  const listedIds = new Set(records.map((record) => record?.id));
  const toContextLines = (records: readonly LogRecord[] = []): Line[] =>
    records.filter(({ id }) => !listedIds.has(id)).map((record) => ({ record, isContext: true }));
  const [before, after] = [toContextLines(response.before?.items), toContextLines(response.after?.items)];
  const [above, below] = order.value === 'newest' ? [after.reverse(), before] : [before.reverse(), after];
  const at = records.findIndex((record) => record?.id === contextRecordId.value);
  // The record is on a page that is not loaded, so it is displayed first, with its context.
  if (at < 0) return [...above, { record: response.record, isContext: false }, ...below, ...lines];
  return [...lines.slice(0, at), ...above, lines[at], ...below, ...lines.slice(at + 1)];
};

const loadContext = (): void => {
  if (contextRecordId.value === '') context.clear();
  else context.run({ params: { id: contextRecordId.value }, query: contextSize.value });
};

/** Controls the size of the displayed context. */
const ContextBar = () => {
  const { response, error, isLoading } = context.state.value;
  const loadMore = (side: 'before' | 'after') => (): void => {
    contextSize.value = { ...contextSize.value, [side]: Math.min(maxContext, contextSize.value[side] + 40) };
  };
  const moreButton = (name: 'before' | 'after', label: string) => (
    <button
      type="button"
      class="plain"
      disabled={isLoading || response?.[name]?.isEnd === true || contextSize.value[name] >= maxContext}
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
      {moreButton('before', 'More before')}
      {moreButton('after', 'More after')}
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
  const lines = insertContext(logPages.slots.value);
  if (lines.length === 0)
    return (
      <div class="said" role="status">
        <p>No records found.</p>
        {response.hint === undefined ? null : <p>{renderText(response.hint)}</p>}
      </div>
    );
  return (
    <div class={isLoading ? 'listed old' : 'listed'}>
      {contextRecordId.value === '' ? null : <ContextBar />}
      <Rows<Line>
        items={lines}
        label="Log records"
        class="records"
        {...rowLayout()}
        toKey={({ record }) => record.id}
        toClass={({ record, isContext }) =>
          `${rowClass(record)}${isContext ? ' context' : ''}${record.id === contextRecordId.value ? ' around-this' : ''}`
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
