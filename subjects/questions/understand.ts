/** Interprets a question over a tenant's data. Pure: the same question, names and time have the same result. */
import { getQueryKind } from '../../queries/query-kind.ts';
import type { Range } from '../../queries/range.ts';
import { resolveStepMs } from '../../queries/steps.ts';
import { assemble, UnclearQuestionError } from './assemble.ts';
import type { Catalogue, KnownMetric, KnownRecords } from './catalogue.ts';
import { describeMark } from './format.ts';
import { findIntent } from './intents.ts';
import { isSearch, parsePromql, parseSearchQuery } from './languages.ts';
import { getLexicon, type Lexicon, type Target } from './lexicon.ts';
import type { Mark, MarkedWords } from './marks.ts';
import { MetricIndex } from './metric-phrases.ts';
import { interpretMetric } from './metric-query.ts';
import { resolveRange } from './ranges.ts';
import { type Phrase, QuestionReader } from './reader.ts';
import { interpretRecords, type Meaning } from './records-query.ts';
import { correctSpelling, findSimilarNames } from './spelling.ts';
import { type Now, timeWords } from './times.ts';
import type { Interpretation, ReadWord, Refusal, Understanding } from './understanding.ts';
import { emptyWords, vocabularyWords } from './vocabulary.ts';
import { maxWords, type Word, wordsOf } from './words.ts';

export interface Question extends Now {
  readonly question: string;
  /** Range of a question without a time */
  readonly defaultRange: Range;
}

/** Maximum number of meanings of one question */
const maxMeanings = 5;
/** Maximum number of readings from words with several meanings */
const maxReadings = 16;
const maxMetrics = 8;

/** Interpretation of a question for one target */
type Attempt =
  | { readonly interpretations: readonly Interpretation[] }
  | { readonly unknown: readonly string[]; readonly problem: string | undefined; readonly words: readonly ReadWord[] };

interface TargetReading {
  readonly target: Target;
  readonly lexicon: Lexicon;
  readonly phrase?: Phrase;
}

/**
 * Metrics with labels, by name. Metrics of the catalogue have no labels if they are only read for metrics that a
 * question names.
 */
export type Labelled = ReadonlyMap<string, KnownMetric>;

export const understand = (input: Question, catalogue: Catalogue, labelled: Labelled = new Map()): Understanding => {
  const { question, defaultRange: range } = input;
  const promql = parsePromql(question);
  if (promql !== undefined) return toWrittenQuery(question, range, [promql]);
  const { records, index, names: landed } = prepareCatalogue(catalogue);
  if (isSearch(question)) return inSearchLanguage(question, range, records);
  const all = wordsOf(question);
  if (all.length > maxWords)
    return createRefusal({
      code: 'unclear',
      reason: `the question has more than ${maxWords} words: enter a shorter question`,
      nearest: [],
      operation: null,
    });
  const labels = new Set(
    metricReadings(all, index, catalogue, labelled).flatMap(({ lexicon }) => [...lexicon.words()]),
  );
  const words = correctSpelling(all, [landed, labels, vocabularyWords, times], emptyWords);
  const intent = findIntent(words, (word) => landed.has(word) || labels.has(word));
  if (intent !== undefined) return createRefusal(intent);
  const readings = [...records, ...metricReadings(words, index, catalogue, labelled)];
  const attempts = readings.map((reading) => attempt(words, all, reading, input, catalogue));
  return conclude(attempts, readings, catalogue);
};

const times: ReadonlySet<string> = new Set(timeWords);

/** Values derived from a catalogue once and reused */
interface Prepared {
  readonly records: readonly TargetReading[];
  readonly index: MetricIndex;
  readonly names: ReadonlySet<string>;
}
const prepared = new WeakMap<Catalogue, Prepared>();

const prepareCatalogue = (catalogue: Catalogue): Prepared => {
  const known = prepared.get(catalogue);
  if (known !== undefined) return known;
  const records = (['logs', 'traces'] as const).map(
    (of): TargetReading => ({ target: { of }, lexicon: getLexicon({ of }, catalogue) }),
  );
  const index = new MetricIndex(catalogue.metrics);
  const names = new Set([...records.flatMap(({ lexicon }) => [...lexicon.words()]), ...index.words()]);
  const made = { records, index, names };
  prepared.set(catalogue, made);
  return made;
};

/** Returns the metrics that a question may name, for which label values are then read. */
export const findNamedMetrics = (question: string, catalogue: Catalogue): readonly KnownMetric[] => {
  const { index, names } = prepareCatalogue(catalogue);
  const words = correctSpelling(wordsOf(question, maxWords), [names, vocabularyWords, times], emptyWords);
  return index.findPhrase(words)?.metrics.slice(0, maxMetrics) ?? [];
};

const createRefusal = (refusal: Refusal, words: readonly ReadWord[] = []): Understanding => ({
  is: 'refusal',
  refusal,
  words,
});

/** Returns the result for a question that is already a query, in one language or for several telemetry signals. */
const toWrittenQuery = (question: string, range: Range, queries: readonly Interpretation['query'][]): Understanding => {
  const interpretations = queries.map((query): Interpretation => {
    const mappedTo = getQueryKind(query).promql === undefined ? 'a search' : 'a PromQL expression';
    return { query, range, stepMs: undefined, conditions: [], words: [{ text: question.trim(), mappedTo }] };
  });
  return interpretations.length === 1
    ? { is: 'interpretation', interpretation: interpretations[0] as Interpretation }
    : { is: 'alternatives', interpretations };
};

/** Maximum number of names of a search for which similar names are searched */
const maxNames = 8;

const inSearchLanguage = (question: string, range: Range, records: readonly TargetReading[]): Understanding => {
  const queries = records.flatMap(({ target, lexicon }) => {
    const query = target.of === 'metrics' ? undefined : parseSearchQuery(question, target.of, lexicon);
    return query === undefined ? [] : [query];
  });
  if (queries.length > 0) return toWrittenQuery(question, range, queries);
  const candidateNames = question
    .split(/\s+/, maxNames)
    .map((piece) => piece.slice(0, Math.max(0, piece.indexOf(':'))));
  const names = records.flatMap(({ lexicon }) => lexicon.fields.map(({ name }) => name));
  const unknown = candidateNames
    .map((name) => name.replace(/^[(-]{1,8}/, ''))
    .filter((name) => name !== '' && !names.includes(name));
  const nearest = [...new Set(unknown.flatMap((name) => findSimilarNames(name, names)))].slice(0, maxNamed);
  return createRefusal({
    code: 'unknown-name',
    reason: 'the search uses names that neither log records nor spans have in full',
    nearest,
    operation: null,
  });
};

const metricReadings = (
  words: readonly Word[],
  index: MetricIndex,
  catalogue: Catalogue,
  labelled: Labelled,
): TargetReading[] => {
  const phrase = index.findPhrase(words);
  return (phrase?.metrics ?? []).slice(0, maxMetrics).map((metric) => {
    const target: Target = { of: 'metrics', metric: labelled.get(metric.name) ?? metric };
    return {
      target,
      lexicon: getLexicon(target, catalogue),
      phrase: { at: phrase?.at ?? 0, words: phrase?.words ?? 0 },
    };
  });
};

/** Returns all combinations of one mark per word. */
const combineMarks = (marked: readonly MarkedWords[]): (readonly Mark[])[] => {
  let found: (readonly Mark[])[] = [[]];
  for (const { marks } of marked)
    found = found.flatMap((before) => marks.map((mark) => [...before, mark])).slice(0, maxReadings);
  return found;
};

const attempt = (
  words: readonly Word[],
  all: readonly Word[],
  { target, lexicon, phrase }: TargetReading,
  input: Question,
  catalogue: Catalogue,
): Attempt => {
  const marked = new QuestionReader(words, { target, lexicon, phrase, now: input }).read(all);
  const wordsRead = (marks: readonly Mark[]): ReadWord[] =>
    marked.map(({ text }, at) => ({ text, mappedTo: describeMark(marks[at] as Mark, target) }));
  const unknown = marked.filter(({ marks }) => marks[0]?.is === 'unknown').map(({ text }) => text);
  const first = wordsRead(marked.map(({ marks }) => marks[0] as Mark));
  if (unknown.length > 0) return { unknown, problem: undefined, words: first };
  const problems: string[] = [];
  const interpretations = combineMarks(marked).flatMap((marks) => {
    try {
      return interpretMarks(marks, target, input, catalogue).map((interpretation) => ({
        ...interpretation,
        words: wordsRead(marks),
      }));
    } catch (error) {
      if (!(error instanceof UnclearQuestionError)) throw error;
      problems.push(error.message);
      return [];
    }
  });
  return interpretations.length > 0 ? { interpretations } : { unknown: [], problem: problems[0], words: first };
};

type Read = Omit<Interpretation, 'words'>;

const interpretMarks = (marks: readonly Mark[], target: Target, input: Question, catalogue: Catalogue): Read[] => {
  const draft = assemble(marks);
  const parsedRange = resolveRange(draft.times, input);
  if (parsedRange !== undefined && 'problem' in parsedRange) throw new UnclearQuestionError(parsedRange.problem);
  const range = parsedRange?.range ?? input.defaultRange;
  const meanings =
    target.of === 'metrics'
      ? interpretMetric(draft, target.metric)
      : interpretRecords(draft, target.of, hasServerSpans(catalogue));
  return meanings.map(({ query, conditions, stepMs }: Meaning) => ({
    query,
    conditions,
    range,
    stepMs: stepMs === 'usual' ? resolveStepMs(undefined, range) : stepMs,
  }));
};

/** If spans have a kind, requests are server spans. */
const hasServerSpans = ({ traces }: Catalogue): boolean =>
  (traces.fields.find(({ name }) => name === 'kind')?.values ?? ['server']).includes('server');

const conclude = (
  attempts: readonly Attempt[],
  readings: readonly TargetReading[],
  catalogue: Catalogue,
): Understanding => {
  const all = attempts.flatMap((each) => ('interpretations' in each ? each.interpretations : []));
  // A data source without records is no second meaning.
  const landed = all.filter(({ query }) => {
    const signal = 'signal' in query ? query.signal : undefined;
    return (signal !== 'logs' && signal !== 'traces') || hasData(catalogue[signal]);
  });
  const candidates = landed.length > 0 ? landed : all;
  const byQuery = new Map(candidates.map((each) => [JSON.stringify([each.query, each.stepMs]), each]));
  const meanings = [...byQuery.values()];
  if (meanings.length === 1) return { is: 'interpretation', interpretation: meanings[0] as Interpretation };
  if (meanings.length > 1) return { is: 'alternatives', interpretations: meanings.slice(0, maxMeanings) };
  const failed = attempts.flatMap((each) => ('unknown' in each ? [each] : []));
  const closest = failed.toSorted((one, other) => one.unknown.length - other.unknown.length)[0];
  if (closest === undefined)
    return createRefusal({ code: 'unclear', reason: 'the question is empty', nearest: [], operation: null });
  if (closest.problem !== undefined)
    return createRefusal({ code: 'unclear', reason: closest.problem, nearest: [], operation: null }, closest.words);
  return createRefusal(unknownNames(closest.unknown, readings, catalogue), closest.words);
};

const hasData = ({ services, fields }: KnownRecords): boolean => services.length + fields.length > 0;

const maxNamed = 3;

const unknownNames = (
  unknown: readonly string[],
  readings: readonly TargetReading[],
  { metrics }: Catalogue,
): Refusal => {
  const names = new Set([
    ...readings.flatMap(({ lexicon }) => lexicon.fields.flatMap(({ name, values }) => [name, ...values])),
    ...metrics.map(({ name }) => name),
  ]);
  const shown = [...new Set(unknown)].slice(0, maxNamed);
  const nearest = [...new Set(shown.flatMap((word) => findSimilarNames(word, names)))].slice(0, maxNamed);
  const list = shown.map((word) => `"${word.slice(0, 100)}"`).join(' and ');
  const like = nearest.length === 0 ? '' : `; like it: ${nearest.join(', ')}`;
  return {
    code: 'unknown-name',
    nearest,
    operation: null,
    reason: `no stored data is named ${list}: no service, field, value or metric${like}`,
  };
};
