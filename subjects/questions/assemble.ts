/** Combines marks into a draft, independent of the data source: measures, conditions, groups, order and times */
import { existenceCondition, mergeAlternatives, negate } from './conditions.ts';
import type { Condition, Figure, Mark, Noun } from './marks.ts';
import type { TimePart } from './times.ts';

export interface NamedField {
  readonly field: string;
  readonly isNumber: boolean;
}

/** A question's structure before it is converted to a query */
export interface Draft {
  readonly nouns: Set<Noun>;
  readonly conditions: Condition[];
  readonly figures: Figure[];
  readonly groupBy: string[];
  /** Fields without a word that states their role */
  readonly unassignedFields: NamedField[];
  readonly distinct: string[];
  readonly times: TimePart[];
  /** Words for the kind of aggregation: `count`, `share`, `most` */
  readonly aggregationWords: Set<Mark['is']>;
  limit: number | undefined;
  stepMs: number | undefined;
}

/** Thrown for a question that is not understood; the message is for people */
export class UnclearQuestionError extends Error {}

/** Position in the marks, with the preceding words */
interface MarkPosition {
  readonly marks: readonly Mark[];
  at: number;
  isNegated: boolean;
  joins: 'or' | 'and' | undefined;
}

const createDraft = (): Draft => ({
  nouns: new Set(),
  conditions: [],
  figures: [],
  groupBy: [],
  unassignedFields: [],
  distinct: [],
  times: [],
  aggregationWords: new Set(),
  limit: undefined,
  stepMs: undefined,
});

const isMeaningful = ({ is }: Mark): boolean => is !== 'noise';

/** Combines marks into a draft. Throws `UnclearQuestionError` if they contradict each other. */
export const assemble = (all: readonly Mark[]): Draft => {
  const draft = createDraft();
  const place: MarkPosition = { marks: all.filter(isMeaningful), at: 0, isNegated: false, joins: undefined };
  while (place.at < place.marks.length) {
    const mark = place.marks[place.at] as Mark;
    place.at += 1;
    applyMark(mark, draft, place);
    if (mark.is !== 'or' && mark.is !== 'and') place.joins = undefined;
  }
  if (place.isNegated) throw new UnclearQuestionError('"not" has no condition to exclude');
  return draft;
};

const applyMark = (mark: Mark, draft: Draft, place: MarkPosition): void => {
  switch (mark.is) {
    case 'or':
    case 'and':
      place.joins = mark.is;
      return;
    case 'not':
      place.isNegated = true;
      return;
    case 'condition':
      addCondition(mark.condition, draft, place);
      return;
    case 'field':
      addField(mark, draft, place);
      return;
    case 'group':
    case 'which':
      addGroups(mark, draft, place);
      return;
    case 'all':
      // "Across all hosts" is one value over all hosts.
      if (place.marks[place.at]?.is === 'field') place.at += 1;
      return;
    case 'figure':
      addMeasure(mark.figure, draft, place);
      if (mark.isLongest === true) draft.aggregationWords.add('longest');
      return;
    case 'noun':
      rejectTwoQueries(mark, place);
      draft.nouns.add(mark.noun);
      return;
    case 'throughput':
      draft.nouns.add('requests');
      addMeasure({ function: 'rate' }, draft, place);
      return;
    case 'limit':
      draft.limit = mark.limit;
      return;
    case 'step':
      if (draft.stepMs !== undefined && draft.stepMs !== mark.stepMs)
        throw new UnclearQuestionError('the question contains two steps: use one');
      draft.stepMs = mark.stepMs;
      return;
    case 'time':
      draft.times.push(mark.time);
      return;
    case 'most':
    case 'least':
      draft.aggregationWords.add(mark.is);
      if (mark.isExtreme === true) draft.aggregationWords.add('extreme');
      return;
    case 'number':
      if (isOtherStatus(mark, draft, place)) return;
      throw new UnclearQuestionError(missingFieldMessage);
    case 'operator':
    case 'text':
      throw new UnclearQuestionError(missingFieldMessage);
    default:
      draft.aggregationWords.add(mark.is);
  }
};

const missingFieldMessage =
  'the question contains a number without a field: write for example "duration above 500 ms" or "status 500"';

/** Returns whether a value is another status, as in `status 500 or 503`. */
const isOtherStatus = (
  { value }: { readonly value: number },
  { conditions }: Draft,
  { joins }: MarkPosition,
): boolean => {
  const last = conditions.at(-1);
  if (joins === undefined || last?.isPart !== true || last.value === undefined || value < 100 || value > 599)
    return false;
  const merged = mergeAlternatives(last, { ...last, search: `${last.field}:${value}`, value: String(value) }, 'or');
  if (merged === undefined) return false;
  conditions.splice(-1, 1, merged);
  return true;
};

/**
 * Rejects "requests and errors" or "errors and latency": these are two questions, and a query with both conditions
 * would answer neither.
 */
const rejectTwoQueries = (mark: Mark, { marks, at, joins }: MarkPosition): void => {
  const before = marks[at - 3];
  const isPart = (one: Mark | undefined): boolean => one?.is === 'condition' && one.condition.isPart === true;
  const isNounOrFigure = (one: Mark | undefined): boolean => one?.is === 'noun' || one?.is === 'figure';
  if (joins === 'and' && ((isPart(mark) && isNounOrFigure(before)) || (isNounOrFigure(mark) && isPart(before))))
    throw new UnclearQuestionError('the question combines two queries with "and": enter one query at a time');
};

/**
 * Returns whether a status implies the condition, as in "5xx errors", "failed with 404", "failed requests of cart with
 * status 404". The status then applies regardless of the span status.
 */
const isImpliedByStatus = (condition: Condition, marks: readonly Mark[]): boolean =>
  condition.search === 'status:error' &&
  marks.some(
    (mark, at) =>
      mark.is === 'condition' &&
      mark.condition.isPart === true &&
      mark.condition.field !== 'status' &&
      marks[at - 1]?.is !== 'not',
  );

const addCondition = (condition: Condition, draft: Draft, place: MarkPosition): void => {
  rejectTwoQueries({ is: 'condition', condition }, place);
  if (isImpliedByStatus(condition, place.marks)) return;
  const before = place.marks[place.at - 2];
  // In "latency above 2 s", latency is a compared field, not a measure.
  if (condition.field === 'duration' && before?.is === 'noun' && before.noun === 'latency')
    draft.nouns.delete('latency');
  const last = draft.conditions.at(-1);
  const isListed =
    place.joins !== undefined && last?.field === condition.field && place.marks[place.at - 3]?.is === 'condition';
  // "Excluding GET and POST" excludes both.
  if (isListed && last.search.startsWith('NOT ')) place.isNegated = true;
  const merged = isListed && !place.isNegated ? mergeAlternatives(last, condition, place.joins) : undefined;
  if (merged !== undefined) {
    draft.conditions.splice(-1, 1, merged);
    return;
  }
  if (place.joins === 'or' && !place.isNegated)
    throw new UnclearQuestionError('"or" is supported only between values of one field: enter two queries');
  const { isNegated } = place;
  place.isNegated = false;
  const added = isNegated ? negate(condition) : condition;
  if (draft.conditions.some(({ search }) => search === added.search)) return;
  insertCondition(added, draft);
};

/**
 * Adds a condition. A condition that a value exists is redundant next to a specific value. A record has only one of two
 * values.
 */
const insertCondition = (added: Condition, { conditions }: Draft): void => {
  const same = conditions.filter(({ field }) => field === added.field);
  if (same.length > 0 && isExistence(added)) return;
  if (added.value !== undefined && same.some((each) => each.value !== undefined))
    throw new UnclearQuestionError(
      `the question contains two values of ${added.field}, but a record has one: write "or" between them`,
    );
  const existence = conditions.findIndex((each) => each.field === added.field && isExistence(each));
  if (existence >= 0) conditions.splice(existence, 1, added);
  else conditions.push(added);
};

const isExistence = ({ search }: Condition): boolean => search.endsWith(':*');

/** In `the payment service`, the field after its value adds no information. */
const addField = ({ field, isNumber }: NamedField, draft: Draft, place: MarkPosition): void => {
  if (place.isNegated) {
    // "Without branch".
    place.isNegated = false;
    draft.conditions.push(negate(existenceCondition(field)));
    return;
  }
  const before = place.marks[place.at - 2];
  if (before?.is === 'condition' && before.condition.field === field) return;
  if (before?.is === 'distinct' || before?.is === 'count') {
    if (!isNumber || before.is === 'distinct') {
      draft.distinct.push(field);
      return;
    }
  }
  const isListed = place.joins !== undefined && place.marks[place.at - 3]?.is === 'field';
  // "List all services" groups by the existing services.
  if (before?.is === 'list' && !isNumber) draft.groupBy.push(field);
  else if (isListed && draft.groupBy.length > 0) draft.groupBy.push(field);
  else draft.unassignedFields.push({ field, isNumber });
};

const rejectIncompleteGroup = (mark: Mark, next: Mark | undefined): void => {
  if (mark.is === 'group' && (next === undefined || (mark.isEach === true && next.is !== 'group')))
    throw new UnclearQuestionError('"by" or "per" has no field: write for example "by service"');
};

const isJoin = (mark: Mark | undefined): boolean => mark?.is === 'and' || mark?.is === 'or';

/**
 * Adds groups, as in `by service and route`. If the word after "by" is not a field, it is the order of a list: "top 5
 * by count".
 */
const addGroups = (
  mark: Extract<Mark, { readonly is: 'group' }> | { readonly is: 'which' },
  draft: Draft,
  place: MarkPosition,
): void => {
  let next = place.marks[place.at];
  if (next?.is !== 'field') {
    rejectIncompleteGroup(mark, next);
    return;
  }
  if (mark.is === 'which') {
    // "What duration" requests a measure, not a group.
    if (next.isNumber) return;
    draft.aggregationWords.add('which');
  }
  while (next?.is === 'field') {
    if (!draft.groupBy.includes(next.field)) draft.groupBy.push(next.field);
    place.at += 1;
    const joined = isJoin(place.marks[place.at]) && place.marks[place.at + 1]?.is === 'field';
    if (joined) place.at += 1;
    next = joined ? place.marks[place.at] : undefined;
  }
};

/** "Error rate" is a share, not a rate. */
const addMeasure = (figure: Figure, draft: Draft, place: MarkPosition): void => {
  rejectTwoQueries({ is: 'figure', figure }, place);
  const before = place.marks[place.at - 2];
  if (figure.function === 'rate' && before?.is === 'condition' && before.condition.isPart === true)
    draft.aggregationWords.add('share');
  else if (!draft.figures.some((each) => each.function === figure.function && each.percentile === figure.percentile))
    draft.figures.push(figure);
};
