/** Interprets a question over a tenant's data. Pure: the same question, names and time have the same result. */
import { getQueryKind } from '../../queries/query-kind.ts';
import type { Range } from '../../queries/range.ts';
import { resolveStepMs } from '../../queries/steps.ts';
import { assemble, UnclearQuestionError } from './assemble.ts';
import type { Catalogue, CatalogueMetric, CatalogueRecords } from './catalogue.ts';
import { describeMark } from './format.ts';
import { findIntent } from './intents.ts';
import type { Interpretation, InterpretationResult, InterpretedWord, Refusal } from './interpretation.ts';
import { isSearch, parsePromql, parseSearchQuery } from './languages.ts';
import { getLexicon, type Lexicon, type Target } from './lexicon.ts';
import type { Mark, MarkedWords } from './marks.ts';
import { MetricIndex } from './metric-phrases.ts';
import { interpretMetric } from './metric-query.ts';
import { findNamedService } from './named-services.ts';
import { resolveRange } from './ranges.ts';
import { type Phrase, QuestionReader } from './reader.ts';
import { interpretRecords, type Meaning } from './records-query.ts';
import { correctSpelling, findSimilarNames } from './spelling.ts';
import { type Now, timeWords } from './times.ts';
import { noiseWords, vocabularyWords } from './vocabulary.ts';
import { maxWords, splitWords, type Word } from './words.ts';

export interface Question extends Now {
  readonly question: string;
  /** Range of a question without a time */
  readonly defaultRange: Range;
}

/** Maximum number of meanings of one question */
const maxMeanings = 5;
/** Maximum number of combinations of marks for words with several meanings */
const maxReadings = 16;
const maxMetrics = 8;

/** Interpretation of a question for one target */
type Attempt =
  | { readonly interpretations: readonly Interpretation[] }
  | {
      readonly unknown: readonly string[];
      readonly problem: string | undefined;
      readonly words: readonly InterpretedWord[];
    };

interface TargetContext {
  readonly target: Target;
  readonly lexicon: Lexicon;
  readonly phrase?: Phrase;
}

/**
 * Metrics with labels, by name. Metrics in the catalogue have no labels; labels are only read for the metrics that a
 * question names.
 */
export type MetricsByName = ReadonlyMap<string, CatalogueMetric>;

export const interpretQuestion = (
  input: Question,
  catalogue: Catalogue,
  labelledMetrics: MetricsByName = new Map(),
): InterpretationResult => {
  const { question, defaultRange: range } = input;
  const promql = parsePromql(question);
  if (promql !== undefined) return toWrittenQuery(question, range, [promql]);
  const { records, index, names: storedNames } = prepareCatalogue(catalogue);
  if (isSearch(question)) return interpretSearch(question, range, records);
  const writtenWords = splitWords(question);
  if (writtenWords.length > maxWords)
    return createRefusal({
      code: 'unclear',
      reason: `the question has more than ${maxWords} words: enter a shorter question`,
      nearest: [],
      operation: null,
    });
  const labels = new Set(
    createMetricContexts(writtenWords, index, catalogue, labelledMetrics).flatMap(({ lexicon }) => [
      ...lexicon.words(),
    ]),
  );
  const words = correctSpelling(writtenWords, [storedNames, labels, vocabularyWords, timeWordSet], noiseWords);
  const intent = findIntent(words, (word) => storedNames.has(word) || labels.has(word));
  if (intent !== undefined) return createRefusal({ ...intent, service: findNamedService(words, catalogue) });
  const targetContexts = [...records, ...createMetricContexts(words, index, catalogue, labelledMetrics)];
  const attempts = targetContexts.map((reading) => interpretTarget(words, writtenWords, reading, input, catalogue));
  return selectResult(attempts, targetContexts, catalogue);
};

const timeWordSet: ReadonlySet<string> = new Set(timeWords);

/** Values derived from a catalogue once and reused */
interface PreparedCatalogue {
  readonly records: readonly TargetContext[];
  readonly index: MetricIndex;
  readonly names: ReadonlySet<string>;
}
const preparedCatalogues = new WeakMap<Catalogue, PreparedCatalogue>();

const prepareCatalogue = (catalogue: Catalogue): PreparedCatalogue => {
  const cached = preparedCatalogues.get(catalogue);
  if (cached !== undefined) return cached;
  const records = (['logs', 'traces'] as const).map(
    (signal): TargetContext => ({ target: { signal }, lexicon: getLexicon({ signal }, catalogue) }),
  );
  const index = new MetricIndex(catalogue.metrics);
  const storedNames = new Set([...records.flatMap(({ lexicon }) => [...lexicon.words()]), ...index.words()]);
  const preparedCatalogue = { records, index, names: storedNames };
  preparedCatalogues.set(catalogue, preparedCatalogue);
  return preparedCatalogue;
};

/** Returns the metrics that a question may name, for which label values are then read. */
export const findNamedMetrics = (question: string, catalogue: Catalogue): readonly CatalogueMetric[] => {
  const { index, names } = prepareCatalogue(catalogue);
  const words = correctSpelling(splitWords(question, maxWords), [names, vocabularyWords, timeWordSet], noiseWords);
  return index.findPhrase(words)?.metrics.slice(0, maxMetrics) ?? [];
};

const createRefusal = (refusal: Refusal, words: readonly InterpretedWord[] = []): InterpretationResult => ({
  is: 'refusal',
  refusal,
  words,
});

/** Returns the result for a question that is already a query, in one language or for several telemetry signals. */
const toWrittenQuery = (
  question: string,
  range: Range,
  queries: readonly Interpretation['query'][],
): InterpretationResult => {
  const interpretations = queries.map((query): Interpretation => {
    const mappedTo = getQueryKind(query).promql === undefined ? 'a search' : 'a PromQL expression';
    return { query, range, stepMs: undefined, conditions: [], words: [{ text: question.trim(), mappedTo }] };
  });
  return interpretations.length === 1
    ? { is: 'interpretation', interpretation: interpretations[0] as Interpretation }
    : { is: 'alternatives', interpretations };
};

/** Maximum number of field names in a search for which similar names are looked up */
const maxNames = 8;

const interpretSearch = (question: string, range: Range, records: readonly TargetContext[]): InterpretationResult => {
  const queries = records.flatMap(({ target, lexicon }) => {
    const query = target.signal === 'metrics' ? undefined : parseSearchQuery(question, target.signal, lexicon);
    return query === undefined ? [] : [query];
  });
  if (queries.length > 0) return toWrittenQuery(question, range, queries);
  const candidateNames = question.split(/\s+/, maxNames).map((part) => part.slice(0, Math.max(0, part.indexOf(':'))));
  const names = records.flatMap(({ lexicon }) => lexicon.fields.map(({ name }) => name));
  const unknown = candidateNames
    .map((name) => name.replace(/^[(-]{1,8}/, ''))
    .filter((name) => name !== '' && !names.includes(name));
  const nearest = [...new Set(unknown.flatMap((name) => findSimilarNames(name, names)))].slice(0, maxNamesInReason);
  return createRefusal({
    code: 'unknown-name',
    reason: 'the search uses names that neither log records nor spans have in full',
    nearest,
    operation: null,
  });
};

const createMetricContexts = (
  words: readonly Word[],
  index: MetricIndex,
  catalogue: Catalogue,
  labelledMetrics: MetricsByName,
): TargetContext[] => {
  const phrase = index.findPhrase(words);
  return (phrase?.metrics ?? []).slice(0, maxMetrics).map((metric) => {
    const target: Target = { signal: 'metrics', metric: labelledMetrics.get(metric.name) ?? metric };
    return {
      target,
      lexicon: getLexicon(target, catalogue),
      phrase: { position: phrase?.position ?? 0, words: phrase?.words ?? 0 },
    };
  });
};

/** Returns all combinations of one mark per word. */
const combineMarks = (marked: readonly MarkedWords[]): (readonly Mark[])[] => {
  let combinations: (readonly Mark[])[] = [[]];
  for (const { marks } of marked)
    combinations = combinations.flatMap((before) => marks.map((mark) => [...before, mark])).slice(0, maxReadings);
  return combinations;
};

const interpretTarget = (
  words: readonly Word[],
  writtenWords: readonly Word[],
  { target, lexicon, phrase }: TargetContext,
  input: Question,
  catalogue: Catalogue,
): Attempt => {
  const marked = new QuestionReader(words, { target, lexicon, phrase, now: input }).read(writtenWords);
  const toReadWords = (marks: readonly Mark[]): InterpretedWord[] =>
    marked.map(({ text }, index) => ({ text, mappedTo: describeMark(marks[index] as Mark, target) }));
  const unknown = marked.filter(({ marks }) => marks[0]?.is === 'unknown').map(({ text }) => text);
  const firstWords = toReadWords(marked.map(({ marks }) => marks[0] as Mark));
  if (unknown.length > 0) return { unknown, problem: undefined, words: firstWords };
  const problems: string[] = [];
  const interpretations = combineMarks(marked).flatMap((marks) => {
    try {
      return interpretMarks(marks, target, input, catalogue).map((interpretation) => ({
        ...interpretation,
        words: toReadWords(marks),
      }));
    } catch (error) {
      if (!(error instanceof UnclearQuestionError)) throw error;
      problems.push(error.message);
      return [];
    }
  });
  return interpretations.length > 0 ? { interpretations } : { unknown: [], problem: problems[0], words: firstWords };
};

type InterpretationWithoutWords = Omit<Interpretation, 'words'>;

const interpretMarks = (
  marks: readonly Mark[],
  target: Target,
  input: Question,
  catalogue: Catalogue,
): InterpretationWithoutWords[] => {
  const draft = assemble(marks);
  const parsedRange = resolveRange(draft.times, input);
  if (parsedRange !== undefined && 'problem' in parsedRange) throw new UnclearQuestionError(parsedRange.problem);
  const range = parsedRange?.range ?? input.defaultRange;
  const meanings =
    target.signal === 'metrics'
      ? interpretMetric(draft, target.metric)
      : interpretRecords(draft, target.signal, hasServerSpans(catalogue));
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

const selectResult = (
  attempts: readonly Attempt[],
  targetContexts: readonly TargetContext[],
  catalogue: Catalogue,
): InterpretationResult => {
  const interpretations = attempts.flatMap((attempt) => ('interpretations' in attempt ? attempt.interpretations : []));
  // A data source without records does not make a question ambiguous.
  const withData = interpretations.filter(({ query }) => {
    const signal = 'signal' in query ? query.signal : undefined;
    return (signal !== 'logs' && signal !== 'traces') || hasData(catalogue[signal]);
  });
  const candidates = withData.length > 0 ? withData : interpretations;
  const byQuery = new Map(
    candidates.map((candidate) => [JSON.stringify([candidate.query, candidate.stepMs]), candidate]),
  );
  const meanings = [...byQuery.values()];
  if (meanings.length === 1) return { is: 'interpretation', interpretation: meanings[0] as Interpretation };
  if (meanings.length > 1) return { is: 'alternatives', interpretations: meanings.slice(0, maxMeanings) };
  const failedAttempts = attempts.flatMap((attempt) => ('unknown' in attempt ? [attempt] : []));
  const closest = failedAttempts.toSorted((left, right) => left.unknown.length - right.unknown.length)[0];
  if (closest === undefined)
    return createRefusal({ code: 'unclear', reason: 'the question is empty', nearest: [], operation: null });
  if (closest.problem !== undefined)
    return createRefusal({ code: 'unclear', reason: closest.problem, nearest: [], operation: null }, closest.words);
  return createRefusal(createUnknownNameRefusal(closest.unknown, targetContexts, catalogue), closest.words);
};

const hasData = ({ services, fields }: CatalogueRecords): boolean => services.length + fields.length > 0;

const maxNamesInReason = 3;

const createUnknownNameRefusal = (
  unknown: readonly string[],
  targetContexts: readonly TargetContext[],
  { metrics }: Catalogue,
): Refusal => {
  const names = new Set([
    ...targetContexts.flatMap(({ lexicon }) => lexicon.fields.flatMap(({ name, values }) => [name, ...values])),
    ...metrics.map(({ name }) => name),
  ]);
  const listedWords = [...new Set(unknown)].slice(0, maxNamesInReason);
  const nearest = [...new Set(listedWords.flatMap((word) => findSimilarNames(word, names)))].slice(0, maxNamesInReason);
  const list = listedWords.map((word) => `"${word.slice(0, 100)}"`).join(' and ');
  const hint = nearest.length === 0 ? '' : `; like it: ${nearest.join(', ')}`;
  return {
    code: 'unknown-name',
    nearest,
    operation: null,
    reason: `no stored data is named ${list}: no service, field, value or metric${hint}`,
  };
};
