/**
 * Combines the marks of a question into a draft, which is independent of the data source: measures, conditions,
 * groups, order and times
 */
import { createExistenceCondition, mergeAlternatives, negateCondition } from './conditions.ts';
import type { Condition, Mark, MeasureFunction, Noun } from './marks.ts';
import type { TimePart } from './times.ts';

export interface NamedField {
  readonly field: string;
  readonly isNumber: boolean;
}

/** A question's structure before it is converted to a query */
export interface Draft {
  readonly nouns: Set<Noun>;
  readonly conditions: Condition[];
  readonly measures: MeasureFunction[];
  readonly groupBy: string[];
  /** Fields for which no word of the question states a role */
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
  index: number;
  isNegated: boolean;
  joins: 'or' | 'and' | undefined;
}

const createDraft = (): Draft => ({
  nouns: new Set(),
  conditions: [],
  measures: [],
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
export const assemble = (allMarks: readonly Mark[]): Draft => {
  const draft = createDraft();
  const position: MarkPosition = { marks: allMarks.filter(isMeaningful), index: 0, isNegated: false, joins: undefined };
  while (position.index < position.marks.length) {
    const mark = position.marks[position.index] as Mark;
    position.index += 1;
    applyMark(mark, draft, position);
    if (mark.is !== 'or' && mark.is !== 'and') position.joins = undefined;
  }
  if (position.isNegated) throw new UnclearQuestionError('"not" has no condition to exclude');
  return draft;
};

const applyMark = (mark: Mark, draft: Draft, position: MarkPosition): void => {
  switch (mark.is) {
    case 'or':
    case 'and':
      position.joins = mark.is;
      return;
    case 'not':
      position.isNegated = true;
      return;
    case 'condition':
      addCondition(mark.condition, draft, position);
      return;
    case 'field':
      addField(mark, draft, position);
      return;
    case 'group':
    case 'which':
      addGroups(mark, draft, position);
      return;
    case 'all':
      // "Across all hosts" is one value over all hosts.
      if (position.marks[position.index]?.is === 'field') position.index += 1;
      return;
    case 'figure':
      addMeasure(mark.measure, draft, position);
      if (mark.isLongest === true) draft.aggregationWords.add('longest');
      return;
    case 'noun':
      rejectTwoQueries(mark, position);
      draft.nouns.add(mark.noun);
      return;
    case 'throughput':
      draft.nouns.add('requests');
      addMeasure({ function: 'rate' }, draft, position);
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
      if (isOtherStatus(mark, draft, position)) return;
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
  const lastCondition = conditions.at(-1);
  if (
    joins === undefined ||
    lastCondition?.isNumerator !== true ||
    lastCondition.value === undefined ||
    value < 100 ||
    value > 599
  )
    return false;
  const mergedCondition = mergeAlternatives(
    lastCondition,
    { ...lastCondition, search: `${lastCondition.field}:${value}`, value: String(value) },
    'or',
  );
  if (mergedCondition === undefined) return false;
  conditions.splice(-1, 1, mergedCondition);
  return true;
};

/**
 * Rejects "requests and errors" or "errors and latency": these are two questions, and a query with both conditions
 * would answer neither.
 */
const rejectTwoQueries = (mark: Mark, { marks, index, joins }: MarkPosition): void => {
  const previousMark = marks[index - 3];
  const isPartMark = (one: Mark | undefined): boolean => one?.is === 'condition' && one.condition.isNumerator === true;
  const isNounOrFigure = (one: Mark | undefined): boolean => one?.is === 'noun' || one?.is === 'figure';
  if (
    joins === 'and' &&
    ((isPartMark(mark) && isNounOrFigure(previousMark)) || (isNounOrFigure(mark) && isPartMark(previousMark)))
  )
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
      mark.condition.isNumerator === true &&
      mark.condition.field !== 'status' &&
      marks[at - 1]?.is !== 'not',
  );

const addCondition = (condition: Condition, draft: Draft, position: MarkPosition): void => {
  rejectTwoQueries({ is: 'condition', condition }, position);
  if (isImpliedByStatus(condition, position.marks)) return;
  const previousMark = position.marks[position.index - 2];
  // In "latency above 2 s", latency is a compared field, not a measure.
  if (condition.field === 'duration' && previousMark?.is === 'noun' && previousMark.noun === 'latency')
    draft.nouns.delete('latency');
  const lastCondition = draft.conditions.at(-1);
  const isListed =
    position.joins !== undefined &&
    lastCondition?.field === condition.field &&
    position.marks[position.index - 3]?.is === 'condition';
  // "Excluding GET and POST" excludes both.
  if (isListed && lastCondition.search.startsWith('NOT ')) position.isNegated = true;
  const mergedCondition =
    isListed && !position.isNegated ? mergeAlternatives(lastCondition, condition, position.joins) : undefined;
  if (mergedCondition !== undefined) {
    draft.conditions.splice(-1, 1, mergedCondition);
    return;
  }
  if (position.joins === 'or' && !position.isNegated)
    throw new UnclearQuestionError('"or" is supported only between values of one field: enter two queries');
  const { isNegated } = position;
  position.isNegated = false;
  const conditionToAdd = isNegated ? negateCondition(condition) : condition;
  if (draft.conditions.some(({ search }) => search === conditionToAdd.search)) return;
  insertCondition(conditionToAdd, draft);
};

/**
 * Adds a condition. A condition that a value exists is redundant next to a specific value. Two different values of
 * one field are rejected, because a record has only one of them.
 */
const insertCondition = (conditionToAdd: Condition, { conditions }: Draft): void => {
  const sameFieldConditions = conditions.filter(({ field }) => field === conditionToAdd.field);
  if (sameFieldConditions.length > 0 && isExistence(conditionToAdd)) return;
  if (conditionToAdd.value !== undefined && sameFieldConditions.some((condition) => condition.value !== undefined))
    throw new UnclearQuestionError(
      `the question contains two values of ${conditionToAdd.field}, but a record has one: write "or" between them`,
    );
  const existenceIndex = conditions.findIndex(
    (condition) => condition.field === conditionToAdd.field && isExistence(condition),
  );
  if (existenceIndex >= 0) conditions.splice(existenceIndex, 1, conditionToAdd);
  else conditions.push(conditionToAdd);
};

const isExistence = ({ search }: Condition): boolean => search.endsWith(':*');

/** In `the payment service`, the field after its value adds no information. */
const addField = ({ field, isNumber }: NamedField, draft: Draft, position: MarkPosition): void => {
  if (position.isNegated) {
    // "Without branch".
    position.isNegated = false;
    draft.conditions.push(negateCondition(createExistenceCondition(field)));
    return;
  }
  const previousMark = position.marks[position.index - 2];
  if (previousMark?.is === 'condition' && previousMark.condition.field === field) return;
  if (previousMark?.is === 'distinct' || previousMark?.is === 'count') {
    if (!isNumber || previousMark.is === 'distinct') {
      draft.distinct.push(field);
      return;
    }
  }
  const isListed = position.joins !== undefined && position.marks[position.index - 3]?.is === 'field';
  // "List all services" groups by the existing services.
  if (previousMark?.is === 'list' && !isNumber) draft.groupBy.push(field);
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
  position: MarkPosition,
): void => {
  let next = position.marks[position.index];
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
    position.index += 1;
    const isJoined = isJoin(position.marks[position.index]) && position.marks[position.index + 1]?.is === 'field';
    if (isJoined) position.index += 1;
    next = isJoined ? position.marks[position.index] : undefined;
  }
};

/** "Error rate" is a share, not a rate. */
const addMeasure = (measure: MeasureFunction, draft: Draft, position: MarkPosition): void => {
  rejectTwoQueries({ is: 'figure', measure }, position);
  const previousMark = position.marks[position.index - 2];
  if (measure.function === 'rate' && previousMark?.is === 'condition' && previousMark.condition.isNumerator === true)
    draft.aggregationWords.add('share');
  else if (
    !draft.measures.some(
      (measureFunction) =>
        measureFunction.function === measure.function && measureFunction.percentile === measure.percentile,
    )
  )
    draft.measures.push(measure);
};
