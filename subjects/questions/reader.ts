/**
 * Converts the words of a question to marks for one target. Each word becomes part of a mark, including words without
 * meaning.
 */

import { ComparisonReader } from './comparisons.ts';
import { equalityCondition, existenceCondition, textCondition } from './conditions.ts';
import type { Candidates, Lexicon, NamedValue, Target } from './lexicon.ts';
import { type Condition, type Mark, type MarkCandidates, type MarkedWords, singleMark } from './marks.ts';
import { parseLimit, parsePercentile, parseStatus, parseStep } from './numbers-in-text.ts';
import { matchOperator, matchPhrase } from './phrases.ts';
import { parseNumber } from './quantities.ts';
import { type Now, TimeReader } from './times.ts';
import { type Vocabulary, vocabularies } from './vocabulary.ts';
import { nameStems, type Word } from './words.ts';

/** Part of the question that names the metric */
export interface Phrase {
  readonly at: number;
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
    this.#vocabulary = vocabularies[target.of];
    this.#times = new TimeReader(words, now);
    this.#comparisons = new ComparisonReader(words, { lexicon, vocabulary: this.#vocabulary, target });
  }

  /** Returns marks for all words. They contain the words as `written`, before spelling corrections. */
  read(written: readonly Word[] = this.#words): MarkedWords[] {
    const marked: MarkedWords[] = [];
    for (let at = 0; at < this.#words.length; ) {
      const found = this.#parseAt(at);
      const text = written
        .slice(at, at + found.words)
        .map((word) => word.text)
        .join(' ');
      marked.push({ text, marks: found.marks });
      at += found.words;
    }
    return marked;
  }

  #parseAt(at: number): MarkCandidates {
    const word = this.#words[at] as Word;
    if (this.#phrase?.at === at) return singleMark(this.#phrase.words, { is: 'noun', noun: 'metric' });
    if (word.is === 'comma') return singleMark(1, { is: 'and' });
    if (word.is === 'condition') return this.#parseCondition(word);
    return (
      parseStep(this.#words, at) ??
      this.#parseTime(at) ??
      parsePercentile(this.#words, at) ??
      parseLimit(this.#words, at, { vocabulary: this.#vocabulary, lexicon: this.#lexicon }) ??
      parseStatus(this.#words, at, this.#lexicon) ??
      this.#comparisons.parseAt(at) ??
      this.#containing(at) ??
      this.#matchEntityNoun(at) ??
      this.#matchDuration(at) ??
      this.#parseTraceId(at) ??
      this.#matchNameOrPhrase(at) ??
      this.#parseQuoted(at) ??
      this.#parseNumber(at) ??
      singleMark(1, { is: 'unknown' })
    );
  }

  /** Parses `service:cart`, a condition in the search language. */
  #parseCondition({ text }: Word): MarkCandidates {
    const search = text.startsWith('-') ? `NOT ${text.slice(1)}` : text;
    const field = text.slice(text.startsWith('-') ? 1 : 0, text.indexOf(':'));
    return singleMark(
      1,
      this.#lexicon.field(field) === undefined ? { is: 'unknown' } : { is: 'condition', condition: { search, field } },
    );
  }

  #parseTime(at: number): MarkCandidates | undefined {
    const timeMatch = this.#times.parseAt(at);
    return timeMatch && singleMark(timeMatch.words, { is: 'time', time: timeMatch.value });
  }

  /** Parses `containing "out of stock"`; one word needs no quotes. */
  #containing(at: number): MarkCandidates | undefined {
    const operator = matchOperator(this.#words, at);
    const word = operator?.operator === 'contains' ? this.#words[at + operator.words] : undefined;
    if (operator === undefined || word === undefined || this.#target.of === 'metrics') return undefined;
    return singleMark(operator.words + 1, { is: 'condition', condition: textCondition(word.inside) });
  }

  /** Matches "mean time" and "redis time": the duration of spans. */
  #matchDuration(at: number): MarkCandidates | undefined {
    const before = at > 0 ? matchPhrase(this.#words.slice(0, at), at - 1, this.#vocabulary)?.mark.is : undefined;
    const isFigure = before === 'figure' || before === 'total' || parsePercentile(this.#words, at - 1)?.words === 1;
    const isOfDatabase =
      at > 0 &&
      this.#lexicon.valueAt(this.#words.slice(0, at), at - 1)?.options.some(({ field }) => /^db\./.test(field));
    return this.#target.of === 'traces' && this.#words[at]?.stem === 'time' && (isFigure || isOfDatabase)
      ? singleMark(1, { is: 'noun', noun: 'latency' })
      : undefined;
  }

  /** Parses `4bf92f3577b34da6a3ce929d0e0e4736` and "trace 4bf92f…": the form of a trace id is unambiguous. */
  #parseTraceId(at: number): MarkCandidates | undefined {
    const before = this.#words[at]?.stem === 'trace' ? 1 : 0;
    const id = this.#words[at + before]?.lower ?? '';
    return this.#target.of !== 'metrics' && /^[0-9a-f]{32}$/.test(id)
      ? singleMark(before + 1, { is: 'condition', condition: equalityCondition('traceId', id) })
      : undefined;
  }

  /**
   * Matches nouns of records that have a certain field: exceptions, database queries. "By exception" groups by that
   * field.
   */
  #matchEntityNoun(at: number): MarkCandidates | undefined {
    const name = entityFields.get(this.#words[at]?.stem ?? '')?.find((each) => this.#lexicon.field(each) !== undefined);
    if (name === undefined || (this.#lexicon.fieldAt(this.#words, at)?.words ?? 0) > 1) return undefined;
    const before = this.#words[at - 1];
    const isGroup =
      /^(?:by|per|each|which|top|common|frequent|unique|distinct|different)$/.test(before?.stem ?? '') ||
      parseNumber(before) !== undefined;
    return isGroup
      ? singleMark(1, { is: 'field', field: name, isNumber: false })
      : singleMark(1, { is: 'condition', condition: existenceCondition(name) });
  }

  /**
   * Returns the longest match: a value, a field, or a phrase of the language. For equal lengths, the phrase has
   * precedence over a name.
   */
  #matchNameOrPhrase(at: number): MarkCandidates | undefined {
    const before = this.#matchValueBeforeField(at);
    if (before !== undefined) return before;
    const phrase = matchPhrase(this.#words, at, this.#vocabulary);
    const value = this.#lexicon.valueAt(this.#words, at);
    const field = this.#lexicon.fieldAt(this.#words, at);
    const longest = Math.max(value?.words ?? 0, field?.words ?? 0);
    const word = this.#words[at] as Word;
    const isName = longest > 0 && this.#isName(at, { phraseKind: phrase?.mark.is, value, field });
    if (phrase !== undefined && phrase.words >= longest && !isName) return singleMark(phrase.words, phrase.mark);
    const noun: readonly Mark[] = longest <= 1 && this.#describesValue(at) ? [{ is: 'noise' }] : [];
    const isValue = value !== undefined && isBareValue(word) && value.words >= (field?.words ?? 0);
    const marks = isValue
      ? value.options.map((each): Mark => ({ is: 'condition', condition: this.#toCondition(each, at) }))
      : (field?.options ?? []).map(({ name, isNumber }): Mark => ({ is: 'field', field: name, isNumber }));
    const words = (isValue ? value.words : field?.words) ?? 1;
    return noun.length + marks.length === 0 ? undefined : { words, marks: [...noun, ...marks] };
  }

  /** "From gates" and "by gates" name an origin. */
  #toCondition({ field, value }: NamedValue, at: number): Condition {
    const before = this.#words[at - 1]?.lower ?? '';
    return {
      ...equalityCondition(field, value),
      ...(before === 'from' || before === 'by' ? { isFrom: true as const } : {}),
    };
  }

  /**
   * Returns whether a noun describes the value next to it: "rejected readings" with a field `reading.status`, "sports
   * articles" with `article.id`.
   */
  #describesValue(at: number): boolean {
    const stem = this.#words[at]?.stem;
    if (!this.#lexicon.fields.some(({ name }) => /[._]/.test(name) && nameStems(name)[0] === stem)) return false;
    const behind = beingForms.has(this.#words[at + 1]?.lower ?? '') ? at + 2 : at + 1;
    return [at - 1, behind].some((place) =>
      this.#lexicon
        .valueAt(this.#words.slice(0, Math.max(at, place + 1)), place)
        ?.options.some(({ field }) => field !== 'service' && field !== 'severity'),
    );
  }

  /** Returns whether words that match both a name and a phrase of the language mean the name. */
  #isName(
    at: number,
    {
      phraseKind,
      value,
      field,
    }: { phraseKind: Mark['is'] | undefined; value: Candidates<NamedValue> | undefined; field: unknown },
  ): boolean {
    const word = this.#words[at] as Word;
    if (word.is === 'quoted' || /[._/-]/.test(word.text)) return true;
    // Noise words are a name if a field has that name.
    if (phraseKind === 'noise' && field !== undefined && word.lower.length > 3) return true;
    // "Requests of search", "the slowest search": in these positions, a service name is not the verb "search", which
    // begins a question.
    const before = this.#words[at - 1]?.lower ?? '';
    const isOrder = at === 0 || requestWords.has(before);
    const isBehind = (phraseKind === 'noise' && namePrepositions.has(before)) || (phraseKind === 'list' && !isOrder);
    if (isBehind && value?.options[0]?.field === 'service') return true;
    return /^[A-Z]{2,}/.test(word.text) && value?.options.some((each) => each.value === word.text) === true;
  }

  /** Matches "first class" and "gold tier": a value followed by its field, whatever else the word means. */
  #matchValueBeforeField(at: number): MarkCandidates | undefined {
    const value = this.#lexicon.valueAt(this.#words, at);
    if (value === undefined) return undefined;
    const behind = at + value.words;
    const named = value.options.map((each) => this.#lexicon.mayName(this.#words, behind, each.field));
    const words = Math.max(...named);
    // Another field that more words name has precedence.
    if (words === 0 || (this.#lexicon.fieldAt(this.#words, behind)?.words ?? 0) > words) return undefined;
    const matchingValues = value.options.filter((_each, index) => named[index] === words);
    return {
      words: value.words + words,
      marks: matchingValues.map((each) => ({ is: 'condition', condition: equalityCondition(each.field, each.value) })),
    };
  }

  #parseQuoted(at: number): MarkCandidates | undefined {
    const word = this.#words[at] as Word;
    return word.is === 'quoted' && word.inside.trim() !== '' && this.#target.of !== 'metrics'
      ? singleMark(1, { is: 'condition', condition: textCondition(word.inside) })
      : undefined;
  }

  #parseNumber(at: number): MarkCandidates | undefined {
    const number = parseNumber(this.#words[at]);
    return number && singleMark(1, { is: 'number', ...number });
  }
}

const beingForms: ReadonlySet<string> = new Set(['is', 'are', 'was', 'were', 'been', 'being']);
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
