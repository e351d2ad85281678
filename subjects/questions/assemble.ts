/**
 * Combines the marks of a question into a draft, which is independent of the data source: measures, conditions,
 * groups, order and times
 */
import { createExistenceCondition, mergeAlternatives, negateCondition } from './conditions.ts';
import type { Condition, GroupCondition, Mark, MeasureFunction, Noun } from './marks.ts';
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
  /** Fields after "how many": groups if there is a condition on their values, otherwise distinct values */
  readonly counted: string[];
  readonly times: TimePart[];
  /** Times after "compared with", for a comparison of two ranges */
  readonly comparedTimes: TimePart[];
  /** Words for the kind of aggregation: `count`, `share`, `most` */
  readonly aggregationWords: Set<Mark['is']>;
  limit: number | undefined;
  stepMs: number | undefined;
  /** Condition on the values of groups */
  having: GroupCondition | undefined;
}

/** Thrown for a question that is not understood; the message is for people */
export class UnclearQuestionError extends Error {
  readonly code: 'unclear' | 'comparison';

  constructor(message: string, code: 'unclear' | 'comparison' = 'unclear') {
    super(message);
    this.code = code;
  }
}

/** Position in the marks, with the preceding words */
interface MarkPosition {
  readonly marks: readonly Mark[];
  index: number;
  isNegated: boolean;
  joins: 'or' | 'and' | 'compare' | undefined;
  /** Number of times before "compared with" */
  timesBeforeComparison?: number;
}

const createDraft = (): Draft => ({
  nouns: new Set(),
  conditions: [],
  measures: [],
  groupBy: [],
  unassignedFields: [],
  distinct: [],
  counted: [],
  times: [],
  comparedTimes: [],
  aggregationWords: new Set(),
  limit: undefined,
  stepMs: undefined,
  having: undefined,
});

const isMeaningful = ({ is }: Mark): boolean => is !== 'noise' && is !== 'description';

/** Combines marks into a draft. Throws `UnclearQuestionError` if they contradict each other. */
export const assemble = (allMarks: readonly Mark[]): Draft => {
  const draft = createDraft();
  if (allMarks.some(({ is }) => is === 'description')) draft.aggregationWords.add('description');
  const position: MarkPosition = { marks: allMarks.filter(isMeaningful), index: 0, isNegated: false, joins: undefined };
  while (position.index < position.marks.length) {
    const mark = position.marks[position.index] as Mark;
    position.index += 1;
    applyMark(mark, draft, position);
    if (mark.is !== 'or' && mark.is !== 'and' && mark.is !== 'compare') position.joins = undefined;
  }
  separateComparedTimes(draft, position);
  groupComparedValues(draft);
  addCountedFields(draft);
  if (position.isNegated) throw new UnclearQuestionError('"not" has no condition to exclude');
  return draft;
};

const applyMark = (mark: Mark, draft: Draft, position: MarkPosition): void => {
  switch (mark.is) {
    case 'or':
    case 'and':
      position.joins = mark.is;
      return;
    case 'compare':
      startComparison(mark, draft, position);
      return;
    case 'not':
      position.isNegated = true;
      return;
    case 'condition':
      if (!addMeasuredComparison(mark.condition, draft, position)) addCondition(mark.condition, draft, position);
      return;
    case 'having':
      addGroupCondition(mark.condition, draft, position);
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
    case 'traffic':
    case 'throughput':
      addRequests(mark.is, draft, position);
      return;
    case 'limit':
      draft.limit = mark.limit;
      return;
    case 'step':
      addStep(mark.stepMs, draft);
      return;
    case 'time':
      draft.times.push(mark.time);
      return;
    case 'most':
    case 'least':
    case 'slowest':
      addOrder(mark, draft, position);
      return;
    case 'trend':
    case 'newest':
    case 'oldest':
      addTimeWord(mark, draft, position);
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

/** "The most expensive item price" is the largest price, and "the most expensive requests" are the slowest. */
const addOrder = (
  order: Extract<Mark, { readonly is: 'most' | 'least' | 'slowest' }>,
  draft: Draft,
  position: MarkPosition,
): void => {
  const isPrice =
    order.is === 'slowest' &&
    order.isCost === true &&
    position.marks.some((mark) => mark.is === 'field' && mark.isNumber && mark.field !== 'duration');
  if (isPrice) {
    addMeasure({ function: 'max' }, draft, position);
    return;
  }
  draft.aggregationWords.add(order.is);
  if (order.is !== 'slowest' && order.isExtreme === true) draft.aggregationWords.add('extreme');
};

/** "Traffic" is a number of requests, and "throughput" their rate. */
const addRequests = (word: 'traffic' | 'throughput', draft: Draft, position: MarkPosition): void => {
  draft.nouns.add('requests');
  if (word === 'traffic') draft.aggregationWords.add('count');
  else addMeasure({ function: 'rate' }, draft, position);
};

const startComparison = (
  { noun }: Extract<Mark, { readonly is: 'compare' }>,
  draft: Draft,
  position: MarkPosition,
): void => {
  if (noun !== undefined) draft.nouns.add(noun);
  draft.aggregationWords.add('compare');
  position.joins = 'compare';
  position.timesBeforeComparison ??= draft.times.length;
};

const addStep = (stepMs: number, draft: Draft): void => {
  if (draft.stepMs !== undefined && draft.stepMs !== stepMs)
    throw new UnclearQuestionError('the question contains two steps: use one');
  draft.stepMs = stepMs;
};

/** "Has the error rate gone up" is the rate over time, and compared with yesterday two values. */
const addTimeWord = (
  mark:
    | Extract<Mark, { readonly is: 'trend' }>
    | Extract<Mark, { readonly is: 'newest' | 'oldest'; readonly isSingle?: true }>,
  draft: Draft,
  { marks }: MarkPosition,
): void => {
  if (mark.is === 'trend') {
    if (mark.noun !== undefined) draft.nouns.add(mark.noun);
    if (!marks.some(({ is }) => is === 'compare')) draft.aggregationWords.add('overTime');
    return;
  }
  draft.aggregationWords.add(mark.is);
  if (mark.isSingle === true) draft.limit ??= 1;
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
  // In "delays over 10 minutes", the delay is compared, too.
  const comparedIndex = draft.unassignedFields.findIndex(
    ({ field, isNumber }) => isNumber && field === condition.field,
  );
  if (comparedIndex >= 0) draft.unassignedFields.splice(comparedIndex, 1);
  if (addComparedValue(condition, draft, position) || addListedValue(condition, draft, position)) return;
  if (position.joins === 'or' && !position.isNegated)
    throw new UnclearQuestionError('"or" is supported only between values of one field: enter two queries');
  const { isNegated } = position;
  position.isNegated = false;
  const conditionToAdd = isNegated ? negateCondition(condition) : condition;
  if (draft.conditions.some(({ search }) => search === conditionToAdd.search)) return;
  insertCondition(conditionToAdd, draft);
};

/** "More than 3 versions" is a number of distinct values. */
const addGroupCondition = (condition: GroupCondition, draft: Draft, position: MarkPosition): void => {
  if (draft.having !== undefined)
    throw new UnclearQuestionError('the question contains two conditions on values: use one');
  if (position.isNegated)
    throw new UnclearQuestionError('"not" excludes no values: write the opposite condition, such as "at most 5"');
  draft.having = condition;
  const next = position.marks[position.index];
  if (next?.is !== 'field' || next.isNumber) return;
  position.index += 1;
  draft.distinct.push(next.field);
};

/**
 * Adds a comparison of a measured field as a condition on the values of groups: "p95 latency above 2 s", "slower than
 * 2 s on average". Returns whether it is one.
 */
const addMeasuredComparison = ({ field, comparison }: Condition, draft: Draft, position: MarkPosition): boolean => {
  if (comparison === undefined || position.isNegated) return false;
  const { marks, index } = position;
  const isMeasure = (mark: Mark | undefined): boolean =>
    mark?.is === 'total' || (mark?.is === 'figure' && mark.measure.function !== 'rate');
  const previous = marks[index - 2];
  const isMeasuredField =
    (previous?.is === 'noun' && previous.noun === 'latency') || (previous?.is === 'field' && previous.field === field);
  if (!isMeasure(isMeasuredField ? marks[index - 3] : previous) && !isMeasure(marks[index])) return false;
  if (field === 'duration') draft.nouns.add('latency');
  else if (!draft.unassignedFields.some((each) => each.field === field))
    draft.unassignedFields.push({ field, isNumber: true });
  addGroupCondition({ ...comparison, unit: '' }, draft, position);
  return true;
};

/** Adds a value to the condition before "and" or "or". "Excluding GET and POST" excludes both. */
const addListedValue = (condition: Condition, draft: Draft, position: MarkPosition): boolean => {
  const lastCondition = draft.conditions.at(-1);
  const isListed =
    position.joins !== undefined &&
    lastCondition?.field === condition.field &&
    position.marks[position.index - 3]?.is === 'condition';
  if (!isListed) return false;
  if (lastCondition.search.startsWith('NOT ')) position.isNegated = true;
  if (position.isNegated) return false;
  const mergedCondition = mergeAlternatives(lastCondition, condition, position.joins === 'or' ? 'or' : 'and');
  if (mergedCondition === undefined) return false;
  draft.conditions.splice(-1, 1, mergedCondition);
  return true;
};

/** Adds a value to the other value of its field, as in "cart versus payment" and "gold compared with basic". */
const addComparedValue = (condition: Condition, draft: Draft, { joins, isNegated }: MarkPosition): boolean => {
  if (!draft.aggregationWords.has('compare') || isNegated || condition.value === undefined) return false;
  const index = draft.conditions.findIndex(({ field, value }) => field === condition.field && value !== undefined);
  const comparedCondition = draft.conditions[index];
  const mergedCondition =
    comparedCondition === undefined || joins === 'or'
      ? undefined
      : mergeAlternatives(comparedCondition, condition, 'and');
  if (mergedCondition === undefined) return false;
  draft.conditions.splice(index, 1, mergedCondition);
  return true;
};

/** "How many hosts are above 80 % CPU" lists these hosts, and "how many hosts sent errors" counts distinct values. */
const addCountedFields = ({ counted, having, groupBy, distinct, aggregationWords }: Draft): void => {
  const fields = having === undefined ? distinct : groupBy;
  if (counted.length > 0 && having !== undefined) aggregationWords.delete('count');
  fields.push(...counted.splice(0).filter((field) => !fields.includes(field)));
};

const hasSeveralValues = ({ search, value }: Condition): boolean =>
  value !== undefined && search.endsWith(')') && search.includes(':(');

/**
 * Separates the compared times from the others: those after "compared with", or the last one after "compare". Times of
 * compared values, as in "compare cart and payment today", are not comparison.
 */
const separateComparedTimes = (
  { aggregationWords: words, conditions, times, comparedTimes }: Draft,
  { timesBeforeComparison = 0 }: MarkPosition,
): void => {
  if (!words.has('compare') || conditions.some(hasSeveralValues)) return;
  const firstCompared = timesBeforeComparison > 0 ? timesBeforeComparison : Math.min(1, times.length - 1);
  comparedTimes.push(...times.splice(Math.max(0, firstCompared)));
};

const comparisonProblem =
  'the question compares, but does not name two values of one field or two ranges: write for example "compare errors of cart and payment", or "errors today compared with yesterday"';

/** Compared values of a field are groups. "Both" is each of the values, which no single record has. */
const groupComparedValues = (draft: Draft): void => {
  const { aggregationWords: words, conditions, groupBy, nouns, measures } = draft;
  const [listedCondition] = conditions.filter(hasSeveralValues);
  if (words.has('both')) {
    if (listedCondition === undefined)
      throw new UnclearQuestionError(
        '"both" has no two values of one field: name them, such as "both cart and payment"',
      );
    if (nouns.has('traces'))
      throw new UnclearQuestionError(
        `a query selects spans, and a span has one ${listedCondition.field}: traces with several values of it cannot be selected; write "or" for spans with any of them`,
      );
  }
  if (words.has('compare') && draft.comparedTimes.length === 0 && listedCondition === undefined)
    throw new UnclearQuestionError(comparisonProblem, 'comparison');
  const isAggregated = measures.length > 0 || nouns.has('latency') || words.has('count') || words.has('share');
  const isGrouped = words.has('compare') || (words.has('both') && isAggregated);
  if (isGrouped && listedCondition !== undefined && !groupBy.includes(listedCondition.field))
    groupBy.push(listedCondition.field);
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
const addField = (
  { field, isNumber, isOfType, isListed }: Extract<Mark, { readonly is: 'field' }>,
  draft: Draft,
  position: MarkPosition,
): void => {
  if (position.isNegated) {
    // "Without branch".
    position.isNegated = false;
    draft.conditions.push(negateCondition(createExistenceCondition(field)));
    return;
  }
  const previousMark = position.marks[position.index - 2];
  if (previousMark?.is === 'condition' && previousMark.condition.field === field) return;
  if (previousMark?.is === 'distinct') {
    draft.distinct.push(field);
    return;
  }
  if (isCountedField(position) && !isNumber && isOfType !== true) {
    // The values of `claim.type` are not claims: "how many claims" does not count them.
    draft.counted.push(field);
    return;
  }
  const listedAfter = position.joins === undefined ? undefined : position.marks[position.index - 3]?.is;
  // "List all services" groups by the existing services.
  if ((previousMark?.is === 'list' || isListed === true) && !isNumber) draft.groupBy.push(field);
  else if (isListedGroup(listedAfter, draft) && !(isNumber && listedAfter === 'step')) draft.groupBy.push(field);
  else draft.unassignedFields.push({ field, isNumber });
};

/** Returns whether a field follows "how many", with conditions between: "number of absent students". */
const isCountedField = ({ marks, index, isNegated }: MarkPosition): boolean => {
  let before = index - 2;
  while (marks[before]?.is === 'condition') before -= 1;
  return marks[before]?.is === 'count' && !isNegated;
};

/** "Per service and route" and "per day and route" group by the route. */
const isListedGroup = (listedAfter: Mark['is'] | undefined, { groupBy }: Draft): boolean =>
  (listedAfter === 'field' && groupBy.length > 0) || listedAfter === 'step';

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
