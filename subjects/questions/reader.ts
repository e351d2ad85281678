/**
 * Converts the words of a question to marks for one target. Each word becomes part of a mark, including words without
 * meaning.
 */

import { ComparisonReader } from './comparisons.ts';
import { createEqualityCondition, createExistenceCondition, createTextCondition } from './conditions.ts';
import type { Candidates, Lexicon, NamedValue, Target } from './lexicon.ts';
import { type Condition, createSingleMark, type Mark, type MarkCandidates, type MarkedWords } from './marks.ts';
import { parseLimit, parsePercentile, parseStatus, parseStep } from './numbers-in-text.ts';
import { matchOperator, matchPhrase } from './phrases.ts';
import { parseNumber } from './quantities.ts';
import { type Now, TimeReader } from './times.ts';
import { type Vocabulary, vocabularies } from './vocabulary.ts';
import { splitNameStems, type Word } from './words.ts';

/** Part of the question that names the metric */
export interface Phrase {
  readonly position: number;
  readonly words: number;
}

export class QuestionReader {
  readonly #words: readonly Word[];
  readonly #lexicon: Lexicon;
  readonly #target: Target;
  readonly #phrase: Phrase | undefined;
  readonly #vocabulary: Vocabulary;
  readonly #times: TimeReader;
  readonly #comparisons: ComparisonReader;

  constructor(
    words: readonly Word[],
    { target, lexicon, phrase, now }: { target: Target; lexicon: Lexicon; phrase?: Phrase | undefined; now: Now },
  ) {
    this.#words = words;
    this.#lexicon = lexicon;
    this.#target = target;
    this.#phrase = phrase;
    this.#vocabulary = vocabularies[target.signal];
    this.#times = new TimeReader(words, now);
    this.#comparisons = new ComparisonReader(words, { lexicon, vocabulary: this.#vocabulary, target });
  }

  /** Returns marks for all words. They contain the words as `originalWords`, before spelling corrections. */
  read(originalWords: readonly Word[] = this.#words): MarkedWords[] {
    const markedWords: MarkedWords[] = [];
    for (let position = 0; position < this.#words.length; ) {
      const candidates = this.#parseAt(position);
      const text = originalWords
        .slice(position, position + candidates.words)
        .map((word) => word.text)
        .join(' ');
      markedWords.push({ text, marks: candidates.marks });
      position += candidates.words;
    }
    return markedWords;
  }

  #parseAt(position: number): MarkCandidates {
    const word = this.#words[position] as Word;
    if (this.#phrase?.position === position)
      return createSingleMark(this.#phrase.words, { is: 'noun', noun: 'metric' });
    if (word.is === 'comma') return createSingleMark(1, { is: 'and' });
    if (word.is === 'condition') return this.#parseCondition(word);
    return (
      parseStep(this.#words, position) ??
      this.#parseTime(position) ??
      parsePercentile(this.#words, position) ??
      parseLimit(this.#words, position, { vocabulary: this.#vocabulary, lexicon: this.#lexicon }) ??
      parseStatus(this.#words, position, this.#lexicon) ??
      this.#comparisons.index(position) ??
      this.#parseContains(position) ??
      this.#matchEntityNoun(position) ??
      this.#matchDuration(position) ??
      this.#parseTraceId(position) ??
      this.#matchNameOrPhrase(position) ??
      this.#parseQuoted(position) ??
      this.#parseNumber(position) ??
      createSingleMark(1, { is: 'unknown' })
    );
  }

  /** Parses `service:cart`, a condition in the search language. */
  #parseCondition({ text }: Word): MarkCandidates {
    const search = text.startsWith('-') ? `NOT ${text.slice(1)}` : text;
    const field = text.slice(text.startsWith('-') ? 1 : 0, text.indexOf(':'));
    return createSingleMark(
      1,
      this.#lexicon.field(field) === undefined ? { is: 'unknown' } : { is: 'condition', condition: { search, field } },
    );
  }

  #parseTime(position: number): MarkCandidates | undefined {
    const timeMatch = this.#times.position(position);
    return timeMatch && createSingleMark(timeMatch.words, { is: 'time', time: timeMatch.value });
  }

  /** Parses `containing "out of stock"`; one word needs no quotes. */
  #parseContains(position: number): MarkCandidates | undefined {
    const operator = matchOperator(this.#words, position);
    const word = operator?.operator === 'contains' ? this.#words[position + operator.words] : undefined;
    if (operator === undefined || word === undefined || this.#target.signal === 'metrics') return undefined;
    return createSingleMark(operator.words + 1, { is: 'condition', condition: createTextCondition(word.content) });
  }

  /** Matches "mean time" and "redis time": the duration of spans. */
  #matchDuration(position: number): MarkCandidates | undefined {
    const before =
      position > 0 ? matchPhrase(this.#words.slice(0, position), position - 1, this.#vocabulary)?.mark.is : undefined;
    const followsMeasure =
      before === 'figure' || before === 'total' || parsePercentile(this.#words, position - 1)?.words === 1;
    const followsDatabase =
      position > 0 &&
      this.#lexicon
        .valueAt(this.#words.slice(0, position), position - 1)
        ?.options.some(({ field }) => /^db\./.test(field));
    return this.#target.signal === 'traces' &&
      this.#words[position]?.stem === 'time' &&
      (followsMeasure || followsDatabase)
      ? createSingleMark(1, { is: 'noun', noun: 'latency' })
      : undefined;
  }

  /** Parses `4bf92f3577b34da6a3ce929d0e0e4736` and "trace 4bf92f…": the form of a trace id is unambiguous. */
  #parseTraceId(position: number): MarkCandidates | undefined {
    const before = this.#words[position]?.stem === 'trace' ? 1 : 0;
    const id = this.#words[position + before]?.lower ?? '';
    return this.#target.signal !== 'metrics' && /^[0-9a-f]{32}$/.test(id)
      ? createSingleMark(before + 1, { is: 'condition', condition: createEqualityCondition('traceId', id) })
      : undefined;
  }

  /**
   * Matches nouns of records that have a certain field: exceptions, database queries. "By exception" groups by that
   * field.
   */
  #matchEntityNoun(position: number): MarkCandidates | undefined {
    const name = entityFields
      .get(this.#words[position]?.stem ?? '')
      ?.find((value) => this.#lexicon.field(value) !== undefined);
    if (name === undefined || (this.#lexicon.fieldAt(this.#words, position)?.words ?? 0) > 1) return undefined;
    const before = this.#words[position - 1];
    const isGroup =
      /^(?:by|per|each|which|top|common|frequent|unique|distinct|different)$/.test(before?.stem ?? '') ||
      parseNumber(before) !== undefined;
    return isGroup
      ? createSingleMark(1, { is: 'field', field: name, isNumber: false })
      : createSingleMark(1, { is: 'condition', condition: createExistenceCondition(name) });
  }

  /**
   * Returns the longest match: a value, a field, or a phrase of the language. For equal lengths, the phrase has
   * precedence over a name.
   */
  #matchNameOrPhrase(position: number): MarkCandidates | undefined {
    const before = this.#matchValueBeforeField(position);
    if (before !== undefined) return before;
    const phrase = matchPhrase(this.#words, position, this.#vocabulary);
    const value = this.#lexicon.valueAt(this.#words, position);
    const field = this.#lexicon.fieldAt(this.#words, position);
    const longestLength = Math.max(value?.words ?? 0, field?.words ?? 0);
    const word = this.#words[position] as Word;
    const isName = longestLength > 0 && this.#isName(position, { phraseKind: phrase?.mark.is, value, field });
    if (phrase !== undefined && phrase.words >= longestLength && !isName)
      return createSingleMark(phrase.words, phrase.mark);
    const noiseMarks: readonly Mark[] =
      longestLength <= 1 && this.#isDescriptionOfValue(position) ? [{ is: 'noise' }] : [];
    const isValue = value !== undefined && isBareValue(word) && value.words >= (field?.words ?? 0);
    const marks = isValue
      ? value.options.map(
          (namedValue): Mark => ({ is: 'condition', condition: this.#toCondition(namedValue, position) }),
        )
      : (field?.options ?? []).map(({ name, isNumber }): Mark => ({ is: 'field', field: name, isNumber }));
    const words = (isValue ? value.words : field?.words) ?? 1;
    return noiseMarks.length + marks.length === 0 ? undefined : { words, marks: [...noiseMarks, ...marks] };
  }

  /** "From gates" and "by gates" name an origin. */
  #toCondition({ field, value }: NamedValue, position: number): Condition {
    const before = this.#words[position - 1]?.lower ?? '';
    return {
      ...createEqualityCondition(field, value),
      ...(before === 'from' || before === 'by' ? { isOrigin: true as const } : {}),
    };
  }

  /**
   * Returns whether a noun describes the value next to it: "rejected readings" with a field `reading.status`, "sports
   * articles" with `article.id`.
   */
  #isDescriptionOfValue(position: number): boolean {
    const stem = this.#words[position]?.stem;
    if (!this.#lexicon.fields.some(({ name }) => /[._]/.test(name) && splitNameStems(name)[0] === stem)) return false;
    const nextPosition = formsOfBe.has(this.#words[position + 1]?.lower ?? '') ? position + 2 : position + 1;
    return [position - 1, nextPosition].some((valuePosition) =>
      this.#lexicon
        .valueAt(this.#words.slice(0, Math.max(position, valuePosition + 1)), valuePosition)
        ?.options.some(({ field }) => field !== 'service' && field !== 'severity'),
    );
  }

  /** Returns whether words that match both a name and a phrase of the language mean the name. */
  #isName(
    position: number,
    {
      phraseKind,
      value,
      field,
    }: { phraseKind: Mark['is'] | undefined; value: Candidates<NamedValue> | undefined; field: unknown },
  ): boolean {
    const word = this.#words[position] as Word;
    if (word.is === 'quoted' || /[._/-]/.test(word.text)) return true;
    // Noise words are a name if a field has that name.
    if (phraseKind === 'noise' && field !== undefined && word.lower.length > 3) return true;
    // "Requests of search", "the slowest search": in these positions, a service name is not the verb "search", which
    // begins a question.
    const before = this.#words[position - 1]?.lower ?? '';
    const isOrder = position === 0 || requestWords.has(before);
    const isAfterPreposition =
      (phraseKind === 'noise' && namePrepositions.has(before)) || (phraseKind === 'list' && !isOrder);
    if (isAfterPreposition && value?.options[0]?.field === 'service') return true;
    return /^[A-Z]{2,}/.test(word.text) && value?.options.some((namedValue) => namedValue.value === word.text) === true;
  }

  /** Matches "first class" and "gold tier": a value followed by its field, whatever else the word means. */
  #matchValueBeforeField(position: number): MarkCandidates | undefined {
    const value = this.#lexicon.valueAt(this.#words, position);
    if (value === undefined) return undefined;
    const nextPosition = position + value.words;
    const nameLengths = value.options.map((namedValue) =>
      this.#lexicon.mayName(this.#words, nextPosition, namedValue.field),
    );
    const words = Math.max(...nameLengths);
    // Another field that more words name has precedence.
    if (words === 0 || (this.#lexicon.fieldAt(this.#words, nextPosition)?.words ?? 0) > words) return undefined;
    const matchingValues = value.options.filter((_each, index) => nameLengths[index] === words);
    return {
      words: value.words + words,
      marks: matchingValues.map((matchingValue) => ({
        is: 'condition',
        condition: createEqualityCondition(matchingValue.field, matchingValue.value),
      })),
    };
  }

  #parseQuoted(position: number): MarkCandidates | undefined {
    const word = this.#words[position] as Word;
    return word.is === 'quoted' && word.content.trim() !== '' && this.#target.signal !== 'metrics'
      ? createSingleMark(1, { is: 'condition', condition: createTextCondition(word.content) })
      : undefined;
  }

  #parseNumber(position: number): MarkCandidates | undefined {
    const number = parseNumber(this.#words[position]);
    return number && createSingleMark(1, { is: 'number', ...number });
  }
}

const formsOfBe: ReadonlySet<string> = new Set(['is', 'are', 'was', 'were', 'been', 'being']);
const namePrepositions: ReadonlySet<string> = new Set([
  'of',
  'in',
  'for',
  'from',
  'by',
  'did',
  'does',
  'service',
  'at',
  'to',
]);
/** Words after which a verb is a request */
const requestWords: ReadonlySet<string> = new Set([
  'please',
  'to',
  'you',
  'and',
  'then',
  'me',
  'us',
  'can',
  'could',
  'i',
]);
const databases = ['db.system.name', 'db.system'];
const entityFields: ReadonlyMap<string, readonly string[]> = new Map([
  ['exception', ['exception.type']],
  ...['database', 'db', 'sql', 'query'].map((stem) => [stem, databases] as const),
]);

/** Numbers alone are not values. */
const isBareValue = (word: Word): boolean => word.is === 'quoted' || !/^-?[\d.]+$/.test(word.text);
