/** The search of logs as the address has it, and the records that it finds. */
import { computed } from '@preact/signals';
import { Paged } from '../../client/paged.ts';
import { Question } from '../../client/question.ts';
import { change, inAddress } from '../../frame/address.ts';
import { conditionOf } from '../../frame/conditions.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { histogramCall, type LogRecord, logsCall } from './calls.ts';

const pageSize = 200;

export const search = computed(() => inAddress('search'));
/** The id of the record beside the list. */
export const openId = computed(() => inAddress('record'));
export const order = computed(() => (inAddress('order') === 'oldest' ? 'oldest' : 'newest'));

export const list = new Paged(logsCall, ({ items }) => items as readonly LogRecord[]);
export const histogram = new Question(histogramCall);

const query = () => ({ ...writtenRange.value, search: search.value });

/** Asks for the records and their counts. */
export const askLogs = (): void => {
  list.ask({ query: { ...query(), limit: pageSize, order: order.value } });
  histogram.ask({ query: { ...query(), groupBy: 'severity' } });
};

export const setSearch = (text: string): void => change({ search: text.trim(), record: '' });
export const setOpen = (id: string): void => change({ record: id }, { replace: openId.peek() !== '' });

/** The search of what was found before where a field has this value, or has it not. */
export const narrowed = (before: string, name: string, value: string, { not = false } = {}): string => {
  const condition = `${not ? 'NOT ' : ''}${conditionOf(name, value)}`;
  const isOr = /\bOR\b/.test(before);
  return before.trim() === '' ? condition : `${isOr ? `(${before.trim()})` : before.trim()} ${condition}`;
};
