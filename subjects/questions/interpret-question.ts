/** Interprets a question over a tenant's data. Pure: the same question, names and time have the same result. */
import { getQueryKind } from '../../queries/query-kind.ts';
import type { Range } from '../../queries/range.ts';
import { resolveStepMs } from '../../queries/steps.ts';
import { assemble, type Draft, UnclearQuestionError } from './assemble.ts';
import type { Catalogue, CatalogueMetric, CatalogueRecords } from './catalogue.ts';
import { continueDraft } from './continuations.ts';
import { resolveDeployments } from './deployment-times.ts';
import { currentText, describeMark } from './format.ts';
import { causeRefusal, findIntent, findInvestigationIntent, type InvestigationIntent } from './intents.ts';
import type { ErrorResponse, Interpretation, InterpretationResult, InterpretedWord } from './interpretation.ts';
import { interpretInvestigation } from './investigate.ts';
import { isSearch, parsePromql, parseSearchQuery } from './languages.ts';
import { getLexicon, type Lexicon, type Target } from './lexicon.ts';
import type { Mark, MarkedWords } from './marks.ts';
import { fillerWords, MetricIndex, type Phrase } from './metric-phrases.ts';
import { interpretMetric } from './metric-query.ts';
import { resolveRange, shiftRange } from './ranges.ts';
import { QuestionReader } from './reader.ts';
import { interpretRecords, type Meaning } from './records-query.ts';
import { correctSpelling, findSimilarNames } from './spelling.ts';
import { isPeriodBefore, type Now, type TimePart, timeWords } from './times.ts';
import { genericWords, slipWords, vocabularyWords } from './vocabulary.ts';
import { maxWords, splitWords, toStem, type Word } from './words.ts';

export interface Question extends Now {
  readonly question: string;
  /** Earlier questions that this one may continue, the oldest first */
  readonly previousQuestions?: readonly string[];
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
      readonly problem: UnclearQuestionError | undefined;
      readonly words: readonly InterpretedWord[];
    };

/** A question of a conversation, with the words that name a metric */
interface Turn {
  readonly words: readonly Word[];
  readonly writtenWords: readonly Word[];
  readonly phrase: Phrase | undefined;
  /** Names of the metrics that the phrase may name */
  readonly metrics: readonly string[];
}

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

/**
 * Interprets a question. A question such as "and for payments?", or one that has no meaning alone, continues the earlier
 * ones: its conditions, groups, times and order replace theirs.
 */
export const interpretQuestion = (
  input: Question,
  catalogue: Catalogue,
  labelledMetrics: MetricsByName = new Map(),
): InterpretationResult => {
  const { question, previousQuestions = [] } = input;
  const result = interpretAlone(input, catalogue, labelledMetrics);
  const isFinal = result.is === 'refusal' && !continuableRefusals.has(result.refusal.code);
  if (previousQuestions.length === 0 || isFinal || !(result.is === 'refusal' || isContinuation(question)))
    return result;
  const continued = interpretContinuation(input, previousQuestions, catalogue, labelledMetrics);
  return continued === undefined || continued.is === 'refusal' ? result : continued;
};

/** Rejections that an earlier question may resolve */
const continuableRefusals: ReadonlySet<string> = new Set(['unclear', 'unknown-name', 'comparison']);

const interpretAlone = (
  input: Question,
  catalogue: Catalogue,
  labelledMetrics: MetricsByName,
): InterpretationResult => {
  const { question, defaultRange: range } = input;
  const promql = parsePromql(question);
  if (promql !== undefined) return toWrittenQuery(question, range, [promql]);
  const { records, index, names: storedNames } = prepareCatalogue(catalogue);
  if (isSearch(question)) return interpretSearch(question, range, records);
  const writtenWords = splitWords(question);
  if (writtenWords.length > maxWords)
    return createErrorResponse({
      code: 'unclear',
      reason: `the question has more than ${maxWords} words: enter a shorter question`,
      nearest: [],
      operation: null,
    });
  const labels = listLabelWords(writtenWords, catalogue, labelledMetrics);
  const words = correctWords(writtenWords, catalogue, labelledMetrics);
  const investigationIntent = findInvestigationIntent(words);
  const investigation = investigationIntent && investigate(investigationIntent, words, input, catalogue);
  if (investigation !== undefined) return investigation;
  const intent = findIntent(words, (word) => storedNames.has(word) || labels.has(word));
  if (intent !== undefined) return createErrorResponse(intent);
  const targetContexts = [...records, ...createMetricContexts(words, index, catalogue, labelledMetrics)];
  const attempts = targetContexts.map((reader) =>
    interpretTarget([{ words, writtenWords, phrase: reader.phrase, metrics: [] }], reader, input, catalogue),
  );
  return selectResult(attempts, targetContexts, catalogue);
};

const investigate = (
  intent: InvestigationIntent,
  words: readonly Word[],
  input: Question,
  catalogue: Catalogue,
): InterpretationResult | undefined => {
  try {
    const investigation = interpretInvestigation(intent, words, input, catalogue);
    if (investigation !== undefined) return { is: 'investigation', investigation };
    return intent.mayBeQuery ? undefined : createErrorResponse({ ...causeRefusal, nearest: [] });
  } catch (error) {
    if (!(error instanceof UnclearQuestionError)) throw error;
    return createErrorResponse({ code: error.code, reason: error.message, nearest: [], operation: null });
  }
};

const listLabelWords = (
  words: readonly Word[],
  catalogue: Catalogue,
  labelledMetrics: MetricsByName,
): ReadonlySet<string> =>
  new Set(
    createMetricContexts(words, prepareCatalogue(catalogue).index, catalogue, labelledMetrics).flatMap(
      ({ lexicon }) => [...lexicon.words()],
    ),
  );

const correctWords = (
  writtenWords: readonly Word[],
  catalogue: Catalogue,
  labelledMetrics: MetricsByName,
): readonly Word[] => {
  const labels = listLabelWords(writtenWords, catalogue, labelledMetrics);
  const { names } = prepareCatalogue(catalogue);
  return correctSpelling(writtenWords, [names, labels, vocabularyWords, timeWordSet], slipWords);
};

const continuationPattern =
  /^\s*(?:and|or|but|also|only|just|now|then|instead|same|again|what about|how about|as an?|for|by|per|in|with|without|except|excluding|break (?:it|that|this|them)|split (?:it|that|this|them)|group (?:it|that|this|them)|(?:show|plot|chart|graph) (?:it|that|this|them))\b|\b(?:instead|the same)\b/i;
const isContinuation = (question: string): boolean => continuationPattern.test(question);

/** Interprets a question as the continuation of earlier ones, over the data of the last one that names its data. */
const interpretContinuation = (
  input: Question,
  previousQuestions: readonly string[],
  catalogue: Catalogue,
  labelledMetrics: MetricsByName,
): InterpretationResult | undefined => {
  const { records, index } = prepareCatalogue(catalogue);
  const turns = [...previousQuestions, input.question].map((text): Turn => {
    const writtenWords = splitWords(text, maxWords);
    const words = correctWords(writtenWords, catalogue, labelledMetrics);
    const contexts = createMetricContexts(words, index, catalogue, labelledMetrics);
    const metrics = contexts.flatMap(({ target }) => (target.signal === 'metrics' ? [target.metric.name] : []));
    return { words, writtenWords, phrase: contexts[0]?.phrase, metrics };
  });
  const namingTurn = turns.findLast(({ phrase }) => phrase !== undefined);
  const metrics =
    namingTurn === undefined ? [] : createMetricContexts(namingTurn.words, index, catalogue, labelledMetrics);
  // Names of other metrics, and those of metrics in log records and spans, are plain words.
  const selectPhrase = (turn: Turn, { target }: TargetContext, source: string | undefined): Turn => {
    const isNamed = source === undefined || turn.metrics.includes(source);
    return target.signal === 'metrics' && isNamed ? turn : { ...turn, phrase: undefined };
  };
  const interpretFor = (targetContexts: readonly TargetContext[], source?: string): InterpretationResult =>
    selectResult(
      targetContexts.map((context) =>
        interpretTarget(
          turns.map((turn) => selectPhrase(turn, context, source)),
          context,
          input,
          catalogue,
        ),
      ),
      targetContexts,
      catalogue,
    );
  const source = findSource(previousQuestions, input, catalogue, labelledMetrics);
  const allMetrics = turns.flatMap(({ words }) => createMetricContexts(words, index, catalogue, labelledMetrics));
  const context = [...records, ...allMetrics].find(
    ({ target }) => (target.signal === 'metrics' ? target.metric.name : target.signal) === source,
  );
  const continued = context === undefined ? undefined : interpretFor([context], source);
  return continued === undefined || continued.is === 'refusal' ? interpretFor([...records, ...metrics]) : continued;
};

/** Returns the metric or signal of the last question that continues no other one, if it has one meaning. */
const findSource = (
  previousQuestions: readonly string[],
  input: Question,
  catalogue: Catalogue,
  labelledMetrics: MetricsByName,
): string | undefined => {
  const question = previousQuestions.findLast((each) => !isContinuation(each));
  const result =
    question === undefined ? undefined : interpretAlone({ ...input, question }, catalogue, labelledMetrics);
  if (result?.is !== 'interpretation') return undefined;
  const { query } = result.interpretation;
  const source = query.kind === 'formula' ? Object.values(query.queries)[0] : query;
  return source?.kind === 'metric'
    ? source.metric
    : source !== undefined && 'signal' in source
      ? source.signal
      : undefined;
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
  const words = correctSpelling(splitWords(question, maxWords), [names, vocabularyWords, timeWordSet], slipWords);
  return index.findPhrase(words)?.metrics.slice(0, maxMetrics) ?? [];
};

const createErrorResponse = (refusal: ErrorResponse, words: readonly InterpretedWord[] = []): InterpretationResult => ({
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
  return createErrorResponse({
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

/** Interprets questions that continue each other, of which the result has the words of the last one. */
const interpretTarget = (
  turns: readonly Turn[],
  { target, lexicon }: TargetContext,
  input: Question,
  catalogue: Catalogue,
): Attempt => {
  const markedTurns = turns.map(({ words, writtenWords, phrase }) =>
    new QuestionReader(words, { target, lexicon, phrase, now: input }).read(writtenWords),
  );
  const marked = markedTurns.at(-1) ?? [];
  const toReadWords = (marks: readonly Mark[]): InterpretedWord[] =>
    marked.map(({ text }, index) => ({ text, mappedTo: describeMark(marks[index] as Mark, target) }));
  const unknown = markedTurns
    .flat()
    .filter(({ marks }) => marks[0]?.is === 'unknown')
    .map(({ text }) => text);
  const firstWords = toReadWords(marked.map(({ marks }) => marks[0] as Mark));
  if (unknown.length > 0) return { unknown, problem: undefined, words: firstWords };
  const problems: UnclearQuestionError[] = [];
  const interpretations = combineMarks(markedTurns.flat()).flatMap((allMarks) => {
    const marksByTurn = splitByTurn(allMarks, markedTurns);
    try {
      return interpretMarks(marksByTurn, target, input, catalogue).map((interpretation) => ({
        ...interpretation,
        words: toReadWords(marksByTurn.at(-1) ?? []),
      }));
    } catch (error) {
      if (!(error instanceof UnclearQuestionError)) throw error;
      problems.push(error);
      return [];
    }
  });
  return interpretations.length > 0 ? { interpretations } : { unknown: [], problem: problems[0], words: firstWords };
};

const splitByTurn = (marks: readonly Mark[], markedTurns: readonly (readonly MarkedWords[])[]): (readonly Mark[])[] => {
  const rest = [...marks];
  return markedTurns.map(({ length }) => rest.splice(0, length));
};

type InterpretationWithoutWords = Omit<Interpretation, 'words'>;

const interpretMarks = (
  markedTurns: readonly (readonly Mark[])[],
  target: Target,
  input: Question,
  catalogue: Catalogue,
): InterpretationWithoutWords[] => {
  const draft = markedTurns.map(assemble).reduce(continueDraft);
  const { deployment, ...times } = resolveDeployments(draft, input, findOnlyService(draft));
  const range = toQuestionRange(times.times, input);
  const comparedRange = toComparedRange(times, range, input);
  const meanings =
    target.signal === 'metrics'
      ? interpretMetric(draft, target.metric)
      : interpretRecords(draft, target.signal, hasServerSpans(catalogue));
  return meanings.map(({ query, conditions, stepMs }: Meaning) => ({
    query,
    conditions,
    range,
    ...(comparedRange === undefined ? {} : { comparedRange }),
    ...(deployment === undefined ? {} : { deployment }),
    ...(draft.conditions.some(({ isRequest }) => isRequest) ? { isRoute: true as const } : {}),
    stepMs: stepMs === 'usual' ? resolveStepMs(undefined, range) : stepMs,
  }));
};

/** Returns the service to which a question is limited. */
const findOnlyService = ({ conditions }: Draft): string | undefined => {
  const [condition, ...others] = conditions.filter(
    ({ field, search }) => field === 'service' && !search.startsWith('NOT '),
  );
  return others.length === 0 ? condition?.value : undefined;
};

/** Returns the range of a question; "the week before" is the one before the range of the earlier question. */
const toQuestionRange = (times: readonly TimePart[], input: Question): Range => {
  const range = toRange(
    times.filter((part) => !isPeriodBefore(part)),
    input,
  );
  const { from, to } = range ?? input.defaultRange;
  const lengthMs = times.filter(isPeriodBefore).reduce((sum, { ms }) => sum + ms, 0);
  return lengthMs === 0 ? { from, to } : { from: from - BigInt(lengthMs) * 1_000_000n, to: from - 1n };
};

const toRange = (times: readonly TimePart[], now: Now): Range | undefined => {
  const parsedRange = resolveRange(times, now);
  if (parsedRange !== undefined && 'problem' in parsedRange) throw new UnclearQuestionError(parsedRange.problem);
  return parsedRange?.range;
};

/** "Errors compared with yesterday" compares with the same range a day earlier, "today compared with yesterday" both days. */
const toComparedRange = (
  { times, comparedTimes }: { readonly times: readonly TimePart[]; readonly comparedTimes: readonly TimePart[] },
  range: Range,
  now: Now,
): Range | undefined => {
  if (comparedTimes.length === 0) return undefined;
  if (comparedTimes.every(({ is }) => is === 'before')) {
    const length = range.to - range.from;
    return { from: range.from - length, to: range.from - 1n };
  }
  const [{ ms: lengthMs } = {}] = comparedTimes.filter((part) => part.is === 'last');
  if (lengthMs !== undefined && comparedTimes.length === 1) {
    const shift = BigInt(Math.trunc(lengthMs)) * 1_000_000n;
    return { from: range.from - shift, to: range.to - shift };
  }
  const comparedRange = toRange(comparedTimes, now);
  if (times.length > 0 || comparedRange === undefined) return comparedRange;
  return shiftRange(range, comparedRange, now.nowMs);
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
  const candidates = preferNamedMetrics(withData.length > 0 ? withData : interpretations, targetContexts);
  const byQuery = new Map(
    candidates.map((candidate) => [JSON.stringify([candidate.query, candidate.stepMs]), candidate]),
  );
  const meanings = [...byQuery.values()];
  if (meanings.length === 1) return { is: 'interpretation', interpretation: meanings[0] as Interpretation };
  if (meanings.length > 1) return { is: 'alternatives', interpretations: meanings.slice(0, maxMeanings) };
  const failedAttempts = attempts.flatMap((attempt) => ('unknown' in attempt ? [attempt] : []));
  const closest = failedAttempts.toSorted((left, right) => left.unknown.length - right.unknown.length)[0];
  if (closest === undefined)
    return createErrorResponse({ code: 'unclear', reason: 'the question is empty', nearest: [], operation: null });
  if (closest.problem !== undefined)
    return createErrorResponse(
      { code: closest.problem.code, reason: closest.problem.message, nearest: [], operation: null },
      closest.words,
    );
  return createErrorResponse(createUnknownNameRefusal(closest.unknown, targetContexts, catalogue), closest.words);
};

/**
 * "Bookings made" is the metric `bookings.made`, of which the route `/bookings` is only a part. "Messages received" is
 * `messages.received` rather than all log messages.
 */
const preferNamedMetrics = (
  interpretations: readonly Interpretation[],
  targetContexts: readonly TargetContext[],
): readonly Interpretation[] => {
  const hasNamedMetric = targetContexts.some(({ phrase }) => (phrase?.words ?? 0) > 1);
  const metricInterpretations = interpretations.filter(({ query }) => getQueryKind(query).metrics !== undefined);
  if (metricInterpretations.length === 0) return interpretations;
  return interpretations.filter(
    (other) =>
      metricInterpretations.includes(other) ||
      !(
        (hasNamedMetric && (other.isRoute === true || other.conditions.length === 0)) ||
        metricInterpretations.some((named) => isLessSpecific(other, named))
      ),
  );
};

/**
 * Returns whether an interpretation ignores a word that names the metric of another one, as the data of "how much data
 * was used", or understands several such words as nouns and trends: "dropped calls" is `calls.dropped`.
 */
const isLessSpecific = (other: Interpretation, named: Interpretation): boolean => {
  const [words, nameWords] = [listMappedWords(other), listMappedWords(named)];
  const { metric } = named.query as { readonly metric?: string };
  if (metric === undefined || words.length !== nameWords.length) return false;
  // Records have no current value.
  if (words.some(({ mappedTo }) => mappedTo === currentText)) return true;
  const matching = words.filter(
    ({ text }, index) => nameWords[index]?.mappedTo?.split(';')[0] === metric && !fillerWords.has(text.toLowerCase()),
  );
  // Operations are as many as what the metric counts.
  const isSpecific = ({ mappedTo }: InterpretedWord): boolean =>
    mappedTo !== null && other.conditions.includes(mappedTo) && !mappedTo.startsWith('name:');
  if (matching.some(isSpecific)) return false;
  if (matching.some(({ mappedTo }) => mappedTo === null)) return true;
  const isSameSelection = other.conditions.every(
    (condition) => named.conditions.includes(condition) || /^(?:kind|name):|:\*$/.test(condition),
  );
  return isSameSelection && matching.length > 1 && matching.some(({ text }) => !genericWords.has(toStem(text)));
};

const listMappedWords = ({ words }: Interpretation): InterpretedWord[] =>
  words.flatMap(({ text, mappedTo }) => text.split(' ').map((word) => ({ text: word, mappedTo })));

const hasData = ({ services, fields }: CatalogueRecords): boolean => services.length + fields.length > 0;

const maxNamesInReason = 3;

const createUnknownNameRefusal = (
  unknown: readonly string[],
  targetContexts: readonly TargetContext[],
  { metrics }: Catalogue,
): ErrorResponse => {
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
