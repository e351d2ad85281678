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

/** Words that the query would ignore, with the suggested alternative */
const ignoredWordRules: readonly (readonly [isLost: (draft: Draft) => boolean, reason: string])[] = [
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
    ({ aggregationWords: words, limit }) => words.has('share') && limit !== undefined,
    'shares are calculated for all groups: remove the number',
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
