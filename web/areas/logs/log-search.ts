/** The search of logs as the address has it, and the records that it finds. */
import { computed, signal } from '@preact/signals';
import { ask, CallError } from '../../client/ask.ts';
import { Question } from '../../client/question.ts';
import { change, inAddress } from '../../frame/address.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { histogramCall, type LogRecord, logsCall } from './calls.ts';

const pageSize = 200;

export const search = computed(() => inAddress('search'));
/** The id of the record beside the list. */
export const openId = computed(() => inAddress('record'));
export const order = computed(() => (inAddress('order') === 'oldest' ? 'oldest' : 'newest'));

export const list = new Question(logsCall);
export const histogram = new Question(histogramCall);

/** Records of the pages behind the first. */
const further = signal<readonly LogRecord[]>([]);
const nextCursor = signal<string | null>(null);
export const furtherError = signal<CallError | undefined>(undefined);
let reading: AbortController | undefined;

export const records = computed<readonly LogRecord[]>(() => [
  ...((list.standing.value.answer?.items ?? []) as readonly LogRecord[]),
  ...further.value,
]);
/** Whether there are more than were read. */
export const hasMore = computed(() => (further.value.length > 0 ? nextCursor.value : firstCursor()) !== null);

const firstCursor = (): string | null => list.standing.value.answer?.nextCursor ?? null;

const query = () => ({ ...writtenRange.value, search: search.value });

/** Asks for the records and their counts. */
export const askLogs = (): void => {
  reading?.abort();
  reading = undefined;
  further.value = [];
  furtherError.value = undefined;
  list.ask({ query: { ...query(), limit: pageSize, order: order.value } });
  histogram.ask({ query: { ...query(), groupBy: 'severity' } });
};

/** Asks for the next page, unless that is being done. */
export const askFurther = (): void => {
  const cursor = further.peek().length > 0 ? nextCursor.peek() : (list.standing.peek().answer?.nextCursor ?? null);
  if (cursor === null || reading !== undefined || list.standing.peek().isAsking) return;
  const cancel = new AbortController();
  reading = cancel;
  ask(logsCall, { query: { ...query(), limit: pageSize, order: order.peek(), cursor } }, cancel.signal)
    .then(
      (page) => {
        if (cancel.signal.aborted) return;
        nextCursor.value = page.nextCursor;
        further.value = [...further.peek(), ...(page.items as readonly LogRecord[])];
      },
      (error: unknown) => {
        if (!cancel.signal.aborted && error instanceof CallError) furtherError.value = error;
      },
    )
    .finally(() => {
      if (reading === cancel) reading = undefined;
    });
};

export const setSearch = (text: string): void => change({ search: text.trim(), record: '' });
export const setOpen = (id: string): void => change({ record: id }, { replace: openId.peek() !== '' });

/** A name of a field as searches spell it. */
const spelled = (name: string): string => (/^[A-Za-z_@$][\w.@$/-]*$/.test(name) ? name : quoted(name));
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** The search of what was found before where a field has this value, or has it not. */
export const narrowed = (before: string, name: string, value: string, { not = false } = {}): string => {
  const condition = `${not ? 'NOT ' : ''}${spelled(name)}:${quoted(value)}`;
  const isOr = /\bOR\b/.test(before);
  return before.trim() === '' ? condition : `${isOr ? `(${before.trim()})` : before.trim()} ${condition}`;
};
