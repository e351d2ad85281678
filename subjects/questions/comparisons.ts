/** Parses fields with comparisons: "payment method is not card", "duration above 500 ms", "slower than 2 s" */
import type { KnownField } from './catalogue.ts';
import { comparisonCondition, equalityCondition, isUnit, type Quantity, textCondition } from './conditions.ts';
import type { Lexicon, Target } from './lexicon.ts';
import { type Mark, type MarkCandidates, type Operator, singleMark } from './marks.ts';
import { statusField } from './numbers-in-text.ts';
import { matchOperator, matchPhrase } from './phrases.ts';
import { parseNumber } from './quantities.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { Word } from './words.ts';

/** An operator, and the number of words before its operand */
interface OperandPosition {
  readonly operator: Operator;
  readonly words: number;
  /** Whether the question contains an operator. Otherwise, the value after a field must be a known value. */
  readonly isExplicit: boolean;
}

/** Fields with few values, which are words of the language; any other value is matched verbatim */
const languageFields: ReadonlySet<string> = new Set(['severity', 'kind', 'status']);
/** If all known values contain a digit, a word without a digit is not a value: "meters are online". */
const isUnlikely = (text: string, { values }: KnownField): boolean =>
  values.length > 0 && values.every((value) => /\d/.test(value)) && !/\d/.test(text);
/** A word with a digit that is not a number or percentile is an id. */
const looksLikeId = (text: string): boolean =>
  /^[\w-]{3,128}$/.test(text) && /\d/.test(text) && /[a-z-]/i.test(text) && !/^p\d/.test(text);

export class ComparisonReader {
  readonly #words: readonly Word[];
  readonly #lexicon: Lexicon;
  readonly #vocabulary: Vocabulary;
  readonly #target: Target;

  constructor(
    words: readonly Word[],
    { lexicon, vocabulary, target }: { lexicon: Lexicon; vocabulary: Vocabulary; target: Target },
  ) {
    this.#words = words;
    this.#lexicon = lexicon;
    this.#vocabulary = vocabulary;
    this.#target = target;
  }

  /** Returns the comparison that begins at a word, with one mark for each field that the words may name. */
  parseAt(parseAt: number): MarkCandidates | undefined {
    const named = this.#lexicon.fieldAt(this.#words, parseAt);
    if (named === undefined) return this.#quantityBeforeField(parseAt) ?? this.#duration(parseAt);
    const options = named.options.flatMap((field) =>
      field.name === 'status' ? [field, ...this.#statusCodes()] : field,
    );
    const found = options.flatMap((field) => this.#operandAfterField(parseAt + named.words, field, named.words) ?? []);
    return found.length === 0
      ? undefined
      : { words: Math.max(...found.map(({ words }) => words)), marks: found.flatMap(({ marks }) => marks) };
  }

  /** Returns HTTP status fields for "status between 400 and 499", because numeric statuses are HTTP statuses. */
  #statusCodes(): KnownField[] {
    return this.#lexicon.fields.filter(({ name }) => statusField.test(name));
  }

  /** Parses "more than 7 nights", in which the field follows its quantity. */
  #quantityBeforeField(at: number): MarkCandidates | undefined {
    const operatorMatch = matchOperator(this.#words, at);
    if (operatorMatch === undefined || !['above', 'below', 'from', 'upto'].includes(operatorMatch.operator))
      return undefined;
    const place = at + operatorMatch.words;
    const number = parseNumber(this.#words[place]);
    const named = this.#lexicon.fieldAt(this.#words, place + 1);
    const fields = named?.options.filter(({ isNumber }) => isNumber) ?? [];
    if (number === undefined || named === undefined || fields.length === 0) return undefined;
    const marks = fields.flatMap((field): Mark[] => {
      const condition = comparisonCondition(field, operatorMatch.operator, [number]);
      return condition === undefined ? [] : [{ is: 'condition', condition }];
    });
    return marks.length === 0 ? undefined : { words: operatorMatch.words + 1 + named.words, marks };
  }

  /** Parses "slower than 500 ms" and "above 2 s", which refer to the duration of spans. */
  #duration(at: number): MarkCandidates | undefined {
    const duration = this.#target.of === 'traces' ? this.#lexicon.field('duration') : undefined;
    if (duration === undefined) return undefined;
    const spoken = matchPhrase(this.#words, at, this.#vocabulary);
    const operator =
      spoken?.mark.is === 'operator'
        ? { words: spoken.words, operator: spoken.mark.operator }
        : matchOperator(this.#words, at);
    return operator && this.#comparison(at + operator.words, duration, operator);
  }

  #operandAfterField(at: number, field: KnownField, words: number): MarkCandidates | undefined {
    const operatorMatch = matchOperator(this.#words, at);
    if (operatorMatch === undefined)
      return this.#valueAfterField(at, field, { operator: 'is', words, isExplicit: false });
    const behind: OperandPosition = {
      operator: operatorMatch.operator,
      words: words + operatorMatch.words,
      isExplicit: true,
    };
    const place = at + operatorMatch.words;
    // In "voltage is under 200", the operator after "is" is more specific.
    const further = operatorMatch.operator === 'is' ? matchOperator(this.#words, place) : undefined;
    if (further !== undefined && further.operator !== 'is' && further.operator !== 'not')
      return this.#operandAfterField(place, field, behind.words);
    if (operatorMatch.operator === 'is' || operatorMatch.operator === 'not')
      return this.#valueAfterField(place, field, behind);
    if (operatorMatch.operator !== 'contains') return this.#comparison(place, field, behind);
    const word = this.#words[place];
    return word && singleMark(behind.words + 1, { is: 'condition', condition: textCondition(word.inside, field.name) });
  }

  /**
   * Returns the value after a field: a known value, or any value if there is an operator and the known values are
   * incomplete.
   */
  #valueAfterField(at: number, field: KnownField, behind: OperandPosition): MarkCandidates | undefined {
    const isNegated = behind.operator === 'not';
    const known = this.#lexicon.valueAt(this.#words, at, field.name);
    if (known !== undefined) {
      const marks = known.options.map(({ value }) => createEquality(field, value, isNegated));
      return { words: behind.words + known.words, marks };
    }
    const word = this.#words[at];
    if (behind.isExplicit && word?.lower === 'not')
      return this.#valueAfterField(at + 1, field, { ...behind, operator: 'not', words: behind.words + 1 });
    if (word === undefined || !this.#mayBeValue(word, at, field, behind.isExplicit)) return undefined;
    return field.isNumber && parseNumber(word) !== undefined
      ? this.#comparison(at, field, behind)
      : singleMark(behind.words + 1, createEquality(field, word.inside, isNegated));
  }

  /** Returns whether a word may be a value although it is not a known one. */
  #mayBeValue(word: Word, at: number, field: KnownField, isExplicit: boolean): boolean {
    if (word.is !== 'word') return isExplicit && word.is === 'quoted';
    if (field.hasAllValues && !languageFields.has(field.name)) return false;
    if (languageFields.has(field.name) && parseNumber(word) !== undefined) return false;
    if (isUnlikely(word.inside, field)) return false;
    if (!isExplicit) return !field.isNumber && looksLikeId(word.text) && parseNumber(word) === undefined;
    return matchPhrase(this.#words, at, this.#vocabulary)?.mark.is !== 'noise';
  }

  #comparison(
    at: number,
    field: KnownField,
    { operator, words }: Omit<OperandPosition, 'isExplicit'>,
  ): MarkCandidates | undefined {
    const first = this.#quantityAt(at);
    if (first === undefined || languageFields.has(field.name)) return undefined;
    const found = (quantities: readonly Quantity[], more: number): MarkCandidates | undefined => {
      const condition = comparisonCondition(field, operator, quantities);
      return condition && singleMark(words + first.words + more, { is: 'condition', condition });
    };
    if (operator !== 'between') return found([first.quantity], 0);
    const isJoined = ['and', 'to', '-'].includes(this.#words[at + first.words]?.lower ?? '');
    const second = isJoined ? this.#quantityAt(at + first.words + 1) : undefined;
    return second && found([first.quantity, second.quantity], 1 + second.words);
  }

  #quantityAt(at: number): { readonly quantity: Quantity; readonly words: number } | undefined {
    const number = parseNumber(this.#words[at]);
    if (number === undefined) return undefined;
    const unit = this.#words[at + 1]?.stem ?? '';
    if (number.unit !== '' || !isUnit(unit)) return { quantity: number, words: 1 };
    return { quantity: { value: number.value, unit }, words: 2 };
  }
}

const createEquality = (field: KnownField, value: string, isNegated: boolean): Mark => {
  const condition = equalityCondition(field.name, value);
  return {
    is: 'condition',
    condition: isNegated ? { search: `NOT ${condition.search}`, field: field.name } : condition,
  };
};
