/** Draft of a rule. The URL contains the draft, so a reload restores it. */
import { computed, signal } from '@preact/signals';
import type { Query } from '../../../../queries/query.ts';
import { ApiQuery } from '../../../client/query.ts';
import { CallError } from '../../../client/request.ts';
import { toQuery, toQueryParams } from '../../../editors/query-form.ts';
import { navigate, readParam, toChangedUrl } from '../../../frame/address.ts';
import { previewRuleCall, type Rule, type RuleInput } from '../calls.ts';

export type Condition = RuleInput['condition'];
export type Threshold = Extract<Condition, { kind: 'threshold' }>['thresholds'][number];

/** Maximum length of a draft in the URL; servers reject longer URLs */
const maxDraftCharacters = 6_000;

/** The edited rule; `undefined` until it is loaded */
export const draftRule = signal<RuleInput | undefined>(undefined);
/** Why the rule in the URL cannot be parsed; empty if it can */
export const draftParseError = signal('');

export const preview = new ApiQuery(previewRuleCall);
/** Whether the user changed the draft: before, fields do not show what is missing */
export const isDraftChanged = signal(false);
/** Why the rule was not saved */
export const saveError = signal<CallError | undefined>(undefined);

/** Returns a threshold without a value. Stored durations are in nanoseconds; users type milliseconds. */
const emptyThreshold = (query: Query | undefined): Threshold => ({
  severity: 'warning',
  operator: 'above',
  ...(query !== undefined && 'measures' in query && query.measures[0]?.field === 'duration' ? { unit: 'ms' } : {}),
});

export const emptyRule = (
  query: Query | undefined,
  { name, projectId }: Pick<RuleInput, 'name' | 'projectId'>,
): RuleInput => ({
  name,
  projectId: projectId || null,
  condition: {
    kind: 'threshold',
    query: query ?? (toQuery('count logs', toQueryParams(undefined)) as Query),
    window: '5m',
    thresholds: [emptyThreshold(query)],
  },
});

const writableFields = new Set([
  ...['name', 'alertName', 'origin', 'description', 'projectId', 'enabled', 'condition', 'interval', 'delay', 'for'],
  ...['keepFiringFor', 'limit', 'minimumEvents', 'noData', 'onError', 'forgetAfter', 'labels', 'annotations'],
]);

/** Returns the writable fields of a stored rule. */
export const pickWritableFields = (rule: Rule): RuleInput =>
  Object.fromEntries(Object.entries(rule).filter(([name]) => writableFields.has(name))) as unknown as RuleInput;

/** Returns a JSON object from the URL; `undefined` if there is none that can be parsed. */
const readUrlObject = (name: string): object | undefined => {
  const text = readParam(name);
  if (text === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below, like a value that is not an object.
  }
  draftParseError.value = `The URL parameter “${name}” cannot be parsed and was ignored.`;
  return undefined;
};

/** Returns the rule in the URL, or the query for a new rule. */
export const readDraftFromUrl = (): { readonly rule?: RuleInput; readonly query?: Query } => {
  draftParseError.value = '';
  const [rule, query] = [readUrlObject('draft'), readUrlObject('query')];
  return {
    ...(rule !== undefined && 'condition' in rule ? { rule: rule as RuleInput } : {}),
    ...(query === undefined ? {} : { query: query as Query }),
  };
};

let urlUpdateTimer: ReturnType<typeof setTimeout> | undefined;

const writeDraftToUrl = (rule: RuleInput): void => {
  const text = JSON.stringify(rule);
  navigate(toChangedUrl({ draft: text.length > maxDraftCharacters ? '' : text, query: '', name: '' }), {
    replace: true,
  });
};

/** Changes the draft; the URL is updated when typing stops. */
export const changeDraft = (fields: Partial<RuleInput>): void => {
  const previousDraft = draftRule.peek();
  if (previousDraft === undefined) return;
  const updatedDraft = { ...previousDraft, ...fields };
  draftRule.value = updatedDraft;
  isDraftChanged.value = true;
  clearTimeout(urlUpdateTimer);
  urlUpdateTimer = setTimeout(() => writeDraftToUrl(updatedDraft), 400);
};

export const cancelUrlUpdate = (): void => clearTimeout(urlUpdateTimer);

/** A rule can be previewed before it has a name. */
export const withDefaultName = (rule: RuleInput): RuleInput =>
  rule.name === '' ? { ...rule, name: 'new rule' } : rule;

export const changeCondition = (fields: object): void => {
  const previousCondition = draftRule.peek()?.condition;
  if (previousCondition !== undefined) changeDraft({ condition: { ...previousCondition, ...fields } as Condition });
};

const errorDetails = computed(() => [
  ...(saveError.value?.details ?? []),
  ...((isDraftChanged.value ? preview.state.value.error?.details : undefined) ?? []),
]);

const isAtOrBelow = (path: string, ancestorPath: string): boolean =>
  path === ancestorPath || path.startsWith(`${ancestorPath}.`);

/** Returns the error of a field or its children; `undefined` if there is none. */
export const findProblem = (at: string): string | undefined => {
  const messages = errorDetails.value.filter(({ path }) => isAtOrBelow(path, at)).map(({ message }) => message);
  return messages.length === 0 ? undefined : [...new Set(messages)].join('; ');
};

/** Returns errors that no field shows. */
export const problemsWithoutField = (fields: readonly string[]): readonly string[] => [
  ...new Set(
    errorDetails.value
      .filter(({ path }) => !fields.some((fieldPath) => isAtOrBelow(path, fieldPath)))
      .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)),
  ),
];

/** Returns the warning of a field or its children, about conditions that probably fire unintentionally. */
export const findWarning = (fieldPath: string): string | undefined =>
  preview.state.value.response?.warnings.find(({ path }) => isAtOrBelow(path, fieldPath))?.message;

/** Error that no field shows, such as a conflict, a rejection or a network failure */
export const errorWithoutField = computed(() =>
  [saveError.value, preview.state.value.error].find(
    (error): error is CallError => error instanceof CallError && error.details.length === 0,
  ),
);
