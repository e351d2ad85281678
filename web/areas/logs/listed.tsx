/** List of records; the context of a record, which are other records of its sender, is inserted inline */
import { useEffect } from 'preact/hooks';
import { change } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
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
  const { answer } = context.state.value;
  if (contextRecordId.value === '' || answer === undefined || answer.record.id !== contextRecordId.value) return lines;
  const listedIds = new Set(records.map((record) => record?.id));
  const toContextLines = (records: readonly LogRecord[] = []): Line[] =>
    records.filter(({ id }) => !listedIds.has(id)).map((record) => ({ record, isContext: true }));
  const [before, after] = [toContextLines(answer.before?.items), toContextLines(answer.after?.items)];
  const [above, below] = order.value === 'newest' ? [after.reverse(), before] : [before.reverse(), after];
  const at = records.findIndex((record) => record?.id === contextRecordId.value);
  // The record is on a page that is not loaded, so it is displayed first, with its context.
  if (at < 0) return [...above, { record: answer.record, isContext: false }, ...below, ...lines];
  return [...lines.slice(0, at), ...above, lines[at], ...below, ...lines.slice(at + 1)];
};

const loadContext = (): void => {
  if (contextRecordId.value === '') context.clear();
  else context.run({ params: { id: contextRecordId.value }, query: contextSize.value });
};

/** Controls the size of the displayed context. */
const ContextBar = () => {
  const { answer, error, isLoading } = context.state.value;
  const loadMore = (side: 'before' | 'after') => (): void => {
    contextSize.value = { ...contextSize.value, [side]: Math.min(maxContext, contextSize.value[side] + 40) };
  };
  const moreButton = (name: 'before' | 'after', label: string) => (
    <button
      type="button"
      class="plain"
      disabled={isLoading || answer?.[name]?.isEnd === true || contextSize.value[name] >= maxContext}
      onClick={loadMore(name)}
    >
      {label}
    </button>
  );
  return (
    <div class="toolbar context-bar">
      <span role="status">
        {answer === undefined
          ? 'Loading context…'
          : `${answer.before?.items.length ?? 0} records before and ${answer.after?.items.length ?? 0} after this record, from the same sender`}
      </span>
      {moreButton('before', 'More before')}
      {moreButton('after', 'More after')}
      <button type="button" class="plain" onClick={() => change({ context: '' })}>
        Hide context
      </button>
      <Problem error={error} />
    </div>
  );
};

export const RecordList = () => {
  useEffect(loadContext, [contextRecordId.value, contextSize.value]);
  const { answer, isLoading } = logPages.first.state.value;
  if (answer === undefined) return <p class="said">{isLoading ? 'Loading…' : ''}</p>;
  const lines = insertContext(logPages.slots.value);
  if (lines.length === 0)
    return (
      <div class="said" role="status">
        <p>No records found.</p>
        {answer.hint === undefined ? null : <p>{shownText(answer.hint)}</p>}
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
        keyOf={({ record }) => record.id}
        classOf={({ record, isContext }) =>
          `${rowClass(record)}${isContext ? ' context' : ''}${record.id === contextRecordId.value ? ' around-this' : ''}`
        }
        cellsOf={({ record }) => renderCells(record)}
        open={openId.value}
        onOpen={openRecord}
        held={contextRecordId.value}
        onSeen={(first, last) => logPages.seen(first, last)}
      />
    </div>
  );
};
