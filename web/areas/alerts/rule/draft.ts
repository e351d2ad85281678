/** A rule while it is written. The address has it, so that loaded anew it is the same. */
import { computed, signal } from '@preact/signals';
import type { Query } from '../../../../queries/query.ts';
import { Question } from '../../../client/query.ts';
import { CallError } from '../../../client/request.ts';
import { queryOf, writtenOf } from '../../../editors/question.ts';
import { addressWith, go, inAddress } from '../../../frame/address.ts';
import { previewCall, type Rule, type WrittenRule } from '../calls.ts';

export type Condition = WrittenRule['condition'];
export type Threshold = Extract<Condition, { kind: 'threshold' }>['thresholds'][number];

/** Longer ones are not put into the address: servers refuse it. */
const maxCharacters = 6_000;

/** Undefined until it is known what is edited. */
export const draft = signal<WrittenRule | undefined>(undefined);
/** Why the rule of the address cannot be read; empty where it can. */
export const unreadable = signal('');

export const preview = new Question(previewCall);
/** Why it was not saved. */
export const refused = signal<CallError | undefined>(undefined);

/** Durations are nanoseconds, which nobody writes. */
const emptyThreshold = (query: Query | undefined): Threshold => ({
  severity: 'warning',
  operator: 'above',
  ...(query?.kind === 'aggregate' && query.measures[0]?.field === 'duration' ? { unit: 'ms' } : {}),
});

export const emptyRule = (
  query: Query | undefined,
  { name, projectId }: Pick<WrittenRule, 'name' | 'projectId'>,
): WrittenRule => ({
  name,
  projectId: projectId || null,
  condition: {
    kind: 'threshold',
    query: query ?? (queryOf('count logs', writtenOf(undefined)) as Query),
    window: '5m',
    thresholds: [emptyThreshold(query)],
  },
});

const known = new Set([
  ...['name', 'alertName', 'origin', 'description', 'projectId', 'enabled', 'condition', 'interval', 'delay', 'for'],
  ...['keepFiringFor', 'limit', 'minimumEvents', 'noData', 'onError', 'forgetAfter', 'labels', 'annotations'],
]);

/** What is written of a stored rule. */
export const writtenIn = (rule: Rule): WrittenRule =>
  Object.fromEntries(Object.entries(rule).filter(([name]) => known.has(name))) as unknown as WrittenRule;

/** An object that the address has as JSON; undefined where it has none that can be read. */
const objectIn = (name: string): object | undefined => {
  const text = inAddress(name);
  if (text === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Told below.
  }
  unreadable.value = `The address has “${name}”, which cannot be read: what it said of the rule is left out.`;
  return undefined;
};

/** The rule that the address has, or the question that it is to ask. */
export const inTheAddress = (): { readonly rule?: WrittenRule; readonly query?: Query } => {
  unreadable.value = '';
  const [rule, query] = [objectIn('draft'), objectIn('query')];
  return {
    ...(rule !== undefined && 'condition' in rule ? { rule: rule as WrittenRule } : {}),
    ...(query === undefined ? {} : { query: query as Query }),
  };
};

let waiting: ReturnType<typeof setTimeout> | undefined;

const saveInAddress = (rule: WrittenRule): void => {
  const text = JSON.stringify(rule);
  go(addressWith({ draft: text.length > maxCharacters ? '' : text, query: '', name: '' }), { replace: true });
};

/** Changes the draft; when nothing more is typed the address has it. */
export const change = (fields: Partial<WrittenRule>): void => {
  const before = draft.peek();
  if (before === undefined) return;
  const after = { ...before, ...fields };
  draft.value = after;
  clearTimeout(waiting);
  waiting = setTimeout(() => saveInAddress(after), 400);
};

export const stopWaiting = (): void => clearTimeout(waiting);

/** A rule is previewed before it has a name. */
export const withDefaultName = (rule: WrittenRule): WrittenRule =>
  rule.name === '' ? { ...rule, name: 'new rule' } : rule;

export const changeCondition = (fields: object): void => {
  const before = draft.peek()?.condition;
  if (before !== undefined) change({ condition: { ...before, ...fields } as Condition });
};

const details = computed(() => [...(refused.value?.details ?? []), ...(preview.state.value.error?.details ?? [])]);

const isAt = (path: string, at: string): boolean => path === at || path.startsWith(`${at}.`);

/** What is wrong at a field or below it; undefined where nothing is. */
export const problemAt = (at: string): string | undefined => {
  const messages = details.value.filter(({ path }) => isAt(path, at)).map(({ message }) => message);
  return messages.length === 0 ? undefined : [...new Set(messages)].join('; ');
};

/** What is wrong where no field shows it. */
export const problemsWithoutField = (fields: readonly string[]): readonly string[] => [
  ...new Set(
    details.value
      .filter(({ path }) => !fields.some((at) => isAt(path, at)))
      .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)),
  ),
];

/** What would fire and is probably not meant, at a field or below it. */
export const warningAt = (at: string): string | undefined =>
  preview.state.value.answer?.warnings.find(({ path }) => isAt(path, at))?.message;

/** An error that no field shows: a conflict, a refusal, no network. */
export const errorWithoutField = computed(() =>
  [refused.value, preview.state.value.error].find(
    (error): error is CallError => error instanceof CallError && error.details.length === 0,
  ),
);
