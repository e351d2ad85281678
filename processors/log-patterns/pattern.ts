/** A pattern: its words and variables, and its counts. */
import { covers } from '../../queries/log-patterns/forms.ts';
import { hashTemplate } from '../../queries/log-patterns/pattern-id.ts';
import { ANY, MAX_TOKENS, type Tokens, toVariableKind, VARIABLE } from '../../queries/log-patterns/tokens.ts';
import { type SavedValues, ValueCounts } from './values.ts';

/** Number of frequent values per pattern, shared by its variables. */
const MAX_FREQUENT_VALUES = 12;
const NONE: readonly ValueCounts[] = [];
const SEPARATOR = '\0';
/** Shared strings, instead of one per pattern. */
const positionNames = Array.from({ length: MAX_TOKENS }, (_, position) => String(position));
/** Maximum number of variables whose values are counted. */
const MAX_VARIABLES = 8;

/** A pattern in a snapshot. */
export interface SavedPattern {
  readonly hashes: readonly number[];
  /** Punctuation, word or `<kind>`, punctuation …, separated by a zero character. */
  readonly parts: string;
  readonly structure: number;
  readonly shape: number;
  readonly count: number;
  readonly last: number;
  readonly told: number;
  readonly values: readonly (readonly [name: string, values: SavedValues])[];
}

/** Returns a flat copy of a string that references no other. */
const copyString = (text: string): string => Buffer.from(text).toString();

/** Returns the text around the message: the keys of JSON and logfmt, in one order. */
const buildMessageFrame = ({ form, fields, message }: Tokens): readonly [before: string, after: string] => {
  if (form === 'text') return ['', ''];
  const names = fields.map(([name]) => name.replace(/\d+/g, '0')).sort();
  if (form === 'json') {
    const keys = names.map((name) => `"${name}":<*>`).join(',');
    return message === '' ? [`{${keys}`, '}'] : [`{${keys}${keys === '' ? '' : ','}"${message}":"`, '"}'];
  }
  const keys = names.map((name) => `${name}=<*>`).join(' ');
  return message === '' ? [keys, ''] : [`${keys}${keys === '' ? '' : ' '}${message}="`, '"'];
};

export class Pattern {
  /** Fixed at creation: a function of the words alone, regardless of variables and punctuation. */
  readonly id: string;
  readonly template: string;
  /** Per position: the hash of its word, `VARIABLE` or `ANY`. */
  readonly hashes: readonly number[];
  readonly structure: number;
  /** Hash of the masked form at creation. */
  readonly shape: number;
  /** Number of positions that are not words. */
  readonly variables: number;
  /** Whether the pattern covers more than one form. */
  readonly isWide: boolean;
  /** Number of bodies, including those of merged patterns. */
  count = 0;
  /** Number of the last body that matched. */
  last = 0;
  /** Day on which the pattern was last emitted. */
  reportedDay = 0;
  /** The pattern that this one was merged into. */
  mergedInto: Pattern | undefined;
  /** Whether the pattern lost its slot. */
  isEvicted = false;
  /**
   * Values of its few variables: a map would take several times the memory. Copied when it grows, because a pushed
   * array reserves seventeen slots.
   */
  #values: readonly ValueCounts[] = NONE;
  /** Lengths of the parts of the template, as characters: many short strings would take four times the memory. */
  readonly #lengths: string;

  constructor(saved: Omit<SavedPattern, 'values'>) {
    // A copy has no excess capacity.
    this.hashes = saved.hashes.slice();
    this.structure = saved.structure;
    this.shape = saved.shape;
    this.count = saved.count;
    this.last = saved.last;
    this.reportedDay = saved.told;
    const parts = saved.parts.split(SEPARATOR);
    let plain = String(this.structure);
    let variables = 0;
    for (let position = 0; position < this.hashes.length; position++) {
      if (!this.isWord(position)) variables++;
      plain += ` ${this.isWord(position) ? parts[position * 2 + 1] : '<*>'}`;
    }
    this.id = hashTemplate(plain);
    this.template = copyString(parts.join(''));
    this.#lengths = String.fromCharCode(...parts.map(({ length }) => length));
    this.variables = variables;
    this.isWide = this.hashes.includes(ANY);
  }

  /** Creates the pattern of a single body. */
  static of(tokens: Tokens): Pattern {
    const hashes = tokens.hashes.subarray(0, tokens.count);
    const parts: string[] = [];
    for (let position = 0; position < tokens.count; position++) {
      parts.push(tokens.readGap(position));
      parts.push(
        hashes[position] === VARIABLE
          ? `<${toVariableKind(tokens.kinds[position] as number)}>`
          : tokens.value(position),
      );
    }
    parts.push(tokens.readGap(tokens.count));
    const [before, after] = buildMessageFrame(tokens);
    parts[0] = before + (parts[0] as string).trimStart();
    parts[parts.length - 1] = (parts.at(-1) as string).trimEnd() + after;
    const { structure, shapeHash } = tokens;
    const text = parts.map((part) => part.replaceAll(SEPARATOR, ' ')).join(SEPARATOR);
    return new Pattern({ hashes: [...hashes], parts: text, structure, shape: shapeHash, count: 0, last: 0, told: 0 });
  }

  static restore(saved: SavedPattern): Pattern {
    const pattern = new Pattern(saved);
    pattern.#values = saved.values.map(([name, values]) => ValueCounts.restore(name, values));
    return pattern;
  }

  serialize(): SavedPattern {
    const { hashes, structure, shape, count, last, reportedDay } = this;
    const values = this.#values.map((entry) => [entry.name, entry.serialize()] as const);
    return {
      hashes,
      parts: this.#getParts().join(SEPARATOR),
      structure,
      shape,
      count,
      last,
      told: reportedDay,
      values,
    };
  }

  /** Values of its variables by name: a position number, or the key of a field. */
  get values(): ReadonlyMap<string, ValueCounts> {
    return new Map(this.#values.map((entry) => [entry.name, entry]));
  }

  /** Returns the word at a position, or `<kind>`. */
  word(position: number): string {
    return this.#getParts()[position * 2 + 1] as string;
  }

  isWord(position: number): boolean {
    const hash = this.hashes[position];
    return hash !== VARIABLE && hash !== ANY;
  }

  /** Returns whether a body or another pattern with these hashes matches this pattern. */
  covers(hashes: ArrayLike<number>): boolean {
    return covers(this.hashes, hashes);
  }

  /** Returns this pattern with variables at additional positions. */
  widen(positions: readonly number[]): Pattern {
    const hashes = [...this.hashes];
    const parts = this.#getParts();
    for (const position of positions) {
      hashes[position] = ANY;
      parts[position * 2 + 1] = '<*>';
    }
    const { structure, shape } = this;
    return new Pattern({ hashes, parts: parts.join(SEPARATOR), structure, shape, count: 0, last: 0, told: 0 });
  }

  /** Adds the counts and values of a pattern that this one covers. */
  absorb(other: Pattern): void {
    this.count += other.count;
    this.last = Math.max(this.last, other.last);
    for (const entry of other.#values) this.#findOrCreateValues(entry.name, other.#values.length).merge(entry);
    for (let position = 0; position < this.hashes.length; position++)
      if (!this.isWord(position) && other.isWord(position) && this.#isTracked(position))
        this.#findOrCreateValues(positionNames[position] as string, this.variables).add(
          other.word(position),
          other.count,
        );
    other.mergedInto = this;
  }

  /** Counts the values of a matching body. */
  observe(tokens: Tokens): void {
    const { fields } = tokens;
    const variableCount = this.variables + fields.length;
    let remaining = MAX_VARIABLES;
    for (let position = 0; position < this.hashes.length && remaining > 0; position++) {
      if (this.isWord(position)) continue;
      remaining--;
      const values = this.#findOrCreateValues(positionNames[position] as string, variableCount);
      values.observe(tokens.codes, tokens.starts[position] as number, tokens.ends[position] as number);
    }
    for (const [name, value] of fields) {
      if (remaining-- <= 0) break;
      this.#findOrCreateValues(name, variableCount).add(value);
    }
  }

  #getParts(): string[] {
    const parts: string[] = [];
    let start = 0;
    for (let index = 0; index < this.#lengths.length; index++) {
      const end = start + this.#lengths.charCodeAt(index);
      parts.push(this.template.slice(start, end));
      start = end;
    }
    return parts;
  }

  #isTracked(position: number): boolean {
    let variablesBefore = 0;
    for (let index = 0; index < position; index++) if (!this.isWord(index)) variablesBefore++;
    return variablesBefore < MAX_VARIABLES;
  }

  #findOrCreateValues(name: string, trackedVariables: number): ValueCounts {
    let entry = this.#values.find((candidate) => candidate.name === name);
    if (entry === undefined) {
      entry = new ValueCounts(
        name,
        Math.max(2, Math.min(8, Math.floor(MAX_FREQUENT_VALUES / Math.max(1, trackedVariables)))),
      );
      this.#values = this.#values.concat(entry);
    }
    return entry;
  }
}
