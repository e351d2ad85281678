/** List of records, with the context of one: other records of its sender, inline */
import { useEffect } from 'preact/hooks';
import { change } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { Rows } from '../../lists/rows.tsx';
import type { LogRecord } from './calls.ts';
import { cellsOf, classOf, lineForm } from './lines.tsx';
import { around, context, contextOf, list, openId, order, setOpen } from './log-search.ts';

/** A record of the search, or a context record of the same sender */
interface Line {
  readonly record: LogRecord;
  readonly isContext: boolean;
}

const maxContext = 500;

/** Inserts the context of a record, in list order. */
const withContext = (found: readonly (LogRecord | undefined)[]): (Line | undefined)[] => {
  const lines = found.map((record) => (record === undefined ? undefined : { record, isContext: false }));
  const { answer } = context.state.value;
  if (contextOf.value === '' || answer === undefined || answer.record.id !== contextOf.value) return lines;
  const known = new Set(found.map((record) => record?.id));
  const toContextLines = (records: readonly LogRecord[] = []): Line[] =>
    records.filter(({ id }) => !known.has(id)).map((record) => ({ record, isContext: true }));
  const [before, after] = [toContextLines(answer.before?.items), toContextLines(answer.after?.items)];
  const [above, below] = order.value === 'newest' ? [after.reverse(), before] : [before.reverse(), after];
  const at = found.findIndex((record) => record?.id === contextOf.value);
  // The record is on a page that is not loaded, so its context is displayed first.
  if (at < 0) return [...above, { record: answer.record, isContext: false }, ...below, ...lines];
  return [...lines.slice(0, at), ...above, lines[at], ...below, ...lines.slice(at + 1)];
};

const loadContext = (): void => {
  if (contextOf.value === '') context.clear();
  else context.run({ params: { id: contextOf.value }, query: around.value });
};

/** Controls the kind and size of the displayed context. */
const ContextBar = () => {
  const { answer, error, isLoading } = context.state.value;
  const more = (side: 'before' | 'after') => (): void => {
    around.value = { ...around.value, [side]: Math.min(maxContext, around.value[side] + 40) };
  };
  const side = (name: 'before' | 'after', label: string) => (
    <button
      type="button"
      class="plain"
      disabled={isLoading || answer?.[name]?.isEnd === true || around.value[name] >= maxContext}
      onClick={more(name)}
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
      {side('before', 'More before')}
      {side('after', 'More after')}
      <button type="button" class="plain" onClick={() => change({ context: '' })}>
        Hide context
      </button>
      <Problem error={error} />
    </div>
  );
};

export const Listed = () => {
  useEffect(loadContext, [contextOf.value, around.value]);
  const { answer, isLoading } = list.first.state.value;
  if (answer === undefined) return <p class="said">{isLoading ? 'Loading…' : ''}</p>;
  const lines = withContext(list.slots.value);
  if (lines.length === 0)
    return (
      <div class="said" role="status">
        <p>No records found.</p>
        {answer.hint === undefined ? null : <p>{shownText(answer.hint)}</p>}
      </div>
    );
  return (
    <div class={isLoading ? 'listed old' : 'listed'}>
      {contextOf.value === '' ? null : <ContextBar />}
      <Rows<Line>
        items={lines}
        label="Log records"
        class="records"
        {...lineForm()}
        keyOf={({ record }) => record.id}
        classOf={({ record, isContext }) =>
          `${classOf(record)}${isContext ? ' beside-it' : ''}${record.id === contextOf.value ? ' around-this' : ''}`
        }
        cellsOf={({ record }) => cellsOf(record)}
        open={openId.value}
        onOpen={setOpen}
        held={contextOf.value}
        onSeen={(first, last) => list.seen(first, last)}
      />
    </div>
  );
};
