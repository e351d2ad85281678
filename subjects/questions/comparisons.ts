/** Parses fields with comparisons: "payment method is not card", "duration above 500 ms", "slower than 2 s" */
import type { KnownField } from './catalogue.ts';
import { compared, containing, equal, isUnit, type Quantity } from './conditions.ts';
import type { Lexicon, Target } from './lexicon.ts';
import { type Mark, type MarkCandidates, type Operator, one } from './marks.ts';
import { statusField } from './numbers-in-text.ts';
import { operatorAt, phraseAt } from './phrases.ts';
import { numberIn } from './quantities.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { Word } from './words.ts';

/** An operator, and the number of words before its operand */
interface Behind {
  readonly operator: Operator;
  readonly words: number;
  /** Whether the question contains an operator. Otherwise, the value after a field must be a known value. */
  readonly isExplicit: boolean;
}

/** Fields with few values, which are words of the language; any other value is matched verbatim */
const ownWords: ReadonlySet<string> = new Set(['severity', 'kind', 'status']);
/** If all known values contain a digit, a word without a digit is not a value: "meters are online". */
const isUnlike = (text: string, { values }: KnownField): boolean =>
  values.length > 0 && values.every((value) => /\d/.test(value)) && !/\d/.test(text);
/** A word with a digit that is not a number or percentile is an id. */
const isLikeId = (text: string): boolean =>
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
  at(at: number): MarkCandidates | undefined {
    const named = this.#lexicon.fieldAt(this.#words, at);
    if (named === undefined) return this.#before(at) ?? this.#duration(at);
    const options = named.options.flatMap((field) =>
      field.name === 'status' ? [field, ...this.#statusCodes()] : field,
    );
    const found = options.flatMap((field) => this.#behind(at + named.words, field, named.words) ?? []);
    return found.length === 0
      ? undefined
      : { words: Math.max(...found.map(({ words }) => words)), marks: found.flatMap(({ marks }) => marks) };
  }

  /** Returns HTTP status fields for "status between 400 and 499", because numeric statuses are HTTP statuses. */
  #statusCodes(): KnownField[] {
    return this.#lexicon.fields.filter(({ name }) => statusField.test(name));
  }

  /** Parses "more than 7 nights", in which the field follows its quantity. */
  #before(at: number): MarkCandidates | undefined {
    const operatorMatch = operatorAt(this.#words, at);
    if (operatorMatch === undefined || !['above', 'below', 'from', 'upto'].includes(operatorMatch.operator))
      return undefined;
    const place = at + operatorMatch.words;
    const number = numberIn(this.#words[place]);
    const named = this.#lexicon.fieldAt(this.#words, place + 1);
    const fields = named?.options.filter(({ isNumber }) => isNumber) ?? [];
    if (number === undefined || named === undefined || fields.length === 0) return undefined;
    const marks = fields.flatMap((field): Mark[] => {
      const condition = compared(field, operatorMatch.operator, [number]);
      return condition === undefined ? [] : [{ is: 'condition', condition }];
    });
    return marks.length === 0 ? undefined : { words: operatorMatch.words + 1 + named.words, marks };
  }

  /** Parses "slower than 500 ms" and "above 2 s", which refer to the duration of spans. */
  #duration(at: number): MarkCandidates | undefined {
    const duration = this.#target.of === 'traces' ? this.#lexicon.field('duration') : undefined;
    if (duration === undefined) return undefined;
    const spoken = phraseAt(this.#words, at, this.#vocabulary);
    const operator =
      spoken?.mark.is === 'operator'
        ? { words: spoken.words, operator: spoken.mark.operator }
        : operatorAt(this.#words, at);
    return operator && this.#compared(at + operator.words, duration, operator);
  }

  #behind(at: number, field: KnownField, words: number): MarkCandidates | undefined {
    const operatorMatch = operatorAt(this.#words, at);
    if (operatorMatch === undefined) return this.#valueOf(at, field, { operator: 'is', words, isExplicit: false });
    const behind: Behind = { operator: operatorMatch.operator, words: words + operatorMatch.words, isExplicit: true };
    const place = at + operatorMatch.words;
    // In "voltage is under 200", the operator after "is" is more specific.
    const further = operatorMatch.operator === 'is' ? operatorAt(this.#words, place) : undefined;
    if (further !== undefined && further.operator !== 'is' && further.operator !== 'not')
      return this.#behind(place, field, behind.words);
    if (operatorMatch.operator === 'is' || operatorMatch.operator === 'not') return this.#valueOf(place, field, behind);
    if (operatorMatch.operator !== 'contains') return this.#compared(place, field, behind);
    const word = this.#words[place];
    return word && one(behind.words + 1, { is: 'condition', condition: containing(word.inside, field.name) });
  }

  /**
   * Returns the value after a field: a known value, or any value if there is an operator and the known values are
   * incomplete.
   */
  #valueOf(at: number, field: KnownField, behind: Behind): MarkCandidates | undefined {
    const isNegated = behind.operator === 'not';
    const known = this.#lexicon.valueAt(this.#words, at, field.name);
    if (known !== undefined) {
      const marks = known.options.map(({ value }) => equality(field, value, isNegated));
      return { words: behind.words + known.words, marks };
    }
    const word = this.#words[at];
    if (behind.isExplicit && word?.lower === 'not')
      return this.#valueOf(at + 1, field, { ...behind, operator: 'not', words: behind.words + 1 });
    if (word === undefined || !this.#mayBeValue(word, at, field, behind.isExplicit)) return undefined;
    return field.isNumber && numberIn(word) !== undefined
      ? this.#compared(at, field, behind)
      : one(behind.words + 1, equality(field, word.inside, isNegated));
  }

  /** Returns whether a word may be a value although it is not a known one. */
  #mayBeValue(word: Word, at: number, field: KnownField, isExplicit: boolean): boolean {
    if (word.is !== 'word') return isExplicit && word.is === 'quoted';
    if (field.hasAllValues && !ownWords.has(field.name)) return false;
    if (ownWords.has(field.name) && numberIn(word) !== undefined) return false;
    if (isUnlike(word.inside, field)) return false;
    if (!isExplicit) return !field.isNumber && isLikeId(word.text) && numberIn(word) === undefined;
    return phraseAt(this.#words, at, this.#vocabulary)?.mark.is !== 'noise';
  }

  #compared(
    at: number,
    field: KnownField,
    { operator, words }: Omit<Behind, 'isExplicit'>,
  ): MarkCandidates | undefined {
    const first = this.#quantityAt(at);
    if (first === undefined || ownWords.has(field.name)) return undefined;
    const found = (quantities: readonly Quantity[], more: number): MarkCandidates | undefined => {
      const condition = compared(field, operator, quantities);
      return condition && one(words + first.words + more, { is: 'condition', condition });
    };
    if (operator !== 'between') return found([first.quantity], 0);
    const isJoined = ['and', 'to', '-'].includes(this.#words[at + first.words]?.lower ?? '');
    const second = isJoined ? this.#quantityAt(at + first.words + 1) : undefined;
    return second && found([first.quantity, second.quantity], 1 + second.words);
  }

  #quantityAt(at: number): { readonly quantity: Quantity; readonly words: number } | undefined {
    const number = numberIn(this.#words[at]);
    if (number === undefined) return undefined;
    const unit = this.#words[at + 1]?.stem ?? '';
    if (number.unit !== '' || !isUnit(unit)) return { quantity: number, words: 1 };
    return { quantity: { value: number.value, unit }, words: 2 };
  }
}

const equality = (field: KnownField, value: string, isNegated: boolean): Mark => {
  const condition = equal(field.name, value);
  return {
    is: 'condition',
    condition: isNegated ? { search: `NOT ${condition.search}`, field: field.name } : condition,
  };
};
