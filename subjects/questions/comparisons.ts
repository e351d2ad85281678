/** Parses fields with comparisons: "payment method is not card", "duration above 500 ms", "slower than 2 s" */
import type { CatalogueField } from './catalogue.ts';
import {
  createComparisonCondition,
  createEqualityCondition,
  createTextCondition,
  isUnit,
  type Quantity,
} from './conditions.ts';
import { parseGroupCondition } from './group-conditions.ts';
import type { Lexicon, Target } from './lexicon.ts';
import { createSingleMark, type Mark, type MarkCandidates, type Operator } from './marks.ts';
import type { Phrase } from './metric-phrases.ts';
import { statusField } from './numbers-in-text.ts';
import { matchOperator, matchPhrase } from './phrases.ts';
import { countNumberWords, parseNumber } from './quantities.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { Word } from './words.ts';

/** An operator, and the number of words before its operand */
interface OperandPosition {
  readonly operator: Operator;
  readonly words: number;
  /** Whether the question contains an operator. Otherwise, the value after a field must be a known value. */
  readonly isExplicit: boolean;
}

/** Fields whose few values are part of the question language; values of other fields are matched verbatim */
const languageFields: ReadonlySet<string> = new Set(['severity', 'kind', 'status']);
/** If all known values contain a digit, a word without a digit is not a value: "meters are online". */
const isUnlikely = (text: string, { values }: CatalogueField): boolean =>
  values.length > 0 && values.every((value) => /\d/.test(value)) && !/\d/.test(text);
/** Returns whether the values of a field are numbers or versions: "hosts above 80 %" compares no host. */
const isOrdered = ({ isNumber, values }: CatalogueField, { signal }: Target): boolean =>
  isNumber || (values.length > 0 ? values.every((value) => /^v?\d/.test(value)) : signal !== 'metrics');
/** A word with a digit that is not a number or percentile is an id. */
const looksLikeId = (text: string): boolean =>
  /^[\w-]{3,128}$/.test(text) && /\d/.test(text) && /[a-z-]/i.test(text) && !/^p\d/.test(text);

export class ComparisonReader {
  readonly #words: readonly Word[];
  readonly #lexicon: Lexicon;
  readonly #vocabulary: Vocabulary;
  readonly #target: Target;
  readonly #phrase: Phrase | undefined;

  constructor(
    words: readonly Word[],
    {
      lexicon,
      vocabulary,
      target,
      phrase,
    }: { lexicon: Lexicon; vocabulary: Vocabulary; target: Target; phrase: Phrase | undefined },
  ) {
    this.#phrase = phrase;
    this.#words = words;
    this.#lexicon = lexicon;
    this.#vocabulary = vocabulary;
    this.#target = target;
  }

  /** Returns the comparison that begins at a word, with one mark for each field that the words may name. */
  index(index: number): MarkCandidates | undefined {
    const fieldMatch = this.#lexicon.fieldAt(this.#words, index);
    if (fieldMatch === undefined)
      return (
        this.#parseQuantityBeforeField(index) ??
        this.#parseDurationComparison(index) ??
        parseGroupCondition({ words: this.#words, target: this.#target, phrase: this.#phrase }, index)
      );
    const options = fieldMatch.options.flatMap((field) =>
      field.name === 'status' ? [field, ...this.#statusCodes()] : field,
    );
    const candidates = options.flatMap(
      (field) => this.#parseOperandAfterField(index + fieldMatch.words, field, fieldMatch.words) ?? [],
    );
    return candidates.length === 0
      ? undefined
      : { words: Math.max(...candidates.map(({ words }) => words)), marks: candidates.flatMap(({ marks }) => marks) };
  }

  /** Returns HTTP status fields for "status between 400 and 499", because numeric statuses are HTTP statuses. */
  #statusCodes(): CatalogueField[] {
    return this.#lexicon.fields.filter(({ name }) => statusField.test(name));
  }

  /** Parses "more than 7 nights", in which the field follows its quantity. */
  #parseQuantityBeforeField(index: number): MarkCandidates | undefined {
    const operatorMatch = matchOperator(this.#words, index);
    if (operatorMatch === undefined || !['above', 'below', 'from', 'upto'].includes(operatorMatch.operator))
      return undefined;
    const operandIndex = index + operatorMatch.words;
    const number = parseNumber(this.#words[operandIndex]);
    const fieldMatch = this.#lexicon.fieldAt(this.#words, operandIndex + 1);
    const fields = fieldMatch?.options.filter(({ isNumber }) => isNumber) ?? [];
    if (number === undefined || fieldMatch === undefined || fields.length === 0) return undefined;
    const marks = fields.flatMap((field): Mark[] => {
      const condition = createComparisonCondition(field, operatorMatch.operator, [number]);
      return condition === undefined ? [] : [{ is: 'condition', condition }];
    });
    return marks.length === 0 ? undefined : { words: operatorMatch.words + 1 + fieldMatch.words, marks };
  }

  /** Parses "slower than 500 ms" and "above 2 s", which refer to the duration of spans. */
  #parseDurationComparison(index: number): MarkCandidates | undefined {
    const duration = this.#target.signal === 'traces' ? this.#lexicon.field('duration') : undefined;
    if (duration === undefined) return undefined;
    const phrase = matchPhrase(this.#words, index, this.#vocabulary);
    const operator =
      phrase?.mark.is === 'operator'
        ? { words: phrase.words, operator: phrase.mark.operator }
        : matchOperator(this.#words, index);
    return operator && this.#parseComparison(index + operator.words, duration, operator);
  }

  #parseOperandAfterField(index: number, field: CatalogueField, words: number): MarkCandidates | undefined {
    const operatorMatch = matchOperator(this.#words, index);
    if (operatorMatch === undefined)
      return this.#parseValueAfterField(index, field, { operator: 'is', words, isExplicit: false });
    const operand: OperandPosition = {
      operator: operatorMatch.operator,
      words: words + operatorMatch.words,
      isExplicit: true,
    };
    const operandIndex = index + operatorMatch.words;
    // In "voltage is under 200", the operator after "is" is more specific.
    const nextOperator = operatorMatch.operator === 'is' ? matchOperator(this.#words, operandIndex) : undefined;
    if (nextOperator !== undefined && nextOperator.operator !== 'is' && nextOperator.operator !== 'not')
      return this.#parseOperandAfterField(operandIndex, field, operand.words);
    if (operatorMatch.operator === 'is' || operatorMatch.operator === 'not')
      return this.#parseValueAfterField(operandIndex, field, operand);
    if (operatorMatch.operator !== 'contains')
      return isOrdered(field, this.#target) ? this.#parseComparison(operandIndex, field, operand) : undefined;
    const word = this.#words[operandIndex];
    return (
      word &&
      createSingleMark(operand.words + 1, { is: 'condition', condition: createTextCondition(word.content, field.name) })
    );
  }

  /**
   * Returns the value after a field: a known value, or any value if there is an operator and the known values are
   * incomplete.
   */
  #parseValueAfterField(index: number, field: CatalogueField, operand: OperandPosition): MarkCandidates | undefined {
    const isNegated = operand.operator === 'not';
    const knownValue = this.#lexicon.valueAt(this.#words, index, field.name);
    if (knownValue !== undefined) {
      const marks = knownValue.options.map(({ value }) => createEquality(field, value, isNegated));
      return { words: operand.words + knownValue.words, marks };
    }
    const word = this.#words[index];
    if (operand.isExplicit && word?.lower === 'not')
      return this.#parseValueAfterField(index + 1, field, { ...operand, operator: 'not', words: operand.words + 1 });
    if (word === undefined || !this.#mayBeValue(word, index, field, operand.isExplicit)) return undefined;
    return field.isNumber && parseNumber(word) !== undefined
      ? this.#parseComparison(index, field, operand)
      : createSingleMark(operand.words + 1, createEquality(field, word.content, isNegated));
  }

  /** Returns whether a word may be a value although it is not a known one. */
  #mayBeValue(word: Word, index: number, field: CatalogueField, isExplicit: boolean): boolean {
    if (word.is !== 'word') return isExplicit && word.is === 'quoted';
    if (field.hasAllValues && !languageFields.has(field.name)) return false;
    if (languageFields.has(field.name) && parseNumber(word) !== undefined) return false;
    if (isUnlikely(word.content, field)) return false;
    if (!isExplicit) return !field.isNumber && looksLikeId(word.text) && parseNumber(word) === undefined;
    return matchPhrase(this.#words, index, this.#vocabulary)?.mark.is !== 'noise';
  }

  #parseComparison(
    index: number,
    field: CatalogueField,
    { operator, words }: Omit<OperandPosition, 'isExplicit'>,
  ): MarkCandidates | undefined {
    const first = this.#quantityAt(index);
    if (first === undefined || languageFields.has(field.name)) return undefined;
    const toMark = (quantities: readonly Quantity[], more: number): MarkCandidates | undefined => {
      const condition = createComparisonCondition(field, operator, quantities);
      return condition && createSingleMark(words + first.words + more, { is: 'condition', condition });
    };
    if (operator !== 'between') return toMark([first.quantity], 0);
    const isJoined = ['and', 'to', '-'].includes(this.#words[index + first.words]?.lower ?? '');
    const second = isJoined ? this.#quantityAt(index + first.words + 1) : undefined;
    return second && toMark([first.quantity, second.quantity], 1 + second.words);
  }

  #quantityAt(index: number): { readonly quantity: Quantity; readonly words: number } | undefined {
    const number = parseNumber(this.#words[index]);
    if (number === undefined) return undefined;
    const length = countNumberWords(this.#words, index);
    const unit = this.#words[index + length]?.stem ?? '';
    if (number.unit !== '' || !isUnit(unit)) return { quantity: number, words: 1 };
    return { quantity: { value: number.value, unit }, words: length + 1 };
  }
}

const createEquality = (field: CatalogueField, value: string, isNegated: boolean): Mark => {
  const condition = createEqualityCondition(field.name, value);
  return {
    is: 'condition',
    condition: isNegated ? { search: `NOT ${condition.search}`, field: field.name } : condition,
  };
};
