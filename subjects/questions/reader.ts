/**
 * Converts the words of a question to marks for one target. Each word becomes part of a mark, including words without
 * meaning.
 */

import { getQuantities } from './adjectives.ts';
import type { CatalogueField } from './catalogue.ts';
import { ComparisonReader } from './comparisons.ts';
import {
  createEqualityCondition,
  createExistenceCondition,
  createTextCondition,
  mergeAlternatives,
} from './conditions.ts';
import {
  type Candidates,
  isTechnicalValue,
  type Lexicon,
  type NamedValue,
  type Target,
  technicalField,
} from './lexicon.ts';
import { type Condition, createSingleMark, type Mark, type MarkCandidates, type MarkedWords } from './marks.ts';
import { countMetricWords, type Phrase } from './metric-phrases.ts';
import { matchOnlyLabel, matchStateOfMetric, matchVerbOfLabel } from './metric-words.ts';
import { parseLimit, parsePercentile, parseStatus, parseStep } from './numbers-in-text.ts';
import { matchOperator, matchPhrase } from './phrases.ts';
import { parseNumber } from './quantities.ts';
import { type Now, TimeReader } from './times.ts';
import { type Vocabulary, vocabularies } from './vocabulary.ts';
import { splitNameStems, toRoot, type Word } from './words.ts';

/** What words at a position may name, and the kind of phrase that they may be */
interface NamesAtPosition {
  readonly phraseKind: Mark['is'] | undefined;
  readonly value: Candidates<NamedValue> | undefined;
  readonly field: Candidates<CatalogueField> | undefined;
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
    this.#comparisons = new ComparisonReader(words, { lexicon, vocabulary: this.#vocabulary, target, phrase });
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
    if (this.#phrase?.position === position && !this.#isGroupBeforeMetric(position))
      return createSingleMark(this.#phrase.words, { is: 'noun', noun: 'metric' });
    if (word.is === 'comma') return createSingleMark(1, { is: 'and' });
    if (word.is === 'condition') return this.#parseCondition(word);
    return (
      parseStep(this.#words, position) ??
      this.#parseTime(position) ??
      this.#matchLeadingNow(position) ??
      this.#matchComparative(position) ??
      parsePercentile(this.#words, position) ??
      parseLimit(this.#words, position, { vocabulary: this.#vocabulary, lexicon: this.#lexicon }) ??
      parseStatus(this.#words, position, this.#lexicon) ??
      this.#comparisons.index(position) ??
      this.#parseContains(position) ??
      this.#matchGenericGroup(position) ??
      this.#matchEntityNoun(position) ??
      this.#matchAny(position) ??
      this.#matchMessageGroup(position) ??
      this.#matchCreation(position) ??
      this.#matchDuration(position) ??
      this.#matchMetricOrigin(position) ??
      this.#parseTraceId(position) ??
      this.#matchMetricPart(matchVerbOfLabel, position) ??
      this.#matchNounOfMetric(position) ??
      this.#matchNameOrPhrase(position) ??
      this.#parseQuoted(position) ??
      this.#parseNumber(position) ??
      this.#parseBareHours(position) ??
      this.#matchServicePart(position) ??
      this.#matchMetricWord(position) ??
      this.#matchMetricPart(matchStateOfMetric, position) ??
      this.#matchPersonsOfValue(position) ??
      this.#matchWorkload(position) ??
      this.#matchEndingOfField(position) ??
      this.#matchVersionVerb(position) ??
      this.#matchHeadOfValue(position) ??
      this.#matchVerbOfField(position) ??
      this.#matchMetricPart(matchOnlyLabel, position) ??
      createSingleMark(1, { is: 'unknown' })
    );
  }

  /**
   * "Which pods use the most memory" and "pods using over 1 GB of memory" group `k8s.pod.memory.usage` by the pod, which is
   * also a word of its name.
   */
  #isGroupBeforeMetric(position: number): boolean {
    const word = this.#words[position] as Word;
    const before = this.#words[position - 1]?.lower ?? '';
    const next = this.#words[position + 1]?.stem ?? '';
    const isSubject =
      word.lower !== word.stem &&
      (isComparative(next) ||
        /^(?:us|use|using|consume|consuming|hold|holding|have|having|contain|containing|with|whose|that|above|below|over|under)$/.test(
          next,
        ));
    return (groupWords.has(before) || isSubject) && this.#lexicon.fieldAt(this.#words, position) !== undefined;
  }

  /** Matches further words of the metric's name, which follow a value: "sent in Europe by the CDN" for `cdn.bytes.sent`. */
  #matchMetricWord(position: number): MarkCandidates | undefined {
    const { metric } = this.#target.signal === 'metrics' ? this.#target : {};
    const isGroup = /^(?:which|per|each)$/.test(this.#words[position - 1]?.lower ?? '');
    const words = metric === undefined || isGroup ? 0 : countMetricWords(this.#words, position, metric);
    return words === 0 ? undefined : createSingleMark(words, { is: 'noun', noun: 'metric' });
  }

  /** Matches the tickets of `tickets.scanned`, although its label `ticket.type` begins with that word. */
  #matchNounOfMetric(position: number): MarkCandidates | undefined {
    const field = this.#target.signal === 'metrics' ? this.#lexicon.fieldAt(this.#words, position) : undefined;
    const isOfType = field?.options.every(({ name }) => this.#isOfType(name, position, field.words)) === true;
    return isOfType ? this.#matchMetricWord(position) : undefined;
  }

  /** Matches "by the CDN" for `cdn.bytes.sent`, which is not a group. */
  #matchMetricOrigin(position: number): MarkCandidates | undefined {
    if (this.#words[position]?.lower !== 'by') return undefined;
    const namePosition = this.#words[position + 1]?.lower === 'the' ? position + 2 : position + 1;
    const isField = this.#lexicon.fieldAt(this.#words, namePosition) !== undefined;
    const name = isField || this.#words[namePosition] === undefined ? undefined : this.#matchMetricWord(namePosition);
    return name && { words: namePosition + name.words - position, marks: name.marks };
  }

  /** Matches the `type` of "rejected claims by type" with the field `claim.type`. */
  #matchEndingOfField(position: number): MarkCandidates | undefined {
    const stem = this.#words[position]?.stem ?? '';
    const isGroup = groupWords.has(this.#words[position - 1]?.lower ?? '');
    if (!isGroup || !/^(?:type|kind|status|state|class|reason|name|id)$/.test(stem)) return undefined;
    const stems = new Set(this.#words.map((word) => word.stem));
    const fields = this.#lexicon.fields.filter(({ name }) => {
      const parts = splitNameStems(name);
      return parts.length > 1 && parts.at(-1) === stem && parts.slice(0, -1).every((part) => stems.has(part));
    });
    const [field] = fields;
    return fields.length === 1 && field !== undefined
      ? createSingleMark(1, { is: 'field', field: field.name, isNumber: field.isNumber })
      : undefined;
  }

  /** Matches the `billing` of "cpu of billing" with the pods billing-7d9 and billing-8fa, if the metric names no service. */
  #matchWorkload(position: number): MarkCandidates | undefined {
    const word = this.#words[position] as Word;
    const field = this.#target.signal === 'metrics' ? this.#lexicon.workloadFieldOf(word) : undefined;
    return field === undefined
      ? undefined
      : createSingleMark(1, { is: 'condition', condition: { search: `${field}:${word.lower}-*`, field } });
  }

  /** Matches the customers of "data of prepaid customers", which a label of the metric describes. */
  #matchPersonsOfValue(position: number): MarkCandidates | undefined {
    const isPerson = this.#target.signal === 'metrics' && persons.has(this.#words[position]?.stem ?? '');
    const isDescribed =
      position > 0 && this.#lexicon.valueAt(this.#words.slice(0, position), position - 1) !== undefined;
    return isPerson && isDescribed ? createSingleMark(1, { is: 'noise' }) : undefined;
  }

  #matchMetricPart(match: typeof matchOnlyLabel, position: number): MarkCandidates | undefined {
    return this.#target.signal === 'metrics'
      ? match({ words: this.#words, lexicon: this.#lexicon, metric: this.#target.metric }, position)
      : undefined;
  }

  /** Matches the verb of "which version is billing running". */
  #matchVersionVerb(position: number): MarkCandidates | undefined {
    const isVerb = /^(?:running|run|deployed)$/.test(this.#words[position]?.stem ?? '');
    const hasVersion = this.#words.some(({ stem }) => /^(?:version|release|build|image)$/.test(stem));
    return isVerb && hasVersion ? createSingleMark(1, { is: 'noise' }) : undefined;
  }

  /** Matches "servers with …" and "by server" with the host, which "server errors" do not name. */
  #matchGenericGroup(position: number): MarkCandidates | undefined {
    const { lower = '', stem = '' } = this.#words[position] ?? {};
    const fields = genericGroups[stem];
    if (fields === undefined || (lower === stem && !groupWords.has(this.#words[position - 1]?.lower ?? '')))
      return undefined;
    const names = this.#lexicon.fields.map(({ name }) => name);
    if (names.includes(stem) || names.some((name) => name.endsWith(`.${stem}.name`) && !fields.includes(name)))
      return undefined;
    const field = fields.find((name) => names.includes(name));
    return field === undefined ? undefined : createSingleMark(1, { is: 'field', field, isNumber: false });
  }

  /**
   * Matches "banned for fraud" with a value of `ban.reason`, and the bans of "bans by reason": a noun or verb that is
   * the first part of the field.
   */
  #matchVerbOfField(position: number): MarkCandidates | undefined {
    const stem = this.#words[position]?.stem ?? '';
    const fields = this.#lexicon.fields.filter(
      ({ name }) => /[._]/.test(name) && !technicalField.test(name) && isFormOf(stem, splitNameStems(name)[0] ?? ''),
    );
    const isNamed = ({ name }: CatalogueField): boolean =>
      this.#words.some((_, index) => {
        if (index <= position || index > position + 3) return false;
        const isGroup =
          groupWords.has(this.#words[index - 1]?.lower ?? '') &&
          splitNameStems(name).at(-1) === this.#words[index]?.stem;
        return isGroup || this.#lexicon.valueAt(this.#words, index, name) !== undefined;
      });
    // "Pages scanned" are `scan.pages`.
    const isMeasured = fields.some(
      ({ name, isNumber }) =>
        isNumber &&
        this.#words.some((_, index) =>
          this.#lexicon.fieldAt(this.#words, index)?.options.some((each) => each.name === name),
        ),
    );
    if (isMeasured) return createSingleMark(1, { is: 'noise' });
    const [field] = fields.filter(isNamed);
    return field === undefined
      ? undefined
      : createSingleMark(1, { is: 'condition', condition: createExistenceCondition(field.name) });
  }

  /** Matches "timeouts" with the exceptions TimeoutError and ConnectTimeout, and "faults" with the event plug_fault. */
  #matchHeadOfValue(position: number): MarkCandidates | undefined {
    if (this.#target.signal === 'metrics') return undefined;
    const [first, ...others] = this.#lexicon.valuesByHead(this.#words[position] as Word);
    if (first === undefined) return undefined;
    const condition = others.reduce<Condition>(
      (merged, { field, value }) => mergeAlternatives(merged, createEqualityCondition(field, value), 'or') ?? merged,
      createEqualityCondition(first.field, first.value),
    );
    return createSingleMark(1, { is: 'condition', condition });
  }

  /** Matches "errors of the pharmacy" with the only service whose name has that part. */
  #matchServicePart(position: number): MarkCandidates | undefined {
    const before = this.#words[position - 1]?.lower ?? '';
    const candidates =
      before === 'the' || namePrepositions.has(before) ? this.#lexicon.servicePartAt(this.#words, position) : undefined;
    return candidates && this.#createNameMarks(position, candidates, undefined);
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

  /** Matches the beginning of "now only errors". */
  #matchLeadingNow(position: number): MarkCandidates | undefined {
    return position === 0 && this.#words.length > 1 && this.#words[0]?.lower === 'now'
      ? createSingleMark(1, { is: 'noise' })
      : undefined;
  }

  /** Matches "more … than yesterday" and "than gent", which compare two ranges, or two values. */
  #matchComparative(position: number): MarkCandidates | undefined {
    const lower = this.#words[position]?.lower ?? '';
    if (lower === 'than') return this.#isCompared(position + 1) ? createSingleMark(1, { is: 'compare' }) : undefined;
    if (!comparatives.has(lower) && !isComparative(lower)) return undefined;
    const than = this.#words.findIndex((word, index) => index > position && word.lower === 'than');
    return than > 0 && this.#isCompared(than + 1) ? createSingleMark(1, { is: 'noise' }) : undefined;
  }

  /** Returns whether words after "than" are a range or a value, and not a number. */
  #isCompared(position: number): boolean {
    if (/^(?:on|in|at|for|from|the)$/.test(this.#words[position]?.lower ?? '')) return this.#isCompared(position + 1);
    const value = this.#lexicon.valueAt(this.#words, position);
    if (parseNumber(this.#words[position]) !== undefined)
      return value !== undefined && this.#isOtherValue(position, value);
    return value !== undefined || this.#times.position(position) !== undefined;
  }

  #parseBareHours(position: number): MarkCandidates | undefined {
    const timeMatch = this.#times.parseBareHours(position);
    return timeMatch && createSingleMark(timeMatch.words, { is: 'time', time: timeMatch.value });
  }

  /** Parses `containing "out of stock"`; one word needs no quotes. */
  #parseContains(position: number): MarkCandidates | undefined {
    const operator = this.#matchTextOperator(position);
    const word = operator?.operator === 'contains' ? this.#words[position + operator.words] : undefined;
    if (operator === undefined || word === undefined || this.#target.signal === 'metrics') return undefined;
    if (word.is === 'word' && !this.#isContainedText(position, operator.words)) return undefined;
    return createSingleMark(operator.words + 1, { is: 'condition', condition: createTextCondition(word.content) });
  }

  /** "Messages about refunds" contain the word, while "what about" does not follow a noun. */
  #matchTextOperator(position: number): ReturnType<typeof matchOperator> {
    const isNamed =
      this.#lexicon.fieldAt(this.#words, position + 1) !== undefined ||
      this.#lexicon.valueAt(this.#words, position + 1) !== undefined;
    const isAbout =
      this.#words[position]?.lower === 'about' &&
      !isNamed &&
      /^(?:log|message|entry|line|record)$/.test(this.#words[position - 1]?.stem ?? '');
    return isAbout ? { words: 1, operator: 'contains' } : matchOperator(this.#words, position);
  }

  /** "Say about" and "include errors" are not text of a record, and "match patient" may be a value. */
  #isContainedText(position: number, words: number): boolean {
    if ((this.#lexicon.valueAt(this.#words, position)?.words ?? 0) > words) return false;
    const phrase = matchPhrase(this.#words, position + words, this.#vocabulary);
    if (phrase?.mark.is === 'noise') return false;
    // "Matches" are not a verb where records have them, and "matches today" contain no text.
    if (words === 1 && this.#isNameOfRecords(position)) return false;
    if (this.#words[position]?.lower === 'matches' && this.#times.position(position + words) !== undefined)
      return false;
    return !(this.#words[position]?.stem.startsWith('includ') && phrase?.mark.is === 'condition');
  }

  /** Returns whether records have a field or a route of that name. */
  #isNameOfRecords(position: number): boolean {
    const word = this.#words[position] as Word;
    return (
      this.#lexicon.fieldAt(this.#words, position) !== undefined ||
      this.#lexicon.routesOf(word).length > 0 ||
      this.#lexicon.fields.some(({ name }) => /[._]/.test(name) && splitNameStems(name)[0] === word.stem)
    );
  }

  #isMeasure(position: number): boolean {
    const mark = matchPhrase(this.#words.slice(0, position + 1), position, this.#vocabulary)?.mark.is;
    return (
      position >= 0 && (mark === 'figure' || mark === 'total' || parsePercentile(this.#words, position)?.words === 1)
    );
  }

  /** Matches "mean time", "median checkout time" and "redis time": the duration of spans. */
  #matchDuration(position: number): MarkCandidates | undefined {
    const followsMeasure = [1, 2, 3].some((distance) => this.#isMeasure(position - distance));
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
    if (name === undefined || (this.#lexicon.fieldAt(this.#words, position)?.words ?? 0) > 1)
      return this.#matchExceptionType(position);
    if ((this.#lexicon.valueAt(this.#words, position)?.words ?? 0) > 1) return undefined;
    const before = this.#words[position - 1];
    const isGroup =
      /^(?:by|per|each|which|top|common|frequent|unique|distinct|different)$/.test(before?.stem ?? '') ||
      parseNumber(before) !== undefined;
    return isGroup
      ? createSingleMark(1, { is: 'field', field: name, isNumber: false })
      : createSingleMark(1, { is: 'condition', condition: createExistenceCondition(name) });
  }

  /** "Did any pod restart" is about each pod. */
  #matchAny(position: number): MarkCandidates | undefined {
    const isGroup =
      this.#target.signal === 'metrics' &&
      this.#words[position]?.lower === 'any' &&
      this.#lexicon.fieldAt(this.#words, position + 1) !== undefined;
    return isGroup ? createSingleMark(1, { is: 'which' }) : undefined;
  }

  /** Matches the messages of "most common error messages", by which log records are grouped. */
  #matchMessageGroup(position: number): MarkCandidates | undefined {
    const isGroup = this.#words
      .slice(Math.max(0, position - 2), position)
      .some(({ stem }) => /^(?:common|frequent|top|unique|distinct|different)$/.test(stem));
    return this.#target.signal === 'logs' && isGroup && this.#words[position]?.stem === 'message'
      ? createSingleMark(1, { is: 'field', field: 'body', isNumber: false })
      : undefined;
  }

  /** Matches "how many invoices were created": requests to the route by the method POST. */
  #matchCreation(position: number): MarkCandidates | undefined {
    const field = this.#target.signal === 'traces' ? this.#lexicon.field('http.request.method') : undefined;
    const isCreation = /^(?:created|placed|submitted|registered)$/.test(this.#words[position]?.lower ?? '');
    if (!isCreation || field?.values.includes('POST') !== true) return undefined;
    const routes = this.#words.flatMap((word) => this.#lexicon.routesOf(word));
    if (routes.length === 0) return undefined;
    const isNamed = routes.some((route) => this.#lexicon.creationOf(route) !== undefined);
    const method: Mark = { is: 'condition', condition: createEqualityCondition(field.name, 'POST') };
    return createSingleMark(1, isNamed ? { is: 'noise' } : method);
  }

  /** Matches the `type` of "exceptions by type". */
  #matchExceptionType(position: number): MarkCandidates | undefined {
    const field = entityFields.get('exception')?.find((value) => this.#lexicon.field(value) !== undefined);
    const isGroup = /^(?:by|per|each)$/.test(this.#words[position - 1]?.lower ?? '');
    const isType = /^(?:type|class|kind)$/.test(this.#words[position]?.stem ?? '');
    const isAboutExceptions = this.#words.slice(0, position).some(({ stem }) => stem === 'exception');
    return field !== undefined && isGroup && isType && isAboutExceptions
      ? createSingleMark(1, { is: 'field', field, isNumber: false })
      : undefined;
  }

  /** "The last error log" is one record, and "the last error logs" are several. */
  #describeOrder(mark: Mark, position: number): Mark {
    if (mark.is !== 'newest' && mark.is !== 'oldest') return mark;
    const noun = this.#words
      .slice(position, position + 4)
      .find(({ stem }) => /^(?:log|record|entry|request|span|trace|warning|exception)$/.test(stem));
    return noun !== undefined && noun.lower === noun.stem ? { ...mark, isSingle: true } : mark;
  }

  /**
   * Returns the longest match: a value, a field, or a phrase of the language. For equal lengths, the phrase has
   * precedence over a name.
   */
  #matchNameOrPhrase(position: number): MarkCandidates | undefined {
    const before = this.#matchValueBeforeField(position);
    if (before !== undefined) return before;
    const phrase = matchPhrase(this.#words, position, this.#vocabulary);
    const value = this.#findPlausibleValue(position);
    const field = this.#lexicon.fieldAt(this.#words, position);
    const routes = this.#matchRoutes(position, value, field);
    if (routes !== undefined && routes.words > (phrase?.words ?? 0)) return routes;
    const longestLength = Math.max(value?.words ?? 0, field?.words ?? 0);
    const isName = longestLength > 0 && this.#isName(position, { phraseKind: phrase?.mark.is, value, field });
    if (phrase?.mark.is === 'noise' && phrase.words === 1 && longestLength <= 1 && this.#isDescriptionOfValue(position))
      return createSingleMark(1, { is: 'description' });
    if (phrase !== undefined && phrase.words >= longestLength && !isName)
      return this.#createPhraseMarks(phrase, position, value);
    const noiseMarks: readonly Mark[] =
      longestLength <= 1 && this.#isDescriptionOfValue(position) ? [{ is: 'description' }] : [];
    const name = this.#createNameMarks(position, value, field);
    const marks = [...noiseMarks, ...name.marks];
    return marks.length === 0 ? undefined : { words: name.words, marks };
  }

  /** Returns the marks of a phrase of the language. Several if the phrase may also be the name of a service. */
  #createPhraseMarks(
    phrase: { readonly mark: Mark; readonly words: number },
    position: number,
    value: Candidates<NamedValue> | undefined,
  ): MarkCandidates {
    if (this.#isValueComparison(phrase, position))
      return createSingleMark(phrase.words, { is: 'compare', noun: 'latency' });
    const service = phrase.mark.is === 'list' ? this.#matchServiceVerb(position, value) : undefined;
    return service === undefined
      ? createSingleMark(phrase.words, this.#describeOrder(phrase.mark, position + phrase.words))
      : { words: 1, marks: [service, phrase.mark] };
  }

  /** Returns whether "slower than" is followed by a value or a range and not by a duration: "is 2.4.0 slower than 2.3.1". */
  #isValueComparison({ mark, words }: { readonly mark: Mark; readonly words: number }, position: number): boolean {
    return mark.is === 'operator' && mark.about === 'duration' && this.#isCompared(position + words);
  }

  /** Matches "search requests": the requests of the service search, or a verb that begins a question. */
  #matchServiceVerb(position: number, value: Candidates<NamedValue> | undefined): Mark | undefined {
    const next = matchPhrase(this.#words, position + 1, this.#vocabulary)?.mark;
    const [service] = value?.words === 1 ? value.options : [];
    return service?.field === 'service' && (next?.is === 'noun' || next?.is === 'condition')
      ? { is: 'condition', condition: this.#toCondition(service, position) }
      : undefined;
  }

  /** Returns marks for a value, if its words are at least as many as those of a field, otherwise for the field. */
  #createNameMarks(
    position: number,
    value: Candidates<NamedValue> | undefined,
    field: Candidates<CatalogueField> | undefined,
  ): MarkCandidates {
    const isValue =
      value !== undefined &&
      (isBareValue(this.#words[position] as Word) || this.#isOtherValue(position, value)) &&
      value.words >= (field?.words ?? 0);
    const marks = isValue
      ? value.options.map(
          (namedValue): Mark => ({ is: 'condition', condition: this.#toCondition(namedValue, position) }),
        )
      : (field?.options ?? []).map(
          ({ name, isNumber }): Mark => ({
            is: 'field',
            field: name,
            isNumber,
            ...(this.#isOfType(name, position, field?.words ?? 0) ? { isOfType: true as const } : {}),
            ...(this.#isListed(position + (field?.words ?? 1)) ? { isListed: true as const } : {}),
          }),
        );
    return { words: (isValue ? value.words : field?.words) ?? 1, marks };
  }

  /** Returns whether a relative clause follows a plural at the beginning: "pods that restarted", "hosts with errors". */
  #isListed(position: number): boolean {
    const last = this.#words[position - 1];
    const next = this.#words[position]?.lower ?? '';
    if (last === undefined || last.lower === last.stem || !/^(?:that|which|with|whose)$/.test(next)) return false;
    const isFirst = this.#words
      .slice(0, position - 1)
      .every((_, index) => introductions.has(matchPhrase(this.#words, index, this.#vocabulary)?.mark.is));
    return isFirst && !this.#words.some(({ lower }) => superlative.test(lower));
  }

  /** Returns whether words name a field without its last word `type`. */
  #isOfType(name: string, position: number, words: number): boolean {
    const ending = splitNameStems(name).at(-1) ?? '';
    const named = this.#words.slice(position, position + words).flatMap(({ text }) => splitNameStems(text));
    return /^(?:type|kind|status|state)$/.test(ending) && !named.includes(ending);
  }

  /** Returns the values that words name. A name of a table or queue needs a word such as "table" in the question. */
  #findPlausibleValue(position: number): Candidates<NamedValue> | undefined {
    const value = this.#lexicon.valueAt(this.#words, position);
    if (value === undefined || this.#words.some(({ stem }) => storageWords.has(stem))) return value;
    const options = value.options.filter((option) => !isTechnicalValue(option));
    return options.length === 0 ? undefined : { ...value, options };
  }

  /**
   * Matches "orders" as requests to the route `/orders`. A service of that name has precedence; values of other fields
   * are further meanings.
   */
  #matchRoutes(
    position: number,
    value: Candidates<NamedValue> | undefined,
    field: Candidates<CatalogueField> | undefined,
  ): MarkCandidates | undefined {
    const compound = this.#lexicon.routesOfCompound(this.#words.slice(position, position + 2));
    const routes = compound.length > 0 ? compound : this.#lexicon.routesOf(this.#words[position] as Word);
    const [first] = routes;
    if (first === undefined || field !== undefined || (value?.words ?? 0) > 1) return undefined;
    const options = value?.options ?? [];
    if (options.some((option) => option.field === 'service')) return undefined;
    const conditions = routes.map((route) => createEqualityCondition(route.field, route.value));
    const condition = conditions
      .slice(1)
      .reduce((merged, other) => mergeAlternatives(merged, other, 'or') ?? merged, conditions[0] as Condition);
    const creation = routes.length === 1 ? this.#lexicon.creationOf(first) : undefined;
    return {
      words: compound.length > 0 ? 2 : 1,
      marks: [
        ...(creation === undefined ? [] : [toRequestMark(createEqualityCondition(creation.field, creation.value))]),
        toRequestMark(condition),
        ...options.map((option): Mark => ({ is: 'condition', condition: this.#toCondition(option, position) })),
      ],
    };
  }

  /** Returns whether a number is another value of a named field, as in "version 2.1 compared to 2.0". */
  #isOtherValue(position: number, { options }: Candidates<NamedValue>): boolean {
    return (
      joiningWords.has(this.#words[position - 1]?.lower ?? '') &&
      options.some(({ field }) =>
        this.#words
          .slice(0, position)
          .some((_word, index) =>
            this.#lexicon.fieldAt(this.#words, index)?.options.some(({ name }) => name === field),
          ),
      )
    );
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
    // Records are not persons: "how many premium users" is not a number of requests.
    if (stem !== undefined && persons.has(stem) && this.#words.some(({ stem: each }) => countWords.has(each)))
      return false;
    if (!this.#lexicon.fields.some(({ name }) => /[._]/.test(name) && splitNameStems(name)[0] === stem)) return false;
    const nextPosition = formsOfBe.has(this.#words[position + 1]?.lower ?? '') ? position + 2 : position + 1;
    // "Failed more than 2 exams".
    const isCounted = parseNumber(this.#words[position - 1]) !== undefined;
    const beforeNumber = isCounted && matchOperator(this.#words, position - 3)?.words === 2 ? [position - 4] : [];
    return [position - 1, nextPosition, ...beforeNumber].some((valuePosition) =>
      this.#lexicon
        .valueAt(this.#words.slice(0, Math.max(position, valuePosition + 1)), valuePosition)
        ?.options.some(
          ({ field, value }) =>
            field !== 'service' &&
            field !== 'severity' &&
            !(this.#isFailure(valuePosition) && isOutcomeOfOther(field, stem)) &&
            !this.#isFiller(valuePosition, value),
        ),
    );
  }

  /** Returns whether a word is a failure of whatever the question is about. */
  #isFailure(position: number): boolean {
    const phrase = matchPhrase(this.#words, position, vocabularies.traces);
    return phrase?.mark.is === 'condition' && phrase.mark.condition.isNumerator === true;
  }

  /** Returns whether a word is a filler word rather than the value: "get" is not the method GET. */
  #isFiller(position: number, value: string): boolean {
    const phrase = matchPhrase(this.#words, position, this.#vocabulary);
    return phrase?.mark.is === 'noise' && this.#words[position]?.text !== value;
  }

  /** Returns whether words that match both a name and a phrase of the language mean the name. */
  #isName(position: number, { phraseKind, value, field }: NamesAtPosition): boolean {
    const word = this.#words[position] as Word;
    if (word.is === 'quoted' || /[._/-]/.test(word.text)) return true;
    if (this.#isNameByPosition(position, { phraseKind, value, field })) return true;
    if (this.#isDescribed(position, value)) return true;
    if (isFieldRatherThanPhrase(word, phraseKind, field)) return true;
    // "Requests of search", "the slowest search": in these positions, a service name is not the verb "search", which
    // begins a question.
    const before = this.#words[position - 1]?.lower ?? '';
    const isOrder = position === 0 || requestWords.has(before);
    const isAfterPreposition =
      (phraseKind === 'noise' && namePrepositions.has(before)) || (phraseKind === 'list' && !isOrder);
    if (isAfterPreposition && value?.options[0]?.field === 'service') return true;
    return /^[A-Z]{2,}/.test(word.text) && value?.options.some((namedValue) => namedValue.value === word.text) === true;
  }

  /**
   * "By line" groups by the field of that name, although a line is a log record as well, and "at the peak" is a place,
   * and not a maximum.
   */
  #isNameByPosition(position: number, { phraseKind, value, field }: NamesAtPosition): boolean {
    const [second, before] = [2, 1].map((distance) => this.#words[position - distance]?.lower ?? '');
    if (phraseKind === 'noun' && /^(?:by|per)$/.test(before ?? ''))
      return field?.options.some(({ name }) => name === this.#words[position]?.stem) === true;
    return phraseKind === 'figure' && value !== undefined && before === 'the' && /^(?:at|in)$/.test(second ?? '');
  }

  /** Returns whether a value is followed by what it describes: "plus customers" with a field `customer.tier`. */
  #isDescribed(position: number, value: Candidates<NamedValue> | undefined): boolean {
    const nextStem = this.#words[position + 1]?.stem;
    return (
      value?.words === 1 &&
      value.options.some(({ field }) => /[._]/.test(field) && splitNameStems(field)[0] === nextStem)
    );
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

/** Fields that a plain word names as a group only */
const genericGroups: Readonly<Record<string, readonly string[]>> = {
  server: ['host.name', 'host', 'k8s.node.name', 'instance'],
  service: ['service.name'],
};
/** Returns whether a word is a form of a verb or noun: "banned" of "ban", "rejected" of "reject". */
/** Returns whether a field is an outcome of something else: `exam.result` does not describe logins. */
const isOutcomeOfOther = (field: string, stem: string | undefined): boolean =>
  /^[^._]+[._](?:status|state|result|outcome|verdict)$/.test(field) && splitNameStems(field)[0] !== stem;

const isFormOf = (stem: string, base: string): boolean =>
  base.length > 2 && (stem === base || toRoot(stem) === toRoot(base) || stem === `${base}${base.at(-1)}ed`);

/** Returns whether a word is the comparative of a quantity: "hotter". */
const isComparative = (word: string): boolean => word.endsWith('er') && getQuantities(word).length > 0;

/** Returns whether a word is the name of a field although it is a filler word or a word for numbers of records. */
const isFieldRatherThanPhrase = (
  { lower }: Word,
  phraseKind: Mark['is'] | undefined,
  field: Candidates<CatalogueField> | undefined,
): boolean => {
  if (field === undefined) return false;
  // "Amount of" is a number of records, unless records have an amount.
  if (phraseKind === 'count') return field.options.some(({ isNumber }) => isNumber);
  return phraseKind === 'noise' && lower.length > 3;
};

const toRequestMark = (condition: Condition): Mark => ({
  is: 'condition',
  condition: { ...condition, isRequest: true },
});

const persons: ReadonlySet<string> = new Set(
  `user customer client visitor member patient guest driver passenger account subscriber buyer reader student player
  viewer listener worker employee tenant citizen traveler traveller shopper tourist resident teacher doctor nurse`.split(
    /\s+/,
  ),
);
const comparatives: ReadonlySet<string> = new Set(
  'more fewer less higher lower bigger smaller larger greater worse better'.split(' '),
);
const countWords: ReadonlySet<string> = new Set(['many', 'number', 'count']);
const groupWords: ReadonlySet<string> = new Set(['which', 'what', 'by', 'per', 'each', 'any']);
/** Marks before the noun of a question: "show all hosts" */
const introductions: ReadonlySet<Mark['is'] | undefined> = new Set<Mark['is']>(['noise', 'list', 'all']);
const superlative = /^(?:most|least|top|worst|\p{L}+est)$/u;
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
/** Words for which names of tables, queues and the like are meant */
const storageWords: ReadonlySet<string> = new Set(
  'table collection database db query sql statement insert select topic queue index row keyspace destination consumer producer'.split(
    ' ',
  ),
);
/** Words between two values of one field */
const joiningWords: ReadonlySet<string> = new Set(['and', 'or', 'to', 'with', 'versus', 'vs', 'than']);
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

/** Numbers alone are not values, but versions such as 2.15.0 are. */
const isBareValue = (word: Word): boolean => word.is === 'quoted' || !/^-?\d+(?:\.\d+)?$/.test(word.text);
