/**
 * Rejects questions that lack required parts, or contain words that the query would ignore, because the result would
 * answer a different question
 */
import { type Draft, UnclearQuestionError } from './assemble.ts';

export const rejectIncomplete = (draft: Draft): void => {
  requireSubject(draft);
  rejectSingleGroups(draft);
  const [, reason] = ignoredWordRules.find(([isLost]) => isLost(draft)) ?? [];
  if (reason !== undefined) throw new UnclearQuestionError(reason);
};

const requireSubject = ({ nouns, conditions, unassignedFields: loose, groupBy, distinct }: Draft): void => {
  if (nouns.size + conditions.length + loose.length + groupBy.length + distinct.length === 0)
    throw new UnclearQuestionError(
      'the question has no subject: name logs, requests, spans, a service, a field or a metric',
    );
};

/** "Which services call billing": a single service cannot be grouped, so the question has a different meaning. */
const rejectSingleGroups = ({ groupBy, conditions }: Draft): void => {
  const one = conditions.find(
    ({ field, search, value }) => value !== undefined && groupBy.includes(field) && !/^NOT |:\(/.test(search),
  );
  if (one !== undefined)
    throw new UnclearQuestionError(
      `the question groups by ${one.field}, but contains only one value of it: remove ${one.value} or "by ${one.field}"`,
    );
};

const isRanked = ({ aggregationWords: ways }: Draft): boolean => ways.has('most') || ways.has('least');
const hasNumber = ({ unassignedFields: loose }: Draft): boolean => loose.some(({ isNumber }) => isNumber);

/** Words that the query would ignore, with the suggested alternative */
const ignoredWordRules: readonly (readonly [isLost: (draft: Draft) => boolean, reason: string])[] = [
  [
    ({ aggregationWords: ways, distinct }) => ways.has('distinct') && distinct.length === 0,
    'the distinct values have no field: name one, such as "different services"',
  ],
  [
    (draft) =>
      draft.distinct.length > 0 && (draft.figures.length > 0 || draft.nouns.has('latency') || hasNumber(draft)),
    'the question contains a number of values and another aggregation: use one at a time',
  ],
  [
    ({ aggregationWords: ways }) => ways.has('when') && !ways.has('newest') && !ways.has('oldest'),
    'the time of an event is in its records: query the last or first records',
  ],
  [
    ({ aggregationWords: ways, limit }) => ways.has('share') && limit !== undefined,
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
    ({ aggregationWords: ways, nouns, distinct, figures }) =>
      ways.has('share') &&
      (nouns.has('latency') || distinct.length > 0 || figures.some(({ function: name }) => name !== 'avg')),
    'the question contains a share and another aggregation: use one at a time',
  ],
  [
    ({ aggregationWords: ways, nouns, conditions }) =>
      ways.has('count') && nouns.has('latency') && conditions.some(({ isPart }) => isPart === true),
    'the question contains a number and a duration of different data: use one at a time',
  ],
];
