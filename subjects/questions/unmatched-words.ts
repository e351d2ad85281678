/**
 * Rejects questions that lack required parts or contain words that a query would ignore. Otherwise, the result would
 * answer a different question
 */
import { type Draft, UnclearQuestionError } from './assemble.ts';

export const rejectIncomplete = (draft: Draft): void => {
  requireSubject(draft);
  rejectSingleValueGroups(draft);
  const [, reason] = ignoredWordRules.find(([isLost]) => isLost(draft)) ?? [];
  if (reason !== undefined) throw new UnclearQuestionError(reason);
};

const requireSubject = ({ nouns, conditions, unassignedFields: fields, groupBy, distinct }: Draft): void => {
  if (nouns.size + conditions.length + fields.length + groupBy.length + distinct.length === 0)
    throw new UnclearQuestionError(
      'the question has no subject: name logs, requests, spans, a service, a field or a metric',
    );
};

/** "Which services call billing": a single service cannot be grouped, so the question has a different meaning. */
const rejectSingleValueGroups = ({ groupBy, conditions }: Draft): void => {
  const singleValue = conditions.find(
    ({ field, search, value }) => value !== undefined && groupBy.includes(field) && !/^NOT |:\(/.test(search),
  );
  if (singleValue !== undefined)
    throw new UnclearQuestionError(
      `the question groups by ${singleValue.field}, but contains only one value of it: remove ${singleValue.value} or "by ${singleValue.field}"`,
    );
};

const isRanked = ({ aggregationWords: words }: Draft): boolean => words.has('most') || words.has('least');
const hasNumber = ({ unassignedFields: fields }: Draft): boolean => fields.some(({ isNumber }) => isNumber);

/** Orders that exclude each other */
const contradictoryOrders = [
  ['newest', 'oldest'],
  ['slowest', 'fastest'],
  ['most', 'least'],
  ['newest', 'slowest'],
  ['newest', 'fastest'],
  ['oldest', 'slowest'],
  ['oldest', 'fastest'],
] as const;

/** Words that the query would ignore, with the suggested alternative */
const ignoredWordRules: readonly (readonly [isLost: (draft: Draft) => boolean, reason: string])[] = [
  [
    ({ aggregationWords: words }) => contradictoryOrders.some(([one, other]) => words.has(one) && words.has(other)),
    'the question asks for two orders that exclude each other, such as newest and oldest first: use one',
  ],
  [
    ({ aggregationWords: words, conditions }) => words.has('sent') && conditions.some(({ isRequest }) => isRequest),
    'a route does not say what was made or sent: query the requests to the route',
  ],
  [
    ({ aggregationWords: words, distinct }) => words.has('distinct') && distinct.length === 0,
    'the distinct values have no field: name one, such as "different services"',
  ],
  [
    (draft) =>
      draft.distinct.length > 0 && (draft.measures.length > 0 || draft.nouns.has('latency') || hasNumber(draft)),
    'the question contains a number of values and another aggregation: use one at a time',
  ],
  [
    ({ aggregationWords: words }) => words.has('when') && !words.has('newest') && !words.has('oldest'),
    'the time of an event is in its records: query the last or first records',
  ],
  [
    ({ aggregationWords: words }) => words.has('share') && words.has('least'),
    'shares are listed in descending order: the smallest are not supported',
  ],
  [
    (draft) =>
      draft.aggregationWords.has('share') &&
      isRanked(draft) &&
      draft.groupBy.length + draft.unassignedFields.length === 0,
    'the highest share has no field: name a field, such as "by service"',
  ],
  [
    ({ aggregationWords: words, nouns, distinct, measures }) =>
      words.has('share') &&
      (nouns.has('latency') || distinct.length > 0 || measures.some(({ function: name }) => name !== 'avg')),
    'the question contains a share and another aggregation: use one at a time',
  ],
  [
    ({ aggregationWords: words, nouns, conditions }) =>
      words.has('count') && nouns.has('latency') && conditions.some(({ isNumerator }) => isNumerator === true),
    'the question contains a number and a duration of different data: use one at a time',
  ],
];
